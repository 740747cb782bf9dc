package handbook

import (
	"time"

	"kuhnya/internal/establishment/establishmenthttp"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/lifecycle"
)

// explanation is what a page says about a kind beyond the kind itself.
type explanation struct {
	Meaning string // what has happened
	Key     string // what that means for the request's Idempotency-Key
	Any     bool   // whether any request may be answered so

	// What the example shows; a test compares its members with those of real documents.
	detail   string
	fields   map[string]any
	pointers []fault.Pointer
}

// What a kind means for the key, where several mean the same.
const (
	keyNotRead = "Not looked at: the request was refused before. The key is as free, or as taken, as it was."
	keyFree    = "Still free. A refusal is never remembered, so the same key may be sent with the same or with another command."
	keyNone    = "Plays no part here: this concerns operations that take no key."
	keyDecides = "Keep it. Whatever became of the request, sending it again under the same key has one effect in all."
)

var explanations = map[fault.Code]explanation{
	fault.InvalidRequest: {
		Any: true,
		Meaning: "The request can't be read as what the operation takes: a member is missing, unknown, repeated, spelled in another case or out of its " +
			"bounds, a parameter or the JSON itself is malformed, or an order names a dish that its establishment doesn't list. " +
			"Each entry of `errors` points at one part of the input: a JSON pointer into the body, or `/name` of a parameter.",
		Key: keyFree, detail: "The request is not valid; see errors.",
		pointers: []fault.Pointer{{Pointer: "/lines/0/quantity", Detail: "expected number >= 1"}},
	},
	fault.IdempotencyKeyInvalid: {
		Meaning: "The `Idempotency-Key` header is empty, sent twice, longer than 255 bytes, or holds something else than visible ASCII. A comma or a " +
			"quotation mark inside is refused too, as other programs on the way may read it as the end of the key.",
		Key:      "There was none, so nothing was looked up and nothing remembered.",
		detail:   "Idempotency-Key must be one line of 1 to 255 visible ASCII characters, bare or as a quoted string.",
		pointers: []fault.Pointer{{Pointer: "/Idempotency-Key", Detail: "invalid idempotency key: empty"}},
	},
	fault.Unauthenticated: {
		Any:     true,
		Meaning: "There is no `Authorization: Bearer` line, or more than one, or its token is forged, expired or made for another data folder.",
		Key:     keyNotRead, detail: "The bearer token is not valid.",
	},
	fault.Forbidden: {
		Meaning: "The token says who you are, and that role has no such right. The reference names the roles of each operation. " +
			"What belongs to somebody else is not forbidden but not found.",
		Key: keyNotRead, detail: "Your role may not do this.",
	},
	fault.NotFound: {
		Meaning: "The path leads nowhere, the id names nothing, or it names something that is not yours to see: these three look the same on purpose.",
		Key:     keyFree, detail: "no such order",
	},
	fault.MethodNotAllowed: {
		Any:     true,
		Meaning: "The path exists, but not for this method.",
		Key:     keyNotRead, detail: "This method is not allowed here; see the Allow header.",
	},
	fault.OutOfStock: {
		Meaning: "Fewer portions are left than were asked for. Nothing of the order was taken, other lines included. `dish_id` says which dish, `left` how many " +
			"portions there are.",
		Key: "Still free. After a restock, or with fewer portions, the same key can be used.", detail: "3 of Borscht left",
		fields: map[string]any{"dish_id": exampleDish, "left": 3},
	},
	fault.DishUnavailable: {
		Meaning: "The dish is on the menu but not served at the moment. `dish_id` says which.",
		Key:     keyFree, detail: "Borscht is not available", fields: map[string]any{"dish_id": exampleDish},
	},
	fault.PriceChanged: {
		Meaning: "A line's `expected_price` is not the price any more. `price` is the one that counts now. Ask the customer before you send it.",
		Key:     keyFree, detail: "the price of Borscht has changed",
		fields: map[string]any{"dish_id": exampleDish, "price": rub(340_00)},
	},
	fault.EstablishmentClosed: {
		Meaning: "The establishment is closed, or has paused. One that is only `busy` still takes orders.",
		Key:     "Still free for a new order. An order that was placed under it before closing time is still replayed.",
		detail:  "Столовая №1 takes no orders at the moment",
	},
	fault.BelowMinimum: {
		Meaning: "The lines are worth less than the least that the establishment takes an order for, which is `min_order`.",
		Key:     keyFree, detail: "the order is below the minimum of this establishment", fields: map[string]any{"min_order": rub(500_00)},
	},
	fault.InvalidTransition: {
		Meaning: "An order goes only along its path, and no status is entered twice. `current` is where it stands, `allowed` where you may still move it. Usually " +
			"somebody was faster: the customer cancelled, or the staff rejected.",
		Key: keyFree, detail: "the order is completed and can't become cancelled",
		fields: map[string]any{"current": "completed", "allowed": []string{}},
	},
	fault.RequestInProgress: {
		Meaning: "A request with the same key, or for bonuses one that means the same, was admitted and is not decided yet. The repeat of an order waits up to " +
			"two seconds for that before it is answered so, the repeat of a bonus not at all.",
		Key:    "In use by the first request. Sent again, it returns what became of that one; if nothing came of it, it is decided anew.",
		detail: "a request with this Idempotency-Key is still being decided",
	},
	fault.StockChanged: {
		Meaning: "`expected_stock` is not what is on hand: somebody ordered, or counted, since you looked. `stock` is what is there now, null if it is not counted.",
		Key:     "Plays no part here: a stock that is set to a number needs no key, since repeating that is harmless.",
		detail:  "the stock has changed meanwhile", fields: map[string]any{"stock": 7},
	},
	fault.RedriveLimit: {
		Meaning: "The record came back as a dead letter after each of five attempts. Sending it a sixth time would change nothing.",
		Key:     keyNone, detail: "this record was sent again 5 times already",
	},
	fault.DeadLetterDiscarded: {
		Meaning: "Somebody decided that this record is not to be applied, and said why.",
		Key:     keyNone, detail: "this dead letter was discarded",
	},
	fault.PayloadTooLarge: {
		Meaning: "The body is larger than the API reads. The limit is the same for every operation. A dead letter that has no room left for the headers of a redrive is refused the same way.",
		Key:     keyNotRead, detail: "The body is larger than 64 KiB.",
	},
	fault.UnsupportedMediaType: {
		Meaning: "The body has no `Content-Type`, several, or another than `application/json` in UTF-8.",
		Key:     keyNotRead, detail: "Send exactly one Content-Type line: application/json, in UTF-8.",
	},
	fault.IdempotencyKeyReused: {
		Meaning: "You have used this key before, for another command. What it did then stands, and this command was not carried out. The order of the members, blanks " +
			"and other headers don't matter in this comparison, the values do.",
		Key:    "Taken, for as long as what it made exists. The original command under it is still replayed.",
		detail: "this Idempotency-Key stands for another order", fields: map[string]any{"original_created_at": placedAt},
	},
	fault.AccrualConflict: {
		Meaning: "Points of this campaign for this order were accrued to this user already, under another key or by the event of the completed order, and they are " +
			"not as many as you sent. What exists stands: `accrual_id` with its `points`. Equal points would have been answered by 200 with that accrual.",
		Key: keyFree, detail: "this user has other points for this campaign and order already",
		fields: map[string]any{"accrual_id": exampleEvent, "points": 32},
	},
	fault.TooManyRequests: {
		Any:     true,
		Meaning: "More requests than this deployment is set up to take from one caller.",
		Key:     keyNotRead, detail: "Too many requests. Please slow down.",
	},
	fault.Internal: {
		Any:     true,
		Meaning: "Something happened that nobody foresaw. The log has the details under the request's id, which is `instance` here and `X-Request-Id` in the headers.",
		Key:     keyDecides, detail: "Something went wrong on our side. Please report the instance.",
	},
	fault.PublishFailed: {
		Meaning: "The step is stored on the ticket, but telling the kitchen failed or was not acknowledged in time. `ticket` is the ticket as it stands now, with " +
			"`published: false`. If nobody presses again, it is sent all the same within seconds of the broker's return.",
		Key:    "None to send: the step itself is the key. Each try publishes under `{order_id}:{status}`, so the kitchen counts it once.",
		detail: "saved here, not sent yet; pressing again is safe",
		fields: map[string]any{"ticket": exampleTicket},
	},
	fault.Unavailable: {
		Any: true,
		Meaning: "The answer could not be given now: the database is busy or out of space, the process is stopping, too many event streams are open, or " +
			"ten seconds were over. In the last case the work goes on and may still be done.",
		Key: keyDecides, detail: "The service could not answer in time. Please send the request again.",
	},
	fault.OutcomeUnknown: {
		Meaning: "The change was on its way to the database when the connection broke, and whether it arrived could not be learnt within five seconds.",
		Key:     keyDecides + " Without a key, look before you repeat.",
		detail:  "the outcome could not be learnt, ask again with the same key",
	},
}

// exampleTicket is an accepted one whose step is still to be sent.
var exampleTicket = establishmenthttp.Ticket{
	OrderID: httpapi.ID(exampleOrder), Code: kitchen.Code(exampleOrder), EstablishmentID: httpapi.ID(exampleEstablishment),
	Status: lifecycle.Accepted, Total: rub(640_00), AcceptDeadline: placedAt.Add(10 * time.Minute), CreatedAt: placedAt, UpdatedAt: acceptedAt,
	Lines: []establishmenthttp.TicketLine{{
		DishID: httpapi.ID(exampleDish), Name: "Borscht", Quantity: 2, UnitPrice: rub(320_00), Total: rub(640_00),
	}},
}
