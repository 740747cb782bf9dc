// Package app puts the services together into a process: it opens data folder, databases and broker, starts what was
// asked for, and ends it in an order in which nothing acknowledged is lost.
//
// Start either returns a running process or an error, and after an error nothing is left running. Which services run
// in one process changes nothing about how they talk: they meet on topics and public HTTP only.
package app

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"kuhnya/internal/event"
	"kuhnya/internal/httpapi"
)

// The services by their names on the command line.
const (
	Kitchen       = "kitchen"
	Establishment = "establishment"
	Bonus         = "bonus"
)

// Bounds of the age at which unsent steps are sent again. After an outage the accept time-out gives them ten seconds.
const (
	minRepublish = 100 * time.Millisecond
	maxRepublish = 7 * time.Second
)

// maxConnections leaves room for requests beside as many event streams as may be open.
const maxConnections = 16_384

// Services lists every service.
var Services = []string{Kitchen, Establishment, Bonus}

// Config says what a process runs, and on what.
type Config struct {
	Services []string // some of [Services]
	Version  string
	Data     string // folder of databases, broker and signing key
	Addr     string // host:port of the HTTP API; port 0 takes a free one
	Demo     bool   // bring demo data in if it isn't there

	MetricsAddr string // host:port that shows metrics, port 0 for a free one; "" for none

	KafkaBrokers []string // empty: the embedded broker in Data
	KafkaAddr    string   // loopback host:port on which the embedded broker listens too; "" for none
	Topics       event.Topics
	// BrokerReserve is the free disk space in bytes below which the embedded broker takes nothing; 0 for its default.
	BrokerReserve int64

	RepublishAfter         time.Duration // age at which unsent steps are sent without a press
	AllowDemoAuthOnNetwork bool          // demo sign-in on other addresses than loopback

	Log *slog.Logger

	connections int // to the API at once; 0 for maxConnections
}

func (c Config) check() error {
	for _, s := range c.Services {
		if !slices.Contains(Services, s) {
			return fmt.Errorf("unknown service %q, there are: %v", s, Services)
		}
	}
	if names := slices.Sorted(slices.Values(c.Services)); len(slices.Compact(names)) < len(c.Services) {
		return fmt.Errorf("a service is named twice: %v", c.Services)
	}
	if c.RepublishAfter < minRepublish || c.RepublishAfter > maxRepublish {
		return fmt.Errorf("--republish-after %s: must be %s to %s", c.RepublishAfter, minRepublish, maxRepublish)
	}
	if err := c.Topics.Validate(); err != nil {
		return fmt.Errorf("--topic-prefix: %w", err)
	}
	if len(c.Services) < len(Services) && len(c.KafkaBrokers) == 0 {
		return fmt.Errorf("running only some services needs --kafka-brokers, where they meet the others")
	}
	if len(c.KafkaBrokers) > 0 && c.KafkaAddr != "" {
		return fmt.Errorf("--kafka-addr is for the embedded broker, which --kafka-brokers replaces")
	}
	return nil
}

// listen takes the port, and refuses to offer sign-in without passwords to a network.
func (c Config) listen() (net.Listener, error) {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("--addr %s: %w", c.Addr, err)
	}
	if !loopback(host) && !c.AllowDemoAuthOnNetwork {
		return nil, fmt.Errorf("--addr %s: demo auth listens on loopback only, unless --allow-demo-auth-on-network", c.Addr)
	}
	listener, err := net.Listen("tcp", c.Addr)
	if err != nil {
		return nil, err
	}
	return httpapi.LimitConnections(listener, cmp.Or(c.connections, maxConnections)), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
