package e2e

import (
	"maps"
	"testing"

	"github.com/google/uuid"
)

// terms are the body of a campaign; members that a test doesn't name are those of a sound one of 5 %.
type terms map[string]any

// offer creates a campaign for the venue's orders only.
func (v *venue) offer(t testing.TB, with terms) campaign {
	t.Helper()
	return into[campaign](t, v.chief.create(t, "", v.terms(with)).want(t, 201))
}

func (v *venue) terms(with terms) terms {
	body := terms{"name": "5 % back", "kind": "percent", "value": 500, "timezone": "Europe/Moscow", "establishment_id": v.id}
	maps.Copy(body, with)
	return body
}

// fixed is a campaign of so many points per order.
func fixed(points int64) terms {
	return terms{"name": "Thank you", "kind": "fixed", "value": points}
}

// create creates a campaign, under a key unless it is "".
func (c client) create(t testing.TB, key string, body any) response {
	t.Helper()
	return c.send(t, "POST", "/v1/campaigns", body, keyed(key)...)
}

func (c client) change(t testing.TB, id string, body any) response {
	t.Helper()
	return c.send(t, "PATCH", "/v1/campaigns/"+id, body)
}

// accrue asks for points, under a key unless it is "".
func (c client) accrue(t testing.TB, key string, body any) response {
	t.Helper()
	return c.send(t, "POST", "/v1/bonuses", body, keyed(key)...)
}

// request asks for points for a user and an order that nobody else has.
func (c campaign) request(points int64) bonusRequest {
	return bonusRequest{UserID: newName("carol"), CampaignID: c.ID, OrderID: uuid.NewString(), Points: points}
}

func (c client) wallet(t testing.TB) wallet {
	t.Helper()
	return into[wallet](t, c.send(t, "GET", "/v1/wallet", nil).want(t, 200))
}

// entries lists a wallet, up to 200.
func (c client) entries(t testing.TB) []walletEntry {
	t.Helper()
	return into[list[walletEntry]](t, c.send(t, "GET", "/v1/wallet/entries?limit=200", nil).want(t, 200)).Items
}

// entriesOf lists the wallet of somebody else, as an operator.
func (c client) entriesOf(t testing.TB, user string) []walletEntry {
	t.Helper()
	return into[list[walletEntry]](t, c.send(t, "GET", "/v1/wallet/entries?limit=200&user_id="+user, nil).want(t, 200)).Items
}

// wantOneEntry fails the test unless the user has exactly this bonus.
func (c client) wantOneEntry(t testing.TB, b bonus) {
	t.Helper()
	entries := c.entriesOf(t, b.UserID)
	if len(entries) != 1 || entries[0].AccrualID != b.ID || entries[0].Amount != b.Points {
		t.Errorf("entries %+v, want one of %+v", entries, b)
	}
	balance := into[wallet](t, c.send(t, "GET", "/v1/wallet?user_id="+b.UserID, nil).want(t, 200)).Balance
	if balance != b.Points {
		t.Errorf("balance %d, want %d", balance, b.Points)
	}
}

// complete carries an order to its end by the buttons of the board.
func (v *venue) complete(t testing.TB, id string) {
	t.Helper()
	v.awaitTicket(t, id)
	for _, b := range buttons {
		v.cook.press(t, id, b.action).want(t, 200)
	}
	v.awaitOrder(t, id, "completed")
}

// completed is a new order of the venue's customer that was completed.
func (v *venue) completed(t testing.TB, body orderRequest) string {
	t.Helper()
	id := v.placed(t, body).ID
	v.complete(t, id)
	return id
}

// earned waits until bonus has decided about an order, which must earn something, and returns what it earned by each
// campaign. All of that is decided at once.
func (v *venue) earned(t testing.TB, order string) (points map[string]int64) {
	t.Helper()
	eventually(t, "points of the order", func() bool {
		points = map[string]int64{}
		for _, e := range v.alice.entries(t) {
			if e.OrderID == order {
				points[e.CampaignID] += e.Amount
			}
		}
		return len(points) > 0
	})
	return points
}

// wantEarned needs another campaign that the order earns by if this one is to give nothing: demo data has some.
func (v *venue) wantEarned(t testing.TB, order string, c campaign, want int64) {
	t.Helper()
	if got := v.earned(t, order)[c.ID]; got != want {
		t.Errorf("order %s earned %d by %s, want %d", order, got, c.Name, want)
	}
}

// toldBonuses are the records of bonuses: the ids of the events that tell of each accrual, of one order unless that is "".
func (b bus) toldBonuses(t testing.TB, order string) map[string][]string {
	t.Helper()
	told := map[string][]string{}
	for _, r := range b.all(t, bonusesTopic) {
		if order == "" || string(r.Key) == order {
			id := into[struct {
				AccrualID string `json:"accrual_id"`
			}](t, response{body: r.Value}).AccrualID
			told[id] = append(told[id], header(r, "ce_id"))
		}
	}
	return told
}

// wantTold waits until an order's accruals are told, and fails the test unless each of them is told once and no other.
func (b bus) wantTold(t testing.TB, order string, accruals ...string) {
	t.Helper()
	var told map[string][]string
	eventually(t, "accruals are told", func() bool {
		told = b.toldBonuses(t, order)
		return len(told) >= len(accruals)
	})
	for _, id := range accruals {
		if len(told[id]) != 1 {
			t.Errorf("accrual %s of order %s is told %d times", id, order, len(told[id]))
		}
		delete(told, id)
	}
	if len(told) > 0 {
		t.Errorf("order %s has other accruals, too: %v", order, told)
	}
}
