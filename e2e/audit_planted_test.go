package e2e

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestAuditPlanted(t *testing.T) {
	keep(t, promise{"each violation is named, alone, and what only looks like one is not", auditPlanted})
}

// stopped is the data of a server that was stopped, in which all is sound.
type stopped struct {
	data string
	ids  *strings.Replacer // puts ids into SQL and into what is expected
}

// stoppedData has an order that was completed and earned points, one that earned none, one that earned other points than
// it had got before, one that waits, and points for an order that nobody knows, asked for under two keys.
func stoppedData(t *testing.T) stopped {
	data := t.TempDir()
	s := newSite(data).inOne(start(t, serving("serve", data)...))
	v := openVenue(t, s, counted("pelmeni", 100), menuDish{ExternalID: "tea", Name: "tea", Price: rub(19_99)})
	share := v.offer(t, nil)
	rich := into[order](t, v.alice.place(t, newKey(), v.portions(0, 1)).want(t, 201)).ID
	poor, overruled, waiting := v.placed(t, v.portions(1, 1)).ID, v.placed(t, v.portions(0, 2)).ID, v.placed(t, v.portions(0, 1)).ID
	v.robot.accrue(t, newKey(), bonusRequest{UserID: v.alice.subject, CampaignID: share.ID, OrderID: overruled, Points: 5}).want(t, 201)
	unknown := share.request(7)
	v.robot.accrue(t, newKey(), unknown).want(t, 201)
	v.robot.accrue(t, newKey(), unknown).want(t, 200)
	for _, id := range []string{rich, poor, overruled} {
		v.complete(t, id)
	}
	v.awaitTicket(t, waiting)
	s.kitchen.stop(t)
	return stopped{data, strings.NewReplacer(
		"{rich}", rich, "{poor}", poor, "{overruled}", overruled, "{waiting}", waiting, "{unknown}", unknown.OrderID,
		"{RICH}", blob(rich), "{POOR}", blob(poor), "{WAITING}", blob(waiting), "{UNKNOWN}", blob(unknown.OrderID),
		"{CAMPAIGN}", blob(share.ID), "{alice}", v.alice.subject,
	)}
}

// blob is an id in SQL.
func blob(id string) string {
	return "x'" + strings.ReplaceAll(uuid.MustParse(id).String(), "-", "") + "'"
}

// with is a copy of the data in which one database was changed, as somebody can who has its file.
func (s stopped) with(t *testing.T, changes map[string]string) (data string) {
	t.Helper()
	data = t.TempDir()
	if err := os.CopyFS(data, os.DirFS(s.data)); err != nil {
		t.Fatal(err)
	}
	for service, statements := range changes {
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(data, service+".db"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), "PRAGMA foreign_keys = OFF;"+s.ids.Replace(statements))
		if closed := db.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
	}
	return data
}

// What is planted.
const (
	keyAgain = `DROP INDEX orders_client_key;
		UPDATE orders SET client_idempotency_key = (SELECT client_idempotency_key FROM orders WHERE id = {RICH}) WHERE id = {WAITING}`
	eventKeyAgain = `DROP INDEX order_status_events_key; UPDATE order_status_events SET idempotency_key = 'k' WHERE order_id = {RICH}`
	ticketAgain   = `INSERT INTO tickets SELECT zeroblob(16), code, establishment_id, status, reason, lines, comment, total, currency,
		0, 1, 0, entered, 0, 0 FROM tickets WHERE order_id = {WAITING}`
	newEvaluation = `INSERT INTO evaluations VALUES ({WAITING}, '{alice}', 45000, 'RUB', 0, 0);`
	newLine       = `INSERT INTO evaluation_lines VALUES ({WAITING}, {CAMPAIGN}, 1, 22);`
	newAccrual    = `INSERT INTO accruals VALUES (x'aa', '{alice}', {CAMPAIGN}, {WAITING}, 22, 'event', 0);
		INSERT INTO ledger_transactions VALUES (x'bb', x'aa', 0);
		INSERT INTO ledger_entries VALUES (x'bb', 'issued', -22), (x'bb', 'wallet:{alice}', 22);` + balanced
	accrualAgain = `INSERT INTO accruals SELECT x'aa', user_id, campaign_id, order_id, points, 'api', 0 FROM accruals WHERE order_id = {RICH};
		INSERT INTO ledger_transactions VALUES (x'bb', x'aa', 0);
		INSERT INTO ledger_entries SELECT x'bb', account, amount FROM ledger_entries WHERE transaction_id = ` + aTransaction + `;` + balanced
	evesAccrual = `INSERT INTO accruals VALUES (x'aa', 'eve', {CAMPAIGN}, {RICH}, 5, 'api', 0);
		INSERT INTO ledger_transactions VALUES (x'bb', x'aa', 0);
		INSERT INTO ledger_entries VALUES (x'bb', 'issued', -5), (x'bb', 'wallet:eve', 5);` + balanced
	balanced      = `DELETE FROM balances; INSERT INTO balances SELECT account, sum(amount) FROM ledger_entries GROUP BY account;`
	aTransaction  = `(SELECT t.id FROM ledger_transactions t JOIN accruals a ON a.id = t.accrual_id WHERE a.order_id = {RICH})`
	itsEntries    = ` WHERE transaction_id = ` + aTransaction
	noTransaction = `DELETE FROM ledger_entries` + itsEntries + `; DELETE FROM ledger_transactions WHERE id = ` + aTransaction + `;` + balanced
	noEvaluation  = `DELETE FROM evaluations WHERE order_id = {POOR};`
	anotherStatus = `UPDATE tickets SET status = 'cooking' WHERE order_id = {WAITING};`
	aSentStep     = `INSERT INTO ticket_steps (order_id, no, status, reason, key, event_id, created_at, sent_at)
		VALUES ({WAITING}, 1, 'accepted', '', 'k', x'cc', 0, 0);`
)

