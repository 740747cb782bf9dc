package batch

import "context"

// Retry is for what is too rare to share a transaction: it runs apply in one of its own, and again while its error is of
// the class [Again] or [Busy] and ctx goes on. It returns the last error as it is.
func Retry(ctx context.Context, classify func(error) Class, apply func() error) error {
	for {
		err := apply()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if class := classify(err); class != Again && class != Busy {
			return err
		}
	}
}
