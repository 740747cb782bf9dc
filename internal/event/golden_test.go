package event_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"kuhnya/internal/event"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/outbox"
)

var update = flag.Bool("update", false, "write the golden files: a change of them is a change of the contract")

var (
	eventID         = uuid.MustParse("0199f3a0-0000-7000-8000-0000000000ee")
	orderID         = uuid.MustParse("0199f3a0-0000-7000-8000-0000000000aa")
	establishmentID = uuid.MustParse("0199f3a0-0000-7000-8000-0000000000bb")
	accrualID       = uuid.MustParse("0199f3a0-0000-7000-8000-0000000000ac")
	campaignID      = uuid.MustParse("0199f3a0-0000-7000-8000-0000000000ca")
	dishID          = uuid.MustParse("0199f3a0-0000-7000-8000-0000000000dd")
	placedAt        = time.Date(2026, 3, 31, 12, 0, 0, 123456000, time.UTC)

	orderPlaced = event.OrderPlaced{
		OrderID: orderID, Code: "0005A", UserID: "alice", EstablishmentID: establishmentID, Seq: 1, Status: lifecycle.Placed,
		Lines: []event.OrderLine{
			{DishID: dishID, Name: `Борщ "по-домашнему" <b>`, Quantity: 2, UnitPrice: rub(450_00), Total: rub(900_00)},
		},
		Total: rub(900_00), Comment: "без сметаны\n", AcceptDeadline: placedAt.Add(10 * time.Minute), PlacedAt: placedAt,
	}
	orderStatusChanged = event.OrderStatusChanged{
		OrderID: orderID, EstablishmentID: establishmentID, UserID: "alice", Seq: 2, From: lifecycle.Placed, To: lifecycle.Rejected,
		Reason: "accept_timeout", Total: rub(1<<63 - 1), PlacedAt: placedAt, At: placedAt.Add(10 * time.Minute),
	}
	establishmentStatus = event.EstablishmentStatus{OrderID: orderID, EstablishmentID: establishmentID, Status: lifecycle.Accepted}
	bonusAccrued        = event.BonusAccrued{
		AccrualID: accrualID, UserID: "alice", CampaignID: campaignID, OrderID: orderID, Points: 1<<63 - 1, Origin: "event", At: placedAt,
	}
)

func rub(amount int64) money.Money { return money.Money{Amount: amount, Currency: money.RUB} }

func golden(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	return bytes.TrimSuffix(content, []byte("\n"))
}

// TestPayloads holds the contract with whoever reads the topics: the golden files are what is written, and what is
// written is read back.
func TestPayloads(t *testing.T) {
	withoutReason := orderStatusChanged
	withoutReason.To, withoutReason.Reason = lifecycle.Accepted, ""
	withReason := establishmentStatus
	withReason.Status, withReason.Reason = lifecycle.Rejected, "кончился борщ"
	check(t, "order_placed.json", orderPlaced)
	check(t, "order_status_changed.json", withoutReason)
	check(t, "order_status_changed_reason.json", orderStatusChanged)
	check(t, "establishment_status.json", establishmentStatus)
	check(t, "establishment_status_reason.json", withReason)
	check(t, "bonus_accrued.json", bonusAccrued)
}

func check[Data any](t *testing.T, name string, data Data) {
	t.Run(name, func(t *testing.T) {
		m, err := event.Fact{ID: eventID, OrderID: orderID, Data: data}.Message()
		must(t, err)
		if *update {
			must(t, os.WriteFile(filepath.Join("testdata", name), append(m.Payload, '\n'), 0o600))
		}
		want := golden(t, name)
		if diff := cmp.Diff(string(want), string(m.Payload)); diff != "" {
			t.Errorf("payload (-golden +written):\n%s", diff)
		}
		read, err := event.Decode[Data](want)
		must(t, err)
		if diff := cmp.Diff(data, read); diff != "" {
			t.Errorf("read back (-written +read):\n%s", diff)
		}
	})
}

// FuzzDecode: whatever a stranger puts on a topic is data, or an error that says so; and data survives being written
// and read again.
func FuzzDecode(f *testing.F) {
	for _, data := range []any{orderPlaced, orderStatusChanged, establishmentStatus, bonusAccrued} {
		value, err := json.Marshal(data)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte("ce_type"), []byte("order.placed.v1"), value)
	}
	f.Add([]byte("ce_type"), []byte(".v"), []byte("{"))
	f.Fuzz(func(t *testing.T, header, headerValue, value []byte) {
		envelope := event.Open([]outbox.Header{{Key: string(header), Value: headerValue}, {Key: string(headerValue)}})
		mustBeOneOf(t, envelope.Among(event.OrderPlacedType, event.EstablishmentStatusType), event.ErrInvalid, event.ErrUnknownType)
		decodeAgain[event.OrderPlaced](t, value)
		decodeAgain[event.OrderStatusChanged](t, value)
		decodeAgain[event.EstablishmentStatus](t, value)
		decodeAgain[event.BonusAccrued](t, value)
	})
}

func mustBeOneOf(t *testing.T, err error, known ...error) {
	t.Helper()
	if err != nil && !slices.ContainsFunc(known, func(k error) bool { return errors.Is(err, k) }) {
		t.Errorf("an error of no kind: %v", err)
	}
}

func decodeAgain[Data any](t *testing.T, value []byte) {
	t.Helper()
	data, err := event.Decode[Data](value)
	mustBeOneOf(t, err, event.ErrInvalid)
	if err != nil {
		return
	}
	m, err := event.Fact{Data: data}.Message()
	must(t, err)
	again, err := event.Decode[Data](m.Payload)
	must(t, err)
	if diff := cmp.Diff(data, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-read +read again):\n%s", diff)
	}
}
