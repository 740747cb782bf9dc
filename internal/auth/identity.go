// Package auth says who is calling: an [Identity] with one role, carried in a signed bearer token.
//
// Tokens are HS256 JWTs signed by a key in the data folder, which every process that shares the folder shares. This is
// demo authentication: whoever may run `kuhnya token` may be anybody, so it belongs on a loopback address. Guarantee: an
// [Identity] that comes out of [Verifier.Verify] was put in by [Issuer.Issue] under the same key, has not expired, and
// is well-formed.
//
// Failure model: a token that can't be trusted is [ErrInvalidToken] whatever its fault. A lost key file ends all
// sessions and harms nothing else.
//
// What this package does not do: it knows no HTTP and revokes nothing. What an identity may touch (its own orders, its
// own establishment) is decided by each service. Consumers name the one method of [Verifier] that they need, so that an
// OpenID Connect verifier can take its place.
package auth

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Role is what a caller is.
type Role string

// The roles. A service is a machine that reports on behalf of establishments.
const (
	Customer Role = "customer"
	Staff    Role = "staff"
	Operator Role = "operator"
	Service  Role = "service"
)

const maxSubject = 64

// Identity is an authenticated caller.
type Identity struct {
	// Subject names the caller: 1 to 64 visible ASCII characters. For customers it is the user id.
	Subject string
	Role    Role
	// EstablishmentID is where staff work; uuid.Nil for every other role.
	EstablishmentID uuid.UUID
}

// Actor names the caller in audit trails, such as "customer:alice".
func (id Identity) Actor() string {
	return string(id.Role) + ":" + id.Subject
}

// Validate says what is wrong with an identity, or nil.
func (id Identity) Validate() error {
	if !validSubject(id.Subject) {
		return errors.New("subject must be 1 to 64 visible ASCII characters")
	}
	switch id.Role {
	case Customer, Operator, Service:
		if id.EstablishmentID != uuid.Nil {
			return fmt.Errorf("role %s has no establishment", id.Role)
		}
	case Staff:
		if id.EstablishmentID == uuid.Nil {
			return errors.New("role staff needs an establishment")
		}
	default:
		return errors.New("role must be customer, staff, operator or service")
	}
	return nil
}

func validSubject(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return 0 < len(s) && len(s) <= maxSubject
}
