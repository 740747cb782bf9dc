package app

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/database"
	"kuhnya/internal/event"
)

var topics = event.Topics{Prefix: event.DefaultPrefix}

// stillFolder is a data folder at rest, with one accepted order, its ticket and its step, and a broker folder that
// carried their records.
func stillFolder(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	must(t, Migrate(t.Context(), data))
	withBroker(t, data, func(b *embedded.Broker) {
		produce(t, b, topics.Orders())
		commitOrders(t, b, 1)
	})
	plant(t, data, Kitchen,
		`INSERT INTO establishments VALUES (x'01', 'Canteen', 'open', 0, 60, 'UTC', 'RUB')`,
		`INSERT INTO orders VALUES (`+orderKey+`, 'alice', x'01', 'accepted', '', 0, 'RUB', '', 2, 0, 0, 0, NULL, NULL)`,
		`INSERT INTO order_status_events VALUES (`+orderKey+`, 1, '', 'placed', '', '', NULL, 1, 1000000, 1000000),
			(`+orderKey+`, 2, 'placed', 'accepted', '', '', NULL, 1, 1000000, 1000000)`)
	plant(t, data, Establishment,
		`INSERT INTO tickets VALUES (`+orderKey+`, 'A', x'01', 'accepted', '', x'', '', 0, 'RUB', 0, 2, 0, x'', 0, 0)`,
		step("1", "accepted", "1"))
	return data
}

func openAuditor(t *testing.T, data string) *Auditor {
	t.Helper()
	auditor := &Auditor{Data: data, Topics: topics}
	must(t, auditor.Open(Services...))
	t.Cleanup(func() { must(t, auditor.Close()) })
	return auditor
}

// plant changes a service's database behind its back.
func plant(t *testing.T, data, service string, statements ...string) {
	t.Helper()
	db, err := database.OpenSQLite(DatabasePath(data, service))
	must(t, err)
	defer db.Close() //nolint:errcheck // the write was committed
	must(t, db.Write(t.Context(), func(c *database.Conn) error {
		for _, statement := range statements {
			must(t, c.Exec(statement))
		}
		return nil
	}))
}

// withBroker runs the embedded broker of the folder as a server does.
func withBroker(t *testing.T, data string, do func(*embedded.Broker)) {
	t.Helper()
	b, err := OpenBroker(t.Context(), data, "", topics, slog.New(slog.DiscardHandler))
	must(t, err)
	do(b)
	must(t, b.Close(context.Background()))
}

// produce appends a record to the first partition of a topic.
func produce(t *testing.T, b *embedded.Broker, topic string) {
	t.Helper()
	client, err := kgo.NewClient(append(b.Connection().ProducerOptions(), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	must(t, err)
	defer client.Close()
	must(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("{}")}).FirstErr())
}

// commitOrders says that whoever reads orders has read their first partition up to there.
func commitOrders(t *testing.T, b *embedded.Broker, at int64) {
	t.Helper()
	admin, err := broker.NewAdmin(b.Connection())
	must(t, err)
	defer admin.Close()
	var offsets kadm.Offsets
	offsets.AddOffset(topics.Orders(), 0, at, -1)
	for _, group := range topics.GroupsOf(topics.Orders()) {
		must(t, admin.Kafka().CommitAllOffsets(t.Context(), group, offsets))
	}
}

// files are the paths in a data folder but for what SQLite keeps beside a database in use.
func files(t *testing.T, data string) (paths []string) {
	t.Helper()
	must(t, filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); ext != ".db-wal" && ext != ".db-shm" {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
