package handbook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/event"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
	"kuhnya/internal/money"
	"kuhnya/outbox"
)

// record is an example of a record on a topic.
type record struct {
	Text    string // what it tells
	Type    event.Type
	Topic   string
	Key     string
	Headers []outbox.Header
	Value   string // indented JSON
}

// What the examples of records and problems are about: the demo data's canteen.
var (
	exampleOrder         = uuid.MustParse("01a22d72-94e4-72ff-b8bb-f9561f5cc594")
	exampleEstablishment = uuid.MustParse("01980000-0000-7000-8000-000001000000")
	exampleDish          = uuid.MustParse("01980000-0000-7000-8000-000001000001")
	exampleCampaign      = uuid.MustParse("01980000-0000-7000-8000-000009000001")
	exampleEvent         = uuid.MustParse("01a22d72-94e6-7d01-a1c5-8a2c65c4b7de")

	placedAt   = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	acceptedAt = placedAt.Add(80 * time.Second)
)

func rub(amount int64) money.Money { return money.Money{Amount: amount, Currency: money.RUB} }

// newRecords makes one record of each type, by the code that makes the real ones.
func newRecords() []record {
	topics := event.Topics{Prefix: event.DefaultPrefix}
	return []record{
		newRecord("A new order, whole.", event.Fact{
			Type: event.OrderPlacedType, Source: "kitchen", Topic: topics.Orders(), At: placedAt,
			Data: event.OrderPlaced{
				OrderID: exampleOrder, Code: kitchen.Code(exampleOrder), UserID: "alice", EstablishmentID: exampleEstablishment, Seq: 1,
				Status: lifecycle.Placed, Total: rub(640_00), AcceptDeadline: placedAt.Add(10 * time.Minute), PlacedAt: placedAt,
				Lines: []event.OrderLine{{DishID: exampleDish, Name: "Borscht", Quantity: 2, UnitPrice: rub(320_00), Total: rub(640_00)}},
			},
		}),
		newRecord("Every change of an order after that.", event.Fact{
			Type: event.OrderStatusChangedType, Source: "kitchen", Topic: topics.Orders(), At: acceptedAt,
			Data: event.OrderStatusChanged{
				OrderID: exampleOrder, EstablishmentID: exampleEstablishment, UserID: "alice", Seq: 2, From: lifecycle.Placed,
				To: lifecycle.Accepted, Total: rub(640_00), PlacedAt: placedAt, At: acceptedAt,
			},
		}),
		newRecord("A step of the staff, on its way to the kitchen.", event.Fact{
			Type: event.EstablishmentStatusType, Source: "establishment", Topic: topics.EstablishmentStatuses(), At: acceptedAt,
			IdempotencyKey: event.CallbackKey(exampleOrder, lifecycle.Accepted),
			Data: event.EstablishmentStatus{
				OrderID: exampleOrder, EstablishmentID: exampleEstablishment, Status: lifecycle.Accepted,
			},
		}),
		newRecord("Points that a customer got.", event.Fact{
			Type: event.BonusAccruedType, Source: "bonus", Topic: topics.Bonuses(), At: acceptedAt,
			Data: event.BonusAccrued{
				AccrualID: exampleEvent, UserID: "alice", CampaignID: exampleCampaign, OrderID: exampleOrder, Points: 32,
				Origin: "event", At: acceptedAt,
			},
		}),
	}
}

func newRecord(text string, f event.Fact) record {
	f.ID, f.OrderID, f.TraceParent = exampleEvent, exampleOrder, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	m, err := f.Message()
	if err != nil {
		panic(fmt.Errorf("example of %s: %w", f.Type, err)) // built in
	}
	return record{Text: text, Type: f.Type, Topic: m.Topic, Key: m.Key, Headers: m.Headers, Value: indent(m.Payload)}
}

// indent lays out JSON for people, with its members in their order.
func indent(data []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		panic(fmt.Errorf("indent an example: %w", err)) // encoded by this process
	}
	return b.String()
}
