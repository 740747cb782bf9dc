package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"kuhnya/internal/obs"
)

const (
	pingTimeout = probeTimeout / 4

	brokerPart = "broker"

	noAnswer = "does not answer"
	replaced = "was removed or replaced while in use; restart the process"
)

// vitals are what the process needs and has to ask about: folder, files, databases, broker.
type vitals struct {
	parts    []*part
	folder   *os.File // the data folder, held open so that no other can get its number
	broker   answering
	patience time.Duration // with what stands still

	halt     context.CancelFunc
	watching sync.WaitGroup
}

// part is one of them. Its answer is shared by all who ask at the same time, so that one that hangs, hangs once.
type part struct {
	name   string
	look   func(context.Context) (wrong string)
	shared obs.Shared[string]
}

// openVitals remembers what the process's files are. It is called once all of them are open.
func (a *App) openVitals() (err error) {
	v := &vitals{patience: standstillTime, halt: func() {}}
	if v.folder, err = os.Open(a.config.Data); err != nil {
		return err
	}
	a.vitals = v
	v.add("file descriptors", func(context.Context) string { return noneLeft(a.config.Data) })
	if err := v.addFile("data folder", a.config.Data, nil); err != nil {
		return err
	}
	for _, u := range a.units {
		if err := v.addFile(u.name+" database", DatabasePath(a.config.Data, u.name), u.db.Probe); err != nil {
			return err
		}
	}
	v.add(brokerPart, a.messaging.reachable)
	if b := a.messaging.embedded; b != nil {
		v.add("disk", func(context.Context) string {
			if b.AlmostFull() {
				return "disk almost full; messages wait until there is room"
			}
			return ""
		})
	}
	v.watch()
	return nil
}

// reachable gives the broker less time than a probe has: who asks may have no more than that, and it decides nothing.
func (m *messaging) reachable(ctx context.Context) (wrong string) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if m.admin.Ping(ctx) != nil {
		return "unreachable; orders are taken, messages are delivered later"
	}
	return ""
}

func (v *vitals) add(name string, look func(context.Context) string) {
	v.parts = append(v.parts, &part{name: name, look: look})
}

// addFile adds a file that must stay what it is, and take writes if there is a way to try.
func (v *vitals) addFile(name, path string, try func(context.Context) error) error {
	opened, err := os.Stat(path)
	if err != nil {
		return err
	}
	v.add(name, func(ctx context.Context) string {
		switch now, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(opened, now):
			return replaced
		case err != nil:
			return "can't be read"
		}
		if try != nil && try(ctx) != nil {
			return "not writable"
		}
		return ""
	})
	return nil
}

// noneLeft opens a folder to see whether another file can be opened.
func noneLeft(folder string) (wrong string) {
	f, err := os.Open(folder)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "none left"
	}
	if err == nil {
		f.Close()
	}
	return ""
}

// watch begins to look for the broker from time to time: for how long it has answered must not depend on how often
// somebody asks whether the process is ready.
func (v *vitals) watch() {
	var ctx context.Context
	ctx, v.halt = context.WithCancel(context.Background())
	v.watching.Go(func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			if answers, err := v.askBroker(ctx); err == nil {
				v.broker.learn(time.Now(), answers)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// askBroker says whether the broker answers; an error only that nobody waited for it.
func (v *vitals) askBroker(ctx context.Context) (answers bool, err error) {
	i := slices.IndexFunc(v.parts, func(p *part) bool { return p.name == brokerPart })
	wrong, err := v.parts[i].shared.Ask(ctx, v.parts[i].ask)
	return wrong == "", err
}

// ask asks all parts at once and returns what is wrong with each, "" for nothing.
func (v *vitals) ask(ctx context.Context) map[string]string {
	answers := make([]string, len(v.parts))
	var asking sync.WaitGroup
	for i, p := range v.parts {
		asking.Go(func() {
			wrong, err := p.shared.Ask(ctx, p.ask)
			if err != nil {
				wrong = noAnswer
			}
			answers[i] = wrong
		})
	}
	asking.Wait()
	all := make(map[string]string, len(v.parts))
	for i, p := range v.parts {
		all[p.name] = answers[i]
	}
	return all
}

// ask has a time of its own: it answers others than the one who began to ask, too.
func (p *part) ask() (wrong string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	return p.look(ctx), nil
}

func (v *vitals) close() {
	if v != nil {
		v.halt()
		v.watching.Wait()
		v.folder.Close()
	}
}
