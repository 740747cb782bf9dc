// Command kuhnya is the whole product in one binary: all services on a laptop without dependencies, or some of them on
// a shared broker. Exit codes: 0 done, 1 failed while running or found a violation, 2 could not start, 3 not at rest.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"kuhnya/internal/event"
	"kuhnya/internal/trace"
)

// version is set by the linker, as make build does it.
var version = "dev"

const (
	exitFailed    = 1
	exitSetup     = 2
	exitNotAtRest = 3
)

// exitError ends the process with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }

// setup marks an error as one that kept the process from starting.
func setup(err error) error {
	if err == nil {
		return nil
	}
	return exitError{exitSetup, err}
}

type cli struct {
	Up      upCmd      `cmd:"" help:"Run all services with demo data."`
	Serve   serveCmd   `cmd:"" help:"Run services, all or those named, without demo data."`
	Broker  brokerCmd  `cmd:"" help:"Run the embedded broker alone, for services in other processes."`
	Migrate migrateCmd `cmd:"" help:"Create or upgrade the databases; up and serve do it too."`
	Token   tokenCmd   `cmd:"" help:"Print a bearer token for the API to stdout."`
	DLQ     dlqCmd     `cmd:"" name:"dlq" help:"Look at dead letters of running processes, send them again, give them up. 0: done, 1: not all of it, 2: could not ask."`
	Audit   auditCmd   `cmd:"" help:"Check the invariants in the databases, server running or not. 0: clean, 1: violation, 2: could not check, 3: not at rest."`
	Backup  backupCmd  `cmd:"" help:"Copy the data folder of running services with the embedded broker, to restore from."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// logFlags are common to commands that log.
type logFlags struct {
	LogFormat string `enum:"text,json" default:"text" help:"text or json."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
}

// logger is the log of the process. Libraries that write to Go's standard log, as net/http does about its connections,
// write there too.
func (f logFlags) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.LogLevel)); err != nil {
		panic(err) // kong admits only the levels of the enum
	}
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewTextHandler(os.Stderr, options)
	if f.LogFormat == "json" {
		handler = slog.NewJSONHandler(os.Stderr, options)
	}
	log := slog.New(trace.Logs(handler))
	slog.SetLogLoggerLevel(slog.LevelWarn)
	slog.SetDefault(log)
	return log
}

// dataFlag is common to commands that use the data folder.
type dataFlag struct {
	Data string `default:"./kuhnya-data" type:"path" placeholder:"DIR" help:"Folder of databases, broker and signing key (${default})."`
}

// metricsFlag is common to commands that keep running.
type metricsFlag struct {
	MetricsAddr string `placeholder:"HOST:PORT" help:"Address of a server that shows Prometheus metrics at /metrics. Absent: none."`
}

// topicFlag is common to commands that use the broker.
type topicFlag struct {
	TopicPrefix string `default:"kuhnya." help:"Prefix of all topics (${default})."`
}

func (f topicFlag) topics() event.Topics { return event.Topics{Prefix: f.TopicPrefix} }

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// options say how the command line is read, whatever it is bound to.
var options = []kong.Option{
	kong.Name("kuhnya"), kong.DefaultEnvars("KUHNYA"), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	kong.Description("Food ordering and loyalty in which every request, callback and message may safely be sent again."),
}

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	parser, err := kong.New(&cli{}, append(options, kong.Writers(stdout, stderr),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(stdout, (*io.Writer)(nil)))...)
	if err != nil {
		panic(err) // the command line's declaration is wrong
	}
	command, err := parser.Parse(args)
	if err == nil {
		err = command.Run()
	} else {
		err = setup(fmt.Errorf("%w; see kuhnya --help", err))
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "kuhnya:", oneLine(err))
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return exitFailed
}

// oneLine keeps an error that joins several on one line.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' }), "; ")
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM; a second one ends the process at once.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitFailed)
	}()
	return ctx, cancel
}
