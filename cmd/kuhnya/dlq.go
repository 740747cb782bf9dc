package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kuhnya/internal/app"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
	"kuhnya/internal/opsclient"
)

type dlqCmd struct {
	List    dlqListCmd    `cmd:"" help:"List dead letters in the order in which their records came."`
	Show    dlqShowCmd    `cmd:"" help:"Show a dead letter with all of its record."`
	Redrive dlqRedriveCmd `cmd:"" help:"Send records again, in their original order. Safe to repeat."`
	Discard dlqDiscardCmd `cmd:"" help:"Give dead letters up. Safe to repeat."`
}

// dlqFlags are common to the commands about dead letters.
type dlqFlags struct {
	dataFlag
	clientFlags
}

// desk is the running services whose dead letters a command is about.
type desk struct {
	services []opsclient.Service
	absent   []string // services that run at none of the URLs
}

// open looks for one service, or for all if none is named.
func (f dlqFlags) open(ctx context.Context, service string) (d desk, err error) {
	names := app.Services
	if service != "" {
		if !slices.Contains(names, service) {
			return d, setup(fmt.Errorf("unknown service %q, there are: %s", service, strings.Join(names, ", ")))
		}
		names = []string{service}
	}
	client, err := f.client(f.Data)
	if err != nil {
		return d, setup(err)
	}
	if d.services, d.absent, err = client.Find(ctx, names...); err == nil && len(d.services) == 0 {
		err = fmt.Errorf("no process at %s runs %s", strings.Join(f.URL, ", "), strings.Join(names, ", "))
	}
	return d, setup(err)
}

// names are the services that answer.
func (d desk) names() (names []string) {
	for _, s := range d.services {
		names = append(names, s.Name)
	}
	return names
}

// asked says whose dead letters were looked at, so that nobody takes a part for the whole.
func (d desk) asked() string {
	text := "asked " + strings.Join(d.names(), ", ")
	if len(d.absent) > 0 {
		text += "; not running here: " + strings.Join(d.absent, ", ")
	}
	return text
}

func (d desk) service(name string) opsclient.Service {
	return d.services[slices.Index(d.names(), name)]
}

// letters reads all dead letters in a state, in the order in which their records came.
func (d desk) letters(ctx context.Context, state ops.State) (all []opshttp.DeadLetter, err error) {
	for _, s := range d.services {
		letters, err := s.DeadLetters(ctx, state)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		all = append(all, letters...)
	}
	opsclient.InOriginalOrder(all)
	return all, nil
}

// locate asks one service after the other for a dead letter.
func (d desk) locate(ctx context.Context, id httpapi.ID) (letter opshttp.WholeDeadLetter, found bool, err error) {
	for _, s := range d.services {
		letter, err := s.DeadLetter(ctx, id)
		if err == nil {
			return letter, true, nil
		}
		if opsclient.CodeOf(err) != fault.NotFound {
			return letter, false, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return letter, false, nil
}

// record says where a dead letter's record stands.
func record(l opshttp.DeadLetter) string {
	return fmt.Sprintf("%s/%d/%d", l.Topic, l.Partition, l.Offset)
}
