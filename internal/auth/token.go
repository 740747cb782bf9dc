package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// ErrInvalidToken says that a token can't be trusted. What is wrong with it is for logs, not for its bearer.
var ErrInvalidToken = errors.New("invalid token")

// party is both issuer and audience: tokens are made here for use here.
const party = "kuhnya"

type claims struct {
	jwt.RegisteredClaims
	Role          Role   `json:"role"`
	Establishment string `json:"establishment_id,omitempty"`
}

// Issuer makes tokens. It is safe for concurrent use.
type Issuer struct{ key Key }

// NewIssuer returns an issuer that signs with key.
func NewIssuer(key Key) *Issuer { return &Issuer{key: key} }

// Issue returns a token for a valid identity. Its life is ttl, at least a second, in whole seconds.
func (i *Issuer) Issue(id Identity, ttl time.Duration) (string, error) {
	if err := id.Validate(); err != nil {
		return "", fmt.Errorf("issue token: %w", err)
	}
	if ttl < time.Second {
		return "", fmt.Errorf("issue token: lifetime %s is below a second", ttl)
	}
	now := time.Now()
	c := claims{Role: id.Role, RegisteredClaims: jwt.RegisteredClaims{
		Issuer:    party,
		Audience:  jwt.ClaimStrings{party},
		Subject:   id.Subject,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}}
	if id.EstablishmentID != uuid.Nil {
		c.Establishment = id.EstablishmentID.String()
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(i.key[:])
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return token, nil
}

// Verifier checks tokens. It is safe for concurrent use.
type Verifier struct {
	key    Key
	parser *jwt.Parser
}

// NewVerifier returns a verifier of what an [Issuer] with the same key made.
func NewVerifier(key Key) *Verifier {
	return &Verifier{key: key, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), // a token must not choose how it is checked (RFC 8725, 3.1)
		jwt.WithStrictDecoding(),
		jwt.WithIssuer(party),
		jwt.WithAudience(party),
		jwt.WithExpirationRequired(),
	)}
}

// Verify returns the identity that a token was issued for, or an error that wraps [ErrInvalidToken]. The context is for
// verifiers that must ask somebody; this one asks nobody.
func (v *Verifier) Verify(_ context.Context, token string) (Identity, error) {
	var c claims
	if _, err := v.parser.ParseWithClaims(token, &c, v.secret); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	id, err := c.identity()
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	return id, nil
}

func (v *Verifier) secret(*jwt.Token) (any, error) { return v.key[:], nil }

func (c claims) identity() (Identity, error) {
	id := Identity{Subject: c.Subject, Role: c.Role}
	if c.Establishment != "" {
		est, err := uuid.Parse(c.Establishment)
		if err != nil {
			return Identity{}, err
		}
		id.EstablishmentID = est
	}
	return id, id.Validate()
}
