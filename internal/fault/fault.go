// Package fault is how a rule refuses: a code from one closed list, a sentence for the person who asked, and what the
// program on the other side needs to act. Borders turn it into their own form: a problem document, a dead letter.
//
// An error without a code is not a refusal but a failure; its text never leaves the process.
package fault

import (
	"errors"
	"fmt"
	"maps"
)

// Code names a cause. Clients and dead letters rely on the texts.
type Code string

// The codes, grouped as their HTTP statuses are.
const (
	InvalidRequest        Code = "invalid_request"
	IdempotencyKeyInvalid Code = "idempotency_key_invalid"
	Unauthenticated       Code = "unauthenticated"
	Forbidden             Code = "forbidden"
	NotFound              Code = "not_found"
	MethodNotAllowed      Code = "method_not_allowed"
	OutOfStock            Code = "out_of_stock"
	DishUnavailable       Code = "dish_unavailable"
	PriceChanged          Code = "price_changed"
	EstablishmentClosed   Code = "establishment_closed"
	BelowMinimum          Code = "below_minimum"
	InvalidTransition     Code = "invalid_transition"
	RequestInProgress     Code = "request_in_progress"
	StockChanged          Code = "stock_changed"
	RedriveLimit          Code = "redrive_limit"
	DeadLetterDiscarded   Code = "dead_letter_discarded"
	PayloadTooLarge       Code = "payload_too_large"
	UnsupportedMediaType  Code = "unsupported_media_type"
	IdempotencyKeyReused  Code = "idempotency_key_reused"
	AccrualConflict       Code = "accrual_conflict"
	TooManyRequests       Code = "too_many_requests"
	Internal              Code = "internal"
	PublishFailed         Code = "publish_failed"
	Unavailable           Code = "unavailable"
	OutcomeUnknown        Code = "outcome_unknown"
)

// Error is a refusal. Detail is for people and safe to show; Fields become members of the problem document; Pointers
// say which parts of the input are wrong.
type Error struct {
	Code     Code
	Detail   string
	Fields   map[string]any
	Pointers []Pointer
	cause    error
}

// Pointer blames one part of the input, by RFC 6901 JSON pointer.
type Pointer struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// New makes a refusal with a formatted detail.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid makes an invalid_request that blames one part of the input.
func Invalid(pointer, format string, args ...any) *Error {
	detail := fmt.Sprintf(format, args...)
	return &Error{Code: InvalidRequest, Detail: detail, Pointers: []Pointer{{pointer, detail}}}
}

// With returns the refusal with a field set.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Fields = map[string]any{}
	maps.Copy(c.Fields, e.Fields)
	c.Fields[name] = value
	return &c
}

// Because returns the refusal with the error that led to it; the cause is for logs only.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

func (e *Error) Error() string {
	text := string(e.Code)
	if len(e.Pointers) == 1 && e.Pointers[0].Pointer != "" {
		text += ": " + e.Pointers[0].Pointer
	}
	text += ": " + e.Detail
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.cause }

// CodeOf is the code of the refusal inside err, or "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
