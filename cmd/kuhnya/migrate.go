package main

import (
	"context"

	"kuhnya/internal/app"
)

type migrateCmd struct{ dataFlag }

// Run brings every database of the data folder to this program's version.
func (c *migrateCmd) Run(ctx context.Context) error {
	return setup(app.Migrate(ctx, c.Data))
}
