package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestBonusKeys(t *testing.T) {
	keep(t,
		promise{"50 identical requests at two processes are one bonus", bonusKeysTwoProcesses},
		promise{"a key has 1 to 255 characters", bonusKeysLength},
		promise{"a malformed key is refused and nothing is accrued", bonusKeysMalformed},
		promise{"a quoted key is the same key", bonusKeysQuoted},
		promise{"a key belongs to its caller", bonusKeysPerCaller},
		promise{"a key belongs to its operation", bonusKeysPerOperation},
		promise{"another command under the key is refused and the first one stays", bonusKeysReused},
		promise{"the command counts, not its spelling", bonusKeysSpelling},
		promise{"a refusal leaves the key free", bonusKeysFree},
		promise{"clients that hang up or give up find one bonus by their key", bonusKeysLostAnswers},
		promise{"a process killed during requests finds one bonus by each key", bonusKeysKill},
	)
}

// newOffer is a venue of the shared process with a campaign.
func newOffer(t *testing.T) (*venue, campaign) {
	t.Helper()
	v := openVenue(t, sharedSite(t), counted("pelmeni", 100))
	return v, v.offer(t, nil)
}

func bonusKeysTwoProcesses(t *testing.T) {
	twins := twinSites(t)
	v := openVenue(t, twins[0], counted("pelmeni", 100))
	key, request, answers := newKey(), v.offer(t, nil).request(22), make([]response, 50)
	together(len(answers), func(i int) { answers[i] = v.robot.at(twins[i%2]).accrue(t, key, request) })
	var first response
	for _, answer := range answers {
		if answer.status == 201 && answer.header.Get("Idempotent-Replayed") == "" {
			if first.status != 0 {
				t.Errorf("two answers of the request that accrued")
			}
			first = answer
		}
	}
	for _, answer := range answers {
		switch {
		case answer.status == 409:
			wantInProgress(t, answer)
		case answer.header.Get("Idempotent-Replayed") != "":
			wantSameAnswer(t, first, answer)
		}
	}
	made := into[bonus](t, first.want(t, 201))
	v.chief.wantOneEntry(t, made)
	v.bus(t).wantTold(t, request.OrderID, made.ID)
}

func bonusKeysLength(t *testing.T) {
	v, c := newOffer(t)
	for length, status := range map[int]int{1: 201, 255: 201, 256: 400, 10_000: 400} {
		request := c.request(1)
		// The caller has other bonuses in this process, whose keys may be one character, too.
		robot := client{v.site, "robot", v.tokens.of(t, "--role", "service", "--subject", newName("robot"))}
		answer := robot.accrue(t, randomKey(length), request)
		if status == 400 {
			answer.wantProblem(t, 400, "idempotency_key_invalid")
			v.wantNoBonus(t, request)
		}
		answer.want(t, status)
	}
}

func (v *venue) wantNoBonus(t *testing.T, request bonusRequest) {
	t.Helper()
	if entries := v.chief.entriesOf(t, request.UserID); len(entries) != 0 {
		t.Errorf("entries %v, want none", entries)
	}
}

func bonusKeysMalformed(t *testing.T) {
	v, c := newOffer(t)
	key, request := newKey(), c.request(1)
	for name, lines := range map[string][]string{
		"empty": {""}, "blanks": {"   "}, "list": {key + ", " + key}, "open quote": {`"abc`}, "inner quote": {`a"b`},
		"text after quote": {`"a"b`}, "empty quotes": {`""`}, "Latin-1": {"\xe9"}, "Cyrillic": {"ключ"}, "inner tab": {"a\tb"},
		"inner blank": {"a b"}, "twice": {key, key},
	} {
		t.Run(name, func(t *testing.T) {
			for i, line := range lines {
				lines[i] = "Idempotency-Key: " + line
			}
			v.robot.sendRaw(t, v.robot.rawPost("/v1/bonuses", request, lines...)).wantProblem(t, 400, "idempotency_key_invalid")
		})
	}
	v.wantNoBonus(t, request)
}

func bonusKeysQuoted(t *testing.T) {
	v, c := newOffer(t)
	key, request := newKey(), c.request(1)
	first := v.robot.accrue(t, `"`+key+`"`, request).want(t, 201)
	wantSameAnswer(t, first, v.robot.accrue(t, key, request))
}

func bonusKeysPerCaller(t *testing.T) {
	v, c := newOffer(t)
	key, hers, his := newKey(), c.request(1), c.request(2)
	first := v.robot.accrue(t, key, hers).want(t, 201)
	// The same subject in another role is another caller, too.
	for _, caller := range []client{v.chief, {v.site, "", v.tokens.of(t, "--role", "operator", "--subject", v.robot.subject)}} {
		his.OrderID = uuid.NewString()
		answer := caller.accrue(t, key, his).want(t, 201)
		all := fmt.Sprint(answer.header, string(answer.body))
		if answer.header.Get("Idempotent-Replayed") != "" || strings.Contains(all, into[bonus](t, first).ID) || strings.Contains(all, hers.UserID) {
			t.Errorf("the answer tells of somebody else's bonus: %s", all)
		}
	}
	wantSameAnswer(t, first, v.robot.accrue(t, key, hers))
}

