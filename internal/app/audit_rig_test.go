package app

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kuhnya/internal/auth"
	"kuhnya/internal/broker"
	"kuhnya/internal/broker/embedded"
	"kuhnya/internal/database"
	"kuhnya/internal/event"
	"kuhnya/internal/opsclient"
)

var topics = event.Topics{Prefix: event.DefaultPrefix}

// stillFolder is a data folder at rest, with one accepted order, one that is completed and was evaluated, their tickets
// and a step, and a broker folder that carried their records.
func stillFolder(t *testing.T) string {
	t.Helper()
	still.Do(func() { still.files = filesOf(t, makeStillFolder(t)) })
	data := t.TempDir()
	must(t, os.CopyFS(data, still.files))
	return data
}

// still is a folder that was made once: making one takes longer than a test.
var still struct {
	sync.Once
	files fstest.MapFS
}

func filesOf(t *testing.T, folder string) fstest.MapFS {
	t.Helper()
	all, files := os.DirFS(folder), fstest.MapFS{}
	must(t, fs.WalkDir(all, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(all, path)
		files[path] = &fstest.MapFile{Data: content, Mode: 0o600}
		return err
	}))
	return files
}

func makeStillFolder(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	must(t, Migrate(t.Context(), data))
	_, err := auth.LoadOrCreateKey(data)
	must(t, err)
	withBroker(t, data, func(b *embedded.Broker) {
		produce(t, b, topics.Orders())
		commitOrders(t, b, 1, event.GroupEstablishment, event.GroupBonus)
	})
	plant(t, data, Kitchen,
		`INSERT INTO establishments VALUES (x'01', 'Canteen', 'open', 0, 60, 'UTC', 'RUB')`,
		`INSERT INTO orders VALUES (`+orderKey+`, 'alice', x'01', 'accepted', '', 0, 'RUB', '', 2, 0, 0, 0, NULL, NULL),
			(`+doneKey+`, 'bob', x'01', 'completed', '', 45000, 'RUB', '', 5, 0, 0, 0, NULL, NULL)`,
		`INSERT INTO order_status_events VALUES (`+orderKey+`, 1, '', 'placed', '', '', NULL, 1, 1000000, 1000000),
			(`+orderKey+`, 2, 'placed', 'accepted', '', '', NULL, 1, 1000000, 1000000)`)
	plant(t, data, Establishment,
		`INSERT INTO tickets VALUES (`+orderKey+`, 'A', x'01', 'accepted', '', x'', '', 0, 'RUB', 0, 2, 0, x'', 0, 0),
			(`+doneKey+`, 'D', x'01', 'completed', '', x'', '', 45000, 'RUB', 0, 5, 0, x'', 0, 0)`,
		step("1", "accepted", "1"))
	plant(t, data, Bonus,
		`INSERT INTO campaigns VALUES (x'0c', '', NULL, NULL, 0)`,
		`INSERT INTO campaign_versions VALUES (x'0c', 1, 'Back', 'percent', 500, 0, 0, 'UTC', 0, NULL, NULL, 1, 0)`,
		evaluation(doneKey, "bob", 45000), accrual("1", doneKey, "bob", "event"),
		accrual("2", `x'01900000000070008000000000000001'`, "bob", "api")) // of an order that nobody knows
	return data
}

// evaluation is one whose order earned nothing.
func evaluation(order, user string, total int) string {
	return fmt.Sprintf(`INSERT INTO evaluations VALUES (%s, '%s', %d, 'RUB', 0, 0)`, order, user, total)
}

// accrual is an accrual alone: the comparison of services sees nothing else of it.
func accrual(id, order, user, origin string) string {
	return fmt.Sprintf(`INSERT INTO accruals VALUES (x'0%s', '%s', x'0c', %s, 22, '%s', 0)`, id, user, order, origin)
}

// openAuditor makes an auditor that asks, if it must, the process at a URL.
func openAuditor(t *testing.T, data, url string) *Auditor {
	t.Helper()
	auditor := &Auditor{Data: data, Topics: topics, Client: asking(url, tokenOf(t, data, auth.Operator))}
	must(t, auditor.Open(Services...))
	t.Cleanup(func() { must(t, auditor.Close()) })
	return auditor
}

const nobody = "http://127.0.0.1:1" // where nobody listens

func asking(url, token string) func() (*opsclient.Client, error) {
	return func() (*opsclient.Client, error) { return opsclient.New([]string{url}, token) }
}

// tokenOf is somebody's token for the processes of a data folder.
func tokenOf(t *testing.T, data string, role auth.Role) string {
	t.Helper()
	key, err := auth.LoadOrCreateKey(data)
	must(t, err)
	token, err := auth.NewIssuer(key).Issue(auth.Identity{Subject: "root", Role: role}, time.Hour)
	must(t, err)
	return token
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

// commitOrders says that groups have read the first partition of orders up to there.
func commitOrders(t *testing.T, b *embedded.Broker, at int64, groups ...string) {
	t.Helper()
	admin, err := broker.NewAdmin(b.Connection())
	must(t, err)
	defer admin.Close()
	var offsets kadm.Offsets
	offsets.AddOffset(topics.Orders(), 0, at, -1)
	for _, group := range groups {
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
