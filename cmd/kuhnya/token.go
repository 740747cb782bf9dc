package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"kuhnya/internal/auth"
)

type tokenCmd struct {
	dataFlag
	Subject       string        `required:"" help:"Who the token stands for: 1 to 64 visible ASCII characters."`
	Role          string        `required:"" enum:"customer,staff,operator,service" help:"customer, staff, operator or service."`
	Establishment string        `placeholder:"UUID" help:"Where staff work; needed with --role staff."`
	TTL           time.Duration `default:"12h" help:"How long the token is valid (${default})."`
}

// Run prints the token and nothing else.
func (c *tokenCmd) Run(stdout io.Writer) error {
	identity := auth.Identity{Subject: c.Subject, Role: auth.Role(c.Role)}
	if c.Establishment != "" {
		id, err := uuid.Parse(c.Establishment)
		if err != nil {
			return setup(fmt.Errorf("--establishment: %w", err))
		}
		identity.EstablishmentID = id
	}
	if err := identity.Validate(); err != nil {
		return setup(err)
	}
	if c.TTL < time.Second {
		return setup(fmt.Errorf("--ttl %s: must be at least a second", c.TTL))
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return setup(fmt.Errorf("data folder: %w", err))
	}
	key, err := auth.LoadOrCreateKey(c.Data)
	if err != nil {
		return setup(fmt.Errorf("signing key: %w", err))
	}
	token, err := auth.NewIssuer(key).Issue(identity, c.TTL)
	if err != nil {
		return setup(err)
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}
