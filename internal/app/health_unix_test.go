//go:build linux || darwin

package app

import (
	"syscall"
	"testing"
)

func TestReady_ends_without_file_descriptors(t *testing.T) {
	a := running(t, t.TempDir())
	a.eventually(t, true, "kitchen consumer", well)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	few := limit
	few.Cur = 3
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few))
	h := a.probe(t.Context())
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	if h.Ready || h.Checks["file descriptors"] != "none left" {
		t.Errorf("%+v", h)
	}
	a.eventually(t, true, "file descriptors", well)
}
