package httpapi

import (
	"slices"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
)

// Access says who may call an operation. Its zero value says nothing, and [Register] refuses it.
type Access struct {
	stated    bool
	anonymous bool
	roles     []auth.Role // empty: any
}

var (
	// Anyone lets everybody in. A token is optional, but one that is sent must be valid.
	Anyone = Access{stated: true, anonymous: true}
	// SignedIn lets in whoever has a valid token.
	SignedIn = Access{stated: true}
)

// Only lets in valid tokens of the given roles.
func Only(roles ...auth.Role) Access { return Access{stated: true, roles: roles} }

func (a Access) admits(role auth.Role) bool {
	return len(a.roles) == 0 || slices.Contains(a.roles, role)
}

// Operation is what [Register] needs to know beyond the types.
type Operation struct {
	ID           string // unique, kebab case: the name in generated clients
	Method, Path string // the path as in [http.ServeMux], with {name} parameters
	Summary      string
	Description  string // may be empty
	Tags         []string
	Access       Access

	// Success lists the statuses of success. The first is the one of an answer that names none; empty means 200.
	Success []int
	// Codes lists the refusals that this operation may answer beyond those that follow from its form (access, body, path,
	// key) and the 500 and 503 of every operation.
	Codes []fault.Code
	// HonoursKey says that Idempotency-Key is read; otherwise the header is ignored, as it has no meaning there.
	HonoursKey bool
}

// form is what the types say about the requests of an operation.
type form struct {
	body     bool // there may be one
	required bool // there must be one
	path     bool // there are path parameters
	stream   bool // answers with events
}

// codes lists every refusal that the operation may answer.
func (o Operation) codes(f form) []fault.Code {
	list := append([]fault.Code{fault.InvalidRequest, fault.Unauthenticated, fault.Internal, fault.Unavailable}, o.Codes...)
	add := func(when bool, codes ...fault.Code) {
		if when {
			list = append(list, codes...)
		}
	}
	add(len(o.Access.roles) > 0, fault.Forbidden)
	add(f.body, fault.PayloadTooLarge, fault.UnsupportedMediaType)
	add(f.path, fault.NotFound)
	add(o.HonoursKey, fault.IdempotencyKeyInvalid)
	slices.Sort(list)
	return slices.Compact(list)
}

func (o Operation) success() []int {
	if len(o.Success) == 0 {
		return []int{200}
	}
	return o.Success
}
