package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"kuhnya/internal/fault"
)

var (
	errShape    = fault.New(fault.InvalidRequest, "The request is not valid; see errors.")
	errBody     = fault.New(fault.InvalidRequest, "The body is missing, or did not arrive whole and in time.")
	errTooLarge = fault.New(fault.PayloadTooLarge, "The body is larger than 64 KiB.")
	errMedia    = fault.New(fault.UnsupportedMediaType, "Send exactly one Content-Type line: application/json, in UTF-8.")
)

// translate turns what huma finds wrong with a request into a problem. huma's own document would repeat the whole body.
func translate(hc huma.Context, status int, _ string, errs ...error) huma.StatusError {
	ctx := context.Background()
	if hc != nil {
		ctx = hc.Context()
	}
	return newProblem(ctx, diagnose(status, errs))
}

func diagnose(status int, errs []error) *fault.Error {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return errTooLarge
	case http.StatusUnsupportedMediaType:
		return errMedia
	}
	f := *errShape
	for _, err := range errs {
		var d *huma.ErrorDetail
		if !errors.As(err, &d) {
			continue // huma gives a reason without a location only for a body that it could not read
		}
		if strings.HasPrefix(d.Location, "path.") {
			return errNotFound // an id that can't exist names a thing that doesn't
		}
		f.Pointers = append(f.Pointers, pointer(d))
	}
	if len(f.Pointers) == 0 {
		return errBody
	}
	return &f
}

// pointer drops the value that huma would show and says where a missing member was expected.
func pointer(d *huma.ErrorDetail) fault.Pointer {
	if at, detail, ok := strings.Cut(d.Message, located); ok {
		return fault.Pointer{Pointer: at, Detail: detail}
	}
	at := pointerOf(d.Location)
	if name, ok := missingMember(d.Message); ok {
		return fault.Pointer{Pointer: at + pointerOf("."+name), Detail: "is required"}
	}
	return fault.Pointer{Pointer: at, Detail: d.Message}
}

func missingMember(message string) (name string, ok bool) {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	name, ok = strings.CutPrefix(message, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, after)
}