func buriedLetter(order, state string) string {
	return `INSERT INTO dead_letters VALUES (x'dd', 'g', 't', 0, 0, CAST('` + order + `' AS BLOB), NULL, x'', 'internal', '', 1, 0, '` + state + `', '', 0);`
}

func parkedMessage(order string) string {
	return `INSERT INTO outbox_parked VALUES (99, x'ee', 'kuhnya.orders', '` + order + `', x'', NULL, 0, 'too large', 0);`
}

func auditPlanted(t *testing.T) {
	sound := stoppedData(t)
	type in map[string]string // statements by service
	for name, c := range map[string]struct {
		plant     in
		invariant int // 0: all is sound still
		subject   string
		live      bool // found under live traffic, too
	}{
		"nothing": {},

		"stock out of nowhere":           {in{"kitchen": `UPDATE dishes SET stock = stock + 1 WHERE name = 'pelmeni'`}, 1, "dish ", true},
		"two orders under one key":       {in{"kitchen": keyAgain}, 2, "user {alice}", true},
		"a seq without event":            {in{"kitchen": `UPDATE orders SET seq = 2 WHERE id = {WAITING}`}, 3, "order {waiting}", true},
		"a key on two events":            {in{"kitchen": eventKeyAgain}, 3, "order {rich}", true},
		"two accruals of a business key": {in{"bonus": `DROP INDEX accruals_business_key;` + accrualAgain}, 4, "order {rich}", true},
		"an accrual without evaluation":  {in{"bonus": `DELETE FROM evaluation_lines WHERE order_id = {RICH}`}, 4, "accrual ", true},
		"an accrual with other points":   {in{"bonus": `UPDATE evaluation_lines SET points = 21 WHERE order_id = {RICH}`}, 4, "accrual ", true},
		"a line without accrual":         {in{"bonus": `INSERT INTO evaluation_lines VALUES ({POOR}, {CAMPAIGN}, 1, 1)`}, 4, "order {poor}", true},
		"an unknown origin":              {in{"bonus": `PRAGMA ignore_check_constraints = ON; UPDATE accruals SET origin = 'gift' WHERE order_id = {UNKNOWN}`}, 4, "accrual ", true},
		"points for an order too early":  {in{"bonus": newEvaluation + newLine + newAccrual}, 4, "accrual aa", false},
		"points for no order":            {in{"bonus": strings.ReplaceAll(newEvaluation+newLine+newAccrual, "{WAITING}", "zeroblob(16)")}, 4, "accrual aa", false},
		"points for another user":        {in{"kitchen": `UPDATE orders SET user_id = 'eve' WHERE id = {RICH}`}, 4, "accrual ", false},
		"no excuse for points":           {in{"bonus": newEvaluation + newLine + newAccrual + buriedLetter("{waiting}", "open")}, 4, "accrual aa", false},

		"a transaction that makes points":  {in{"bonus": `UPDATE ledger_entries SET amount = amount - 1` + itsEntries + ` AND account = 'issued';` + balanced}, 5, "ledger transaction ", true},
		"a transaction without entries":    {in{"bonus": `DELETE FROM ledger_entries` + itsEntries + `;` + balanced}, 5, "ledger transaction ", true},
		"a transaction to somebody else":   {in{"bonus": `UPDATE ledger_entries SET account = 'wallet:eve'` + itsEntries + ` AND account <> 'issued';` + balanced}, 5, "ledger transaction ", true},
		"an accrual without transaction":   {in{"bonus": noTransaction}, 5, "accrual ", true},
		"a balance that missed an entry":   {in{"bonus": `UPDATE balances SET balance = balance + 1 WHERE account = 'issued'`}, 5, "account issued", true},
		"a balance that is not there":      {in{"bonus": `DELETE FROM balances WHERE account = 'wallet:{alice}'`}, 5, "account wallet:{alice}", true},
		"an answer about nothing":          {in{"bonus": `INSERT INTO accrual_answers VALUES ('service:erp', 'k', x'', x'aa', 201, x'', 0)`}, 5, "answer to service:erp", true},
		"an answer that is no answer":      {in{"bonus": `UPDATE accrual_answers SET status = 409 WHERE status = 200`}, 5, "answer to service:", true},
		"a ticket that is not there":       {in{"establishment": `DELETE FROM tickets WHERE order_id = {WAITING}`}, 6, "order {waiting}", false},
		"a ticket that nobody sees":        {in{"establishment": `UPDATE tickets SET hidden = 1 WHERE order_id = {WAITING}`}, 6, "order {waiting}", false},
		"a ticket of no order":             {in{"establishment": ticketAgain}, 6, "order 00000000-", false},
		"a ticket with another status":     {in{"establishment": anotherStatus}, 6, "order {waiting}", false},
		"a step that never arrived":        {in{"establishment": aSentStep}, 6, "order {waiting}", false},
		"an evaluation that is missing":    {in{"bonus": noEvaluation}, 6, "order {poor}", false},
		"an evaluation for somebody else":  {in{"bonus": `UPDATE evaluations SET user_id = 'eve' WHERE order_id = {POOR}`}, 6, "order {poor}", false},
		"an evaluation by another total":   {in{"bonus": `UPDATE evaluations SET total = total + 1 WHERE order_id = {POOR}`}, 6, "order {poor}", false},
		"an evaluation too early":          {in{"bonus": newEvaluation}, 6, "order {waiting}", false},
		"an evaluation of no order":        {in{"bonus": strings.ReplaceAll(newEvaluation, "{WAITING}", "zeroblob(16)")}, 6, "order 00000000-", false},
		"a dead letter that was redriven":  {in{"bonus": noEvaluation + buriedLetter("{poor}", "redriven")}, 6, "order {poor}", false},
		"a dead letter of another order":   {in{"bonus": noEvaluation + buriedLetter("{rich}", "open")}, 6, "order {poor}", false},
		"an evaluation, by a dead letter":  {plant: in{"bonus": noEvaluation + buriedLetter("{poor}", "open")}},
		"an evaluation, discarded":         {plant: in{"bonus": noEvaluation + buriedLetter("{poor}", "discarded")}},
		"an evaluation, by a parked row":   {plant: in{"bonus": noEvaluation, "kitchen": parkedMessage("{poor}")}},
		"a ticket, by a dead letter":       {plant: in{"establishment": anotherStatus + buriedLetter("{waiting}", "open")}},
		"a step, by a dead letter":         {plant: in{"establishment": aSentStep, "kitchen": buriedLetter("{waiting}", "discarded")}},
		"a client's points for a new user": {plant: in{"bonus": evesAccrual}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := sound.with(t, c.plant)
			sound.wantOnly(t, c.invariant, c.subject, "--at-rest", "--data", data)
			if c.live {
				sound.wantOnly(t, c.invariant, c.subject, "--data", data)
			}
		})
	}
}

// wantOnly audits and fails the test unless exactly that violation is found, or none for invariant 0.
func (s stopped) wantOnly(t *testing.T, invariant int, subject string, args ...string) {
	t.Helper()
	code := 0
	if invariant > 0 {
		code = 1
	}
	r := readReport(t, code, args...)
	if invariant == 0 && len(r.Violations) == 0 {
		return
	}
	if len(r.Violations) != 1 || r.Violations[0].Invariant != invariant || !strings.HasPrefix(r.Violations[0].Subject, s.ids.Replace(subject)) {
		t.Errorf("audit %v: %+v, want only invariant %d of %s", args, r.Violations, invariant, s.ids.Replace(subject))
	}
}
