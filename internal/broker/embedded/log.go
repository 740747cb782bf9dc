package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kfake"
)

// clusterLog passes on what the cluster says about itself. Only its warnings and errors concern anybody: they are about
// files. Errors are also remembered, for closing a cluster reports them nowhere else.
type clusterLog struct {
	logger *slog.Logger
	failed atomic.Bool
}

func (l *clusterLog) Logf(level kfake.LogLevel, format string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		l.failed.Store(true)
		l.log(slog.LevelError, format, args)
	case kfake.LogLevelWarn:
		l.log(slog.LevelWarn, format, args)
	}
}

func (l *clusterLog) log(level slog.Level, format string, args []any) {
	l.logger.Log(context.Background(), level, "embedded broker", "detail", fmt.Sprintf(format, args...))
}
