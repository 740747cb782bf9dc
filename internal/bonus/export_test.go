package bonus

import (
	"context"

	"kuhnya/batch"
)

// AccrueUnclaimed has commands decided in one batch, in order, with no claims in front of it.
func (s *Service) AccrueUnclaimed(ctx context.Context, commands ...Accrue) []batch.Outcome[Accrued] {
	admitted := make([]accruing, len(commands))
	for i, cmd := range commands {
		admitted[i] = cmd.admitted()
	}
	return s.accruals.DoAll(ctx, admitted)
}
