// Package e2e tests the product as those meet it who use it: it builds the real binary, starts it as one process or as
// several, and talks to it over HTTP, Kafka and the command line. What it knows comes from the contract only, so it
// imports nothing of the product.
//
// Each test has an establishment and customers of its own. Most tests share one process; those that stop or kill
// processes start their own. Whatever a test does, the audit of its data must be clean in the end.
//
// Waiting is for events, never for time: eventually polls until something is so. No test asserts how long anything
// takes, and none relies on a sleep.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	pollInterval = 20 * time.Millisecond
	patience     = 45 * time.Second // of eventually; generous, because it only bounds failures
	parallel     = 12               // tests at once: most of them wait for something
)

var (
	buildFlags   []string
	endWithTests = func(*exec.Cmd) {}
	binary       string // the built program
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Fprintln(os.Stderr, "e2e: left out in short mode")
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "kuhnya-e2e-")
	if err != nil {
		return complain(err)
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "kuhnya")
	if err := build(); err != nil {
		return complain(err)
	}
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil && n < parallel {
		_ = flag.Set("test.parallel", strconv.Itoa(parallel))
	}
	code := m.Run()
	if err := endShared(code != 0); err != nil {
		return complain(err)
	}
	return code
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

func build() error {
	args := append([]string{"build", "-o", binary}, buildFlags...)
	out, err := exec.Command("go", append(args, "kuhnya/cmd/kuhnya")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build kuhnya: %w\n%s", err, out)
	}
	return nil
}

// lookAround reads the folders of the product, once, for go test: it remembers results by what tests import and open, so
// what is only built here could change unnoticed.
var lookAround = sync.OnceFunc(func() {
	_ = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if d.Name() == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		return err
	})
})

// program is a command of the built binary that reads no settings from the environment of the tests.
func program(ctx context.Context, args ...string) *exec.Cmd {
	lookAround()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "KUHNYA_") })
	endWithTests(cmd)
	return cmd
}

// result is what a command that ended left behind.
type result struct {
	code           int
	stdout, stderr string
}

// command runs the program to its end.
func command(t testing.TB, args ...string) result {
	t.Helper()
	r, err := tryCommand(args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryCommand(args ...string) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := program(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return result{}, fmt.Errorf("kuhnya %s: %w: %v\n%s", strings.Join(args, " "), err, ctx.Err(), &stderr)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, nil
}

// eventually waits until something is so, and fails the test if it never is.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !so(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for: %s", patience, what)
		}
	}
}

// together calls do n times at once, for each i below n, and returns when all are done.
func together(n int, do func(i int)) {
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	group.Wait()
}
