package bonus

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
)

func accrual() Accrue {
	return Accrue{
		BusinessKey: BusinessKey{
			UserID: "alice", CampaignID: uuid.MustParse("0199f3a0-0000-7000-8000-0000000000ca"),
			OrderID: uuid.MustParse("0199f3a0-0000-7000-8000-0000000000aa"),
		},
		Points: 22, Caller: "service:erp", Key: "k", Trace: "00-1",
	}
}

func campaign() CreateCampaign {
	return CreateCampaign{Caller: "operator:olga", Key: "k", Terms: Terms{
		Name: "Spring", Kind: Percent, Value: 500, MinOrder: 1, CapPerOrder: 2, Timezone: "Europe/Moscow",
		StartsAt: time.Unix(1, 0), EndsAt: new(time.Unix(2, 0)), Active: true,
		EstablishmentID: new(uuid.MustParse("0199f3a0-0000-7000-8000-0000000000bb")),
	}}
}

// apart collects fingerprints of commands that differ.
type apart map[idempotency.Fingerprint]string

func (a apart) add(t *testing.T, name string, f idempotency.Fingerprint) {
	t.Helper()
	if other, taken := a[f]; taken {
		t.Errorf("%s and %s have one fingerprint", name, other)
	}
	a[f] = name
}

// TestFingerprint_tells_commands_apart: what was asked for differs, so does the fingerprint.
func TestFingerprint_tells_commands_apart(t *testing.T) {
	seen := apart{}
	for name, change := range map[string]func(*Accrue){
		"an accrual":         func(*Accrue) {},
		"user":               func(c *Accrue) { c.UserID = "bob" },
		"campaign":           func(c *Accrue) { c.CampaignID = c.OrderID },
		"order":              func(c *Accrue) { c.OrderID = c.CampaignID },
		"campaign and order": func(c *Accrue) { c.CampaignID, c.OrderID = c.OrderID, c.CampaignID },
		"points":             func(c *Accrue) { c.Points = 23 },
	} {
		c := accrual()
		change(&c)
		seen.add(t, name, c.fingerprint())
	}
	for name, change := range map[string]func(*Terms){
		"a campaign":       func(*Terms) {},
		"name":             func(t *Terms) { t.Name = "spring" },
		"kind":             func(t *Terms) { t.Kind = Fixed },
		"value":            func(t *Terms) { t.Value = 501 },
		"minimum":          func(t *Terms) { t.MinOrder = 2 },
		"minimum and cap":  func(t *Terms) { t.MinOrder, t.CapPerOrder = 2, 1 },
		"cap":              func(t *Terms) { t.CapPerOrder = 0 },
		"zone":             func(t *Terms) { t.Timezone = "UTC" },
		"start":            func(t *Terms) { t.StartsAt = t.StartsAt.Add(tick) },
		"end":              func(t *Terms) { t.EndsAt = new(t.EndsAt.Add(tick)) },
		"no end":           func(t *Terms) { t.EndsAt = nil },
		"establishment":    func(t *Terms) { t.EstablishmentID = new(uuid.Nil) },
		"no establishment": func(t *Terms) { t.EstablishmentID = nil },
		"not active":       func(t *Terms) { t.Active = false },
	} {
		c := campaign()
		change(&c.Terms)
		seen.add(t, "campaign's "+name, c.fingerprint())
	}
}

// TestFingerprint_stays_what_it_is: it is stored, and the next version must know its keys too.
func TestFingerprint_stays_what_it_is(t *testing.T) {
	for want, got := range map[string]idempotency.Fingerprint{
		"01eb2d48bfc818c386d3ca2f05884355bc12fc9151c9a2d32a4f2fb47c286a6e75": accrual().fingerprint(),
		"019947c14bff3b51a30a0058053e669555b87c26965bae8846dfa132c92b57d735": campaign().fingerprint(),
	} {
		if got := hex.EncodeToString(got.Bytes()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFingerprint_leaves_the_scope_out: key and caller are where the fingerprint is looked up, and a trace, an id made for
// the command or another spelling of a time are nothing that was asked for.
func TestFingerprint_leaves_the_scope_out(t *testing.T) {
	a := accrual()
	a.Caller, a.Key, a.Trace = "operator:olga", "another", ""
	if a.fingerprint() != accrual().fingerprint() {
		t.Error("caller, key or trace count")
	}
	c := campaign()
	c.Caller, c.Key, c.ID = "operator:oleg", "another", uuid.New()
	c.Terms.StartsAt = c.Terms.StartsAt.In(time.FixedZone("", 3600))
	c.Terms.EndsAt, c.Terms.EstablishmentID = new(*c.Terms.EndsAt), new(*c.Terms.EstablishmentID)
	if c.fingerprint() != campaign().fingerprint() {
		t.Error("caller, key, id, zone or an address in memory count")
	}
}
