package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"kuhnya/internal/fault"
)

// Kind is how one code of the contract looks over HTTP.
type Kind struct {
	Code   fault.Code
	Status int
	Title  string
	// Retryable says that the same request, unchanged, may succeed later.
	Retryable bool
	// Advice tells a client's author what to do about it.
	Advice string
}

// Slug is the last part of the URI that names the kind.
func (k Kind) Slug() string { return strings.ReplaceAll(string(k.Code), "_", "-") }

// Waits says that the answer carries Retry-After.
func (k Kind) Waits() bool { return k.Retryable && k.Status != http.StatusBadGateway }

// kinds is the only place where a code meets a status.
var kinds = index(
	Kind{fault.InvalidRequest, 400, "Invalid request", false,
		"Correct what errors points at. Nothing was changed, and an idempotency key sent along is still free."},
	Kind{fault.IdempotencyKeyInvalid, 400, "Invalid idempotency key", false,
		"Send one Idempotency-Key line with 1 to 255 visible ASCII characters, bare or as a quoted string."},
	Kind{fault.Unauthenticated, 401, "Not authenticated", false,
		"Send a valid bearer token in one Authorization line."},
	Kind{fault.Forbidden, 403, "Not allowed", false,
		"The token is valid, but its role may not do this."},
	Kind{fault.NotFound, 404, "Not found", false,
		"There is no such thing, or it is not yours to see."},
	Kind{fault.MethodNotAllowed, 405, "Method not allowed", false,
		"Use one of the methods in the Allow header."},
	Kind{fault.OutOfStock, 409, "Out of stock", false,
		"Order at most as many portions as are left. The idempotency key is still free."},
	Kind{fault.DishUnavailable, 409, "Dish unavailable", false,
		"The dish is not being served; read the menu again."},
	Kind{fault.PriceChanged, 409, "Price changed", false,
		"Read the menu again and send the price that you expect now."},
	Kind{fault.EstablishmentClosed, 409, "Establishment closed", false,
		"The establishment accepts no orders at the moment."},
	Kind{fault.BelowMinimum, 409, "Below the minimum", false,
		"The order is worth less than the establishment's minimum."},
	Kind{fault.InvalidTransition, 409, "Invalid transition", false,
		"The order can't go from its current status to the wanted one; allowed lists where it can go."},
	Kind{fault.RequestInProgress, 409, "Request in progress", true,
		"The same request is being worked on. Send it again, with the same key, after Retry-After seconds."},
	Kind{fault.StockChanged, 409, "Stock changed", false,
		"The stock is not what you expected; read it again and decide anew."},
	Kind{fault.RedriveLimit, 409, "Redrive limit reached", false,
		"The record failed too often to be sent again; discard it."},
	Kind{fault.DeadLetterDiscarded, 409, "Dead letter discarded", false,
		"A discarded record is not sent again."},
	Kind{fault.PayloadTooLarge, 413, "Body too large", false,
		"A body has at most 64 KiB."},
	Kind{fault.UnsupportedMediaType, 415, "Unsupported media type", false,
		"Send exactly one Content-Type line: application/json, in UTF-8."},
	Kind{fault.IdempotencyKeyReused, 422, "Idempotency key reused", false,
		"The key was used for another command. Repeat a command unchanged, or give a new command a new key."},
	Kind{fault.AccrualConflict, 422, "Accrual conflict", false,
		"This user has an accrual of this campaign for this order already, with other fields."},
	Kind{fault.TooManyRequests, 429, "Too many requests", true,
		"Slow down, and send the request again after Retry-After seconds."},
	Kind{fault.Internal, 500, "Internal error", false,
		"A fault on our side. Report the value of instance."},
	Kind{fault.PublishFailed, 502, "Publishing failed", true,
		"The step stands and will be published; pressing again is safe and publishes under the same key."},
	Kind{fault.Unavailable, 503, "Temporarily unavailable", true,
		"Send the request again after Retry-After seconds, with the same idempotency key."},
	Kind{fault.OutcomeUnknown, 503, "Outcome unknown", true,
		"Whether the change was made could not be learnt. Send it again with the same idempotency key."},
)

// Kinds lists every kind of problem, by status and then code.
func Kinds() []Kind {
	list := make([]Kind, 0, len(kinds))
	for _, k := range kinds {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Code, b.Code))
	})
	return list
}

func index(list ...Kind) map[fault.Code]Kind {
	m := make(map[fault.Code]Kind, len(list))
	for _, k := range list {
		m[k.Code] = k
	}
	return m
}
