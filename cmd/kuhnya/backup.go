package main

import (
	"context"

	"kuhnya/internal/app"
)

type backupCmd struct {
	dataFlag
	Folder string `arg:"" type:"path" help:"Folder to make. It becomes a data folder, as it was at one moment."`
}

// Run copies the data folder while its processes run.
func (c *backupCmd) Run(ctx context.Context) error {
	return setup(app.Backup(ctx, c.Data, c.Folder))
}
