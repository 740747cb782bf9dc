package httpapi

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

const (
	// MaxBody is the largest body that is read, in bytes.
	MaxBody = 64 << 10
	// MaxTime is how long a handler may take before its context ends.
	MaxTime = 10 * time.Second

	bodyTime = 10 * time.Second // from the end of the headers to the end of the body
)

// Register adds an operation. I and O are structs in the manner of huma: I has fields tagged path, query or header and
// may have a Body; O has a Body, mostly by way of [Answer], [Created] or [Replayable].
//
// The handler's context carries the caller ([auth.FromContext]), the key ([IdempotencyKey]) and [RequestID]. It ends
// after [MaxTime] and not earlier when the client goes: a change that was begun must not hang on its client's patience,
// and a client that has only finished sending is still there to read. Errors become problems: a [fault.Error] by its code, anything transient 503,
// the rest 500.
//
// A faulty operation panics, so that no test can miss it.
func Register[I, O any](a *API, op Operation, handler func(ctx context.Context, in *I) (*O, error)) {
	in, out := reflect.TypeFor[I](), reflect.TypeFor[O]()
	f := formOf(op, in, out)
	a.mustBeSound(op, in)
	spec := a.specify(op, f)
	huma.Register(a.huma, spec, func(ctx context.Context, in *I) (*O, error) {
		unlimitReading(ctx)
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), MaxTime)
		defer cancel()
		if about, ok := any(in).(About); ok {
			Annotate(ctx, about.LogAttr())
		}
		out, err := handler(work, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
	completeResponses(op, f, spec.Responses)
}

func formOf(op Operation, in, out reflect.Type) form {
	body, hasBody := in.FieldByName("Body")
	return form{
		body:     hasBody,
		required: hasBody && body.Type.Kind() != reflect.Pointer,
		path:     strings.Contains(op.Path, "{"),
		stream:   out == reflect.TypeFor[EventStream](),
	}
}

func (a *API) mustBeSound(op Operation, in reflect.Type) {
	complain := func(when bool, what string) {
		if when {
			panic(fmt.Sprintf("httpapi: operation %s %s (%s) %s", op.Method, op.Path, op.ID, what))
		}
	}
	complain(op.ID == "", "has no id")
	complain(!op.Access.stated, "does not say who may call it")
	complain(op.HonoursKey && a.config.ParseKey == nil, "honours keys, but nothing parses them")
	complain(holds(in, reflect.TypeFor[uuid.UUID](), map[reflect.Type]bool{}),
		"reads a uuid.UUID, which accepts braces and URNs: use httpapi.ID")
	for i := range in.NumField() {
		complain(in.Field(i).Anonymous && !in.Field(i).IsExported(),
			"embeds "+in.Field(i).Name+", whose fields huma does not see: export the type")
	}
	for _, code := range op.Codes {
		complain(kinds[code] == Kind{}, "answers a code that no kind explains: "+string(code))
	}
}

// holds reports whether a value of type t can contain one of type sought.
func holds(t, sought reflect.Type, seen map[reflect.Type]bool) bool {
	if t == sought {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holds(t.Elem(), sought, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holds(t.Field(i).Type, sought, seen) {
				return true
			}
		}
	}
	return false
}

// specify writes the operation in huma's terms.
func (a *API) specify(op Operation, f form) huma.Operation {
	spec := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path,
		Summary: op.Summary, Description: describeAccess(op), Tags: op.Tags,
		DefaultStatus:   op.success()[0],
		MaxBodyBytes:    MaxBody + 1, // huma refuses the limit itself
		BodyReadTimeout: bodyTime,
		Security:        security(op.Access),
		Middlewares:     huma.Middlewares{a.guard(op, f)},
		Responses:       a.refusals(op.codes(f)),
	}
	if op.HonoursKey {
		spec.Parameters = []*huma.Param{keyParameter()}
	}
	return spec
}
