package e2e

import (
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"
)

func TestCommandLine(t *testing.T) {
	keep(t,
		promise{"what can't start says so on one line and writes nothing", cliRefusals},
		promise{"a busy port is refused before anything is written", cliBusyPort},
		promise{"a broker that can't be reached is named", cliNoBroker},
		promise{"a folder in use is refused and its owner goes on", cliFolderInUse},
		promise{"a newer schema is left alone", cliNewerSchema},
		promise{"a stopped server has everything after a restart", cliRestart},
		promise{"a killed server has everything after a restart", cliKill},
		promise{"a token is all that token prints", cliToken},
		promise{"migrate makes what audit can read", cliMigrate},
		promise{"settings come from the environment too", cliEnvironment},
	)
}

// absent is a data folder that does not exist yet.
func absent(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }

// wantRefused checks that a command could not start, and that its last line is its only word of its own.
func wantRefused(t *testing.T, r result) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	if r.code != 2 || !strings.HasPrefix(lines[len(lines)-1], "kuhnya: ") || strings.Count(r.stderr, "kuhnya: ") != 1 || r.stdout != "" {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", r.code, r.stdout, r.stderr)
	}
}

func wantNothingWritten(t *testing.T, data string) {
	t.Helper()
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		entries, _ := os.ReadDir(data)
		t.Errorf("the data folder has come to be, with %v", entries)
	}
}

func cliRefusals(t *testing.T) {
	const staff = "--role=staff"
	for name, args := range map[string][]string{
		"unknown flag":              {"up", "--nope"},
		"unknown command":           {"cook"},
		"no command":                {},
		"flag without value":        {"up", "--addr"},
		"unknown service":           {"serve", "bar"},
		"unknown auth":              {"up", "--auth", "none"},
		"subset without brokers":    {"serve", "kitchen"},
		"both kinds of broker":      {"up", "--kafka-brokers", "127.0.0.1:1", "--kafka-addr", "127.0.0.1:0"},
		"address of a network":      {"up", "--addr", "0.0.0.0:0"},
		"address of every network":  {"up", "--addr", ":0"},
		"address without port":      {"up", "--addr", "127.0.0.1"},
		"broker on a network":       {"up", "--addr", "127.0.0.1:0", "--kafka-addr", "0.0.0.0:0"},
		"lone broker on a network":  {"broker", "--kafka-addr", "0.0.0.0:0"},
		"token without role":        {"token", "--subject", "alice"},
		"token of an unknown role":  {"token", "--subject", "alice", "--role", "king"},
		"token without subject":     {"token", "--role", "customer"},
		"token for a long subject":  {"token", "--role", "customer", "--subject", strings.Repeat("a", 65)},
		"token for a blank subject": {"token", "--role", "customer", "--subject", "a b"},
		"token of staff of nowhere": {"token", "--subject", "marta", staff},
		"token of staff of no UUID": {"token", "--subject", "marta", staff, "--establishment", "x"},
		"audit of nothing":          {"audit"},
	} {
		t.Run(name, func(t *testing.T) {
			data := absent(t)
			if len(args) > 0 {
				args = append(args, "--data", data)
			}
			wantRefused(t, command(t, args...))
			wantNothingWritten(t, data)
		})
	}
}

func cliBusyPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	busy := listener.Addr().String()
	for name, args := range map[string][]string{
		"HTTP": {"up", "--addr", busy}, "Kafka": {"up", "--addr", "127.0.0.1:0", "--kafka-addr", busy}, "lone broker": {"broker", "--kafka-addr", busy},
	} {
		t.Run(name, func(t *testing.T) {
			data := absent(t)
			wantRefused(t, command(t, append(args, "--data", data)...))
			wantNothingWritten(t, data)
		})
	}
}

func cliNoBroker(t *testing.T) {
	addr, data := fixedAddr(t), absent(t)
	r := command(t, serving("serve", data, "--kafka-brokers", addr)...)
	wantRefused(t, r)
	wantNothingWritten(t, data)
	if !strings.Contains(r.stderr, addr) {
		t.Errorf("stderr doesn't name %s: %s", addr, r.stderr)
	}
}

func cliFolderInUse(t *testing.T) {
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	for _, args := range [][]string{serving("up", v.data), serving("serve", v.data), {"broker", "--data", v.data, "--kafka-addr", "127.0.0.1:0"}} {
		wantRefused(t, command(t, args...))
	}
	v.awaitTicket(t, v.placed(t, v.portions(0, 1)).ID)
}

func cliNewerSchema(t *testing.T) {
	s := soloSite(t)
	s.kitchen.stop(t)
	const newer, older = "INSERT INTO schema_kitchen (version_id, is_applied) VALUES (999, 1)", "DELETE FROM schema_kitchen WHERE version_id = 999"
	execute(t, s, newer)
	wantRefused(t, command(t, s.kitchen.args...))
	wantRefused(t, command(t, "migrate", "--data", s.data))
	execute(t, s, older)
	s.kitchen.restart(t)
}

// execute changes kitchen's database behind its back.
func execute(t *testing.T, s *site, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.data, "kitchen.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func cliRestart(t *testing.T) {
	wantKept(t, func(p *process) { p.stop(t) })
}

func cliKill(t *testing.T) {
	wantKept(t, func(p *process) { p.kill(t) })
}

// wantKept has all of an order after its server ended and started again.
func wantKept(t *testing.T, end func(*process)) {
	t.Helper()
	v := openVenue(t, soloSite(t), counted("pelmeni", 100))
	key := newKey()
	id := into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201)).ID
	v.awaitTicket(t, id)
	v.cook.press(t, id, "accept").want(t, 200)
	end(v.kitchen)
	v.kitchen.restart(t)
	v.awaitOrder(t, id, "accepted")
	if again := wantReplay(t, v.alice.place(t, key, v.portions(0, 1))); again.ID != id {
		t.Errorf("order %s, want %s", again.ID, id)
	}
	v.cook.press(t, id, "start").want(t, 200)
	v.awaitOrder(t, id, "cooking")
	v.wantStock(t, 0, 99)
}

func cliToken(t *testing.T) {
	r := command(t, "token", "--data", absent(t), "--subject", "alice", "--role", "customer")
	if token := strings.TrimSuffix(r.stdout, "\n"); r.code != 0 || strings.Count(token, ".") != 2 || strings.ContainsAny(token, " \n") || r.stderr != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
}

func cliMigrate(t *testing.T) {
	data := absent(t)
	for range 2 {
		if r := command(t, "migrate", "--data", data); r.code != 0 || r.stdout+r.stderr != "" {
			t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	}
	if r := command(t, "audit", "--data", data); r.code != 0 {
		t.Errorf("audit: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}

func cliEnvironment(t *testing.T) {
	data := absent(t)
	cmd := program(t.Context(), "migrate")
	cmd.Env = append(cmd.Env, "KUHNYA_DATA="+data)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(data, "kitchen.db")); err != nil {
		t.Error(err)
	}
}