func bonusKeysPerOperation(t *testing.T) {
	v, _ := newOffer(t)
	key := newKey()
	c := into[campaign](t, v.chief.create(t, key, v.terms(nil)).want(t, 201))
	id := into[order](t, v.alice.place(t, key, v.portions(0, 1)).want(t, 201)).ID
	request := bonusRequest{UserID: v.alice.subject, CampaignID: c.ID, OrderID: id, Points: 1}
	// An operator with the customer's name, so that nothing but the operation tells the requests apart.
	alice := client{v.site, v.alice.subject, v.tokens.of(t, "--role", "operator", "--subject", v.alice.subject)}
	made := into[bonus](t, alice.accrue(t, key, request).want(t, 201))
	if again := into[bonus](t, v.chief.accrue(t, key, request).want(t, 200)); again != made {
		t.Errorf("%+v, want %+v", again, made)
	}
	wantReplay(t, v.alice.place(t, key, v.portions(0, 1)))
	v.wantStock(t, 0, 99)
}

func bonusKeysReused(t *testing.T) {
	v, c := newOffer(t)
	key, request := newKey(), c.request(1)
	first := v.robot.accrue(t, key, request).want(t, 201)
	other := request
	other.Points = 2
	v.robot.accrue(t, key, other).wantProblem(t, 422, "idempotency_key_reused")
	v.robot.accrue(t, key, c.request(1)).wantProblem(t, 422, "idempotency_key_reused")
	wantSameAnswer(t, first, v.robot.accrue(t, key, request))
	v.chief.wantOneEntry(t, into[bonus](t, first))
}

func bonusKeysSpelling(t *testing.T) {
	v, c := newOffer(t)
	key, r := newKey(), c.request(7)
	first := v.robot.accrue(t, key, r).want(t, 201)
	again := fmt.Sprintf(" {\n\t\"points\": 7, \"order_id\" : %q,\r\n \"campaign_id\":%q, \"user_id\": %q } ",
		strings.ToUpper(r.OrderID), strings.ToUpper(r.CampaignID), r.UserID)
	wantSameAnswer(t, first, v.robot.send(t, "POST", "/v1/bonuses", again, "Idempotency-Key", key, "User-Agent", "another/2",
		"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
}

func bonusKeysFree(t *testing.T) {
	v, c := newOffer(t)
	key, request := newKey(), c.request(7)
	unknown, none, conflict := request, request, request
	unknown.CampaignID, none.Points, conflict.Points = uuid.NewString(), 0, 8
	v.robot.accrue(t, key, unknown).wantProblem(t, 400, "invalid_request")
	v.robot.accrue(t, key, none).wantProblem(t, 400, "invalid_request")
	v.robot.accrue(t, "", request).want(t, 201)
	v.robot.accrue(t, key, conflict).wantProblem(t, 422, "accrual_conflict")
	v.robot.accrue(t, key, c.request(9)).want(t, 201)
}

func bonusKeysLostAnswers(t *testing.T) {
	v, c := newOffer(t)
	v.wantOneBonusEach(t, c, func(key string, request bonusRequest) {
		conn := v.robot.dial(t)
		_, _ = conn.Write(v.robot.rawPost("/v1/bonuses", request, "Idempotency-Key: "+key))
		conn.Close()
	})
	v.wantOneBonusEach(t, c, func(key string, request bonusRequest) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		r, err := v.robot.request("POST", "/v1/bonuses", request, keyed(key)...)
		if err != nil {
			t.Error(err)
			return
		}
		do(t, r.WithContext(ctx)) // answered or not
	})
}

func bonusKeysKill(t *testing.T) {
	v := openVenue(t, soloSite(t, "--kafka-addr", "127.0.0.1:0"), counted("pelmeni", 100))
	c := v.offer(t, nil)
	for range 3 {
		var first sync.Once
		kill := func() { first.Do(func() { v.bonus.kill(t) }) }
		sent := v.sendBonuses(c, func(key string, request bonusRequest) {
			if v.robot.try(t, "POST", "/v1/bonuses", request, keyed(key)...).status == 201 {
				kill()
			}
		})
		kill()
		v.bonus.restart(t)
		v.wantOneBonusByKey(t, sent)
	}
	// A crash between the broker's answer and the row's end tells again, but the same event.
	var told map[string][]string
	eventually(t, "all bonuses are told", func() bool {
		told = v.bus(t).toldBonuses(t, "")
		return len(told) == 3*40
	})
	for id, events := range told {
		if slices.Sort(events); len(slices.Compact(events)) != 1 {
			t.Errorf("accrual %s is told by events %v", id, events)
		}
	}
}

// wantOneBonusEach sends requests whose answers are lost, each under a key of its own, and sends each again.
func (v *venue) wantOneBonusEach(t *testing.T, c campaign, send func(key string, request bonusRequest)) {
	t.Helper()
	v.wantOneBonusByKey(t, v.sendBonuses(c, send))
}

// sendBonuses sends requests at once and returns them by their keys.
func (v *venue) sendBonuses(c campaign, send func(key string, request bonusRequest)) map[string]bonusRequest {
	keys, sent := make([]string, 40), map[string]bonusRequest{}
	for i := range keys {
		keys[i] = newKey()
		sent[keys[i]] = c.request(7)
	}
	together(len(keys), func(i int) { send(keys[i], sent[keys[i]]) })
	return sent
}

// wantOneBonusByKey sends requests again, each until it is decided, and wants one bonus for each.
func (v *venue) wantOneBonusByKey(t *testing.T, sent map[string]bonusRequest) {
	t.Helper()
	for key, request := range sent {
		var answer response
		eventually(t, "decided", func() bool {
			answer = v.robot.accrue(t, key, request)
			return answer.status != 409
		})
		made := into[bonus](t, answer.want(t, 201))
		v.chief.wantOneEntry(t, made)
	}
}
