package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestBackup(t *testing.T) {
	keep(t,
		promise{"one that is taken under load is consistent, and has all that was acknowledged before", backupUnderLoad},
		promise{"what can't be backed up says so and leaves nothing", backupRefusals},
		promise{"a backup is left alone", backupTwice},
	)
}

// backup copies the site's data while its processes run.
func (s *site) backup(t *testing.T, folder string) {
	t.Helper()
	if r := command(t, "backup", "--data", s.data, folder); r.code != 0 || r.stdout+r.stderr != "" {
		t.Fatalf("backup: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

// backupUnderLoad takes backups between two acknowledgements or in the middle of one, kills the process, and starts one
// on each backup.
func backupUnderLoad(t *testing.T) {
	data := t.TempDir()
	auditAfter(t, data)
	p := start(t, "serve", "--data", data, "--addr", fixedAddr(t))
	v := openRushVenue(t, newSite(data).inOne(p))
	when, seed := newMoments(t)
	r := startRush(t, v, seed)
	backups := map[string][]rushOrder{} // and what was acknowledged before each
	for i := range 4 {
		when.await(r)
		folder := filepath.Join(t.TempDir(), strconv.Itoa(i))
		backups[folder] = r.acknowledged()
		v.backup(t, folder)
	}
	r.awaitAnswers(100)
	p.kill(t)
	p.restart(t)
	r.end()
	for folder, before := range backups {
		r.wantRestored(folder, before)
	}
}

// acknowledged is what was acknowledged so far.
func (r *rush) acknowledged() (orders []rushOrder) {
	r.note(func() {
		for _, o := range r.orders {
			copied := *o
			copied.pressed = slices.Clone(o.pressed)
			orders = append(orders, copied)
		}
	})
	return orders
}

// wantRestored starts a process on a backup, has it finish what was on its way, and compares.
func (r *rush) wantRestored(folder string, before []rushOrder) {
	r.t.Helper()
	auditAfter(r.t, folder)
	p := start(r.t, serving("serve", folder)...)
	p.stop(r.t)
	if err := audit("--data", folder); err != nil {
		r.t.Fatal(err)
	}
	p.restart(r.t)
	restored := newSite(folder).inOne(p)
	for _, o := range before {
		o.customer = o.customer.at(restored)
		r.wantOrderKept(&o)
	}
	if len(before) > 0 {
		last := before[len(before)-1]
		wantReplay(r.t, last.customer.at(restored).place(r.t, last.key, r.venue.portions(last.dish, last.quantity)))
	}
	p.stop(r.t)
}

func backupRefusals(t *testing.T) {
	running, stopped, elsewhere := soloSite(t), soloSite(t), t.TempDir()
	stopped.kitchen.stop(t)
	broker := start(t, "broker", "--data", t.TempDir(), "--kafka-addr", "127.0.0.1:0")
	start(t, serving("serve", elsewhere, "--kafka-brokers", broker.kafka)...)
	for name, data := range map[string]string{
		"a folder that isn't there": absent(t), "one on which nothing runs": stopped.data, "one whose broker is elsewhere": elsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			wantRefused(t, command(t, "backup", "--data", data, filepath.Join(parent, "backup")))
			if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
	wantRefused(t, command(t, "backup", "--data", running.data))
	wantRefused(t, command(t, "backup", "--data", running.data, filepath.Join(absent(t), "backup")))
}

func backupTwice(t *testing.T) {
	s := soloSite(t)
	folder := filepath.Join(t.TempDir(), "backup")
	s.backup(t, folder)
	before := contents(t, folder)
	for _, existing := range []string{folder, t.TempDir()} {
		r := command(t, "backup", "--data", s.data, existing)
		wantRefused(t, r)
		if !strings.Contains(r.stderr, "must not exist yet") {
			t.Errorf("stderr doesn't say what is wrong: %s", r.stderr)
		}
	}
	if after := contents(t, folder); len(after) != len(before) || after["kitchen.db"] != before["kitchen.db"] {
		t.Errorf("files were %d, are %d", len(before), len(after))
	}
}
