package embedded

import (
	"errors"
	"log/slog"

	"kuhnya/internal/broker"
	"kuhnya/internal/disk"
	"kuhnya/internal/event"
)

// ErrLocked says that another broker, in this process or another, uses the folder.
var ErrLocked = errors.New("in use by another broker")

// ErrAbsent says that a folder which must exist holds no broker's log.
var ErrAbsent = errors.New("no broker has been there")

// Options say where a broker lives and what it serves.
type Options struct {
	// Dir is the broker's folder, made with mode 0700 if it doesn't exist.
	Dir string
	// Existing opens a folder only to look at what is in it: if no broker has written there Open fails with [ErrAbsent],
	// and no topic is created, no offset put back, nothing trimmed.
	Existing bool
	// Addr is a loopback host:port to listen on for other processes; "" is none, and port 0 picks a free one.
	Addr string
	// Partitions of each declared topic, 0 for [broker.DefaultPartitions]. It has no effect on topics that exist.
	Partitions int32
	// Topics are created at start, and their declared groups say what may be trimmed.
	Topics event.Topics
	// Reserve is the free space, in bytes, below which nothing is written any more; 0 for [DefaultReserve].
	Reserve int64
	// FreeSpace tells how much room the file system of a folder has; nil for [disk.Free].
	FreeSpace func(folder string) (int64, error)
	// Logger is told about repairs and faults; nil is silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Partitions == 0 {
		o.Partitions = broker.DefaultPartitions
	}
	if o.Reserve == 0 {
		o.Reserve = DefaultReserve
	}
	if o.FreeSpace == nil {
		o.FreeSpace = disk.Free
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
