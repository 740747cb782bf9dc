package establishment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/internal/fault"
)

const (
	// publishPatience is how long one press may spend on telling kitchen, waiting for other senders included.
	publishPatience = 3 * time.Second
	// markPatience is how long a sender waits until its marks are stored. They may be stored later still.
	markPatience = 2 * time.Second
)

// publish sends the given step once more, or, if there is none, the unsent steps of the order, and returns those of them
// that the broker acknowledged. A nil error means that it acknowledged all, publish_failed that it did not; any other
// error is the store's.
func (s *Service) publish(ctx context.Context, orderID uuid.UUID, again *Step) (acknowledged []Step, err error) {
	ctx, cancel := context.WithTimeout(ctx, publishPatience)
	defer cancel()
	release, err := s.holdSending(ctx, orderID)
	if err != nil {
		return nil, errNotSent.Because(err)
	}
	defer release()
	if again != nil {
		return nil, notSent(s.send(ctx, *again))
	}
	steps, err := s.store.StepsToSend(ctx, orderID)
	if err != nil {
		return nil, fmt.Errorf("read unsent steps of order %s: %w", orderID, err)
	}
	acknowledged, err = s.sendInOrder(ctx, steps)
	s.markSent(ctx, orderID, acknowledged)
	return acknowledged, notSent(err)
}

var errNotSent = fault.New(fault.PublishFailed, "saved here, not sent yet; pressing again is safe")

func notSent(err error) error {
	if err == nil {
		return nil
	}
	return errNotSent.Because(err)
}

// holdSending keeps a press and the sweep from sending one order's steps at the same time, where the later step could
// arrive first. It does so within this process only: elsewhere kitchen's table refuses what came too early.
func (s *Service) holdSending(ctx context.Context, orderID uuid.UUID) (release func(), err error) {
	for {
		if release, ok := s.sending.Acquire(orderID); ok {
			return release, nil
		}
		if !s.sending.Wait(ctx, orderID) {
			return nil, fmt.Errorf("wait for another sender of order %s: %w", orderID, ctx.Err())
		}
	}
}

// sendInOrder sends each step only after the broker acknowledged the one before, stops at the first that it did not
// acknowledge, and returns those that it did.
func (s *Service) sendInOrder(ctx context.Context, steps []Step) (acknowledged []Step, err error) {
	for i, step := range steps {
		if err := s.send(ctx, step); err != nil {
			return steps[:i], err
		}
	}
	return steps, nil
}

func (s *Service) send(ctx context.Context, step Step) error {
	message, err := s.callbackMessage(step)
	if err != nil {
		return err
	}
	if err := s.publisher.Publish(ctx, message); err != nil {
		return fmt.Errorf("publish %s of order %s: %w", step.Status, step.OrderID, err)
	}
	return nil
}

// markSent notes the acknowledged steps, also when the time for sending is over. Failing to note them is no failure of
// the press: the broker has the steps, the sweep sends them again, and kitchen counts them once.
func (s *Service) markSent(ctx context.Context, orderID uuid.UUID, acknowledged []Step) {
	if len(acknowledged) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markPatience)
	defer cancel()
	eventIDs := make([]uuid.UUID, len(acknowledged))
	for i, step := range acknowledged {
		eventIDs[i] = step.EventID
	}
	if _, err := s.markings.Do(ctx, eventIDs); err != nil {
		s.log.WarnContext(ctx, "sent steps not marked, they will be sent again", "order_id", orderID, "error", err)
	}
}

// markBatch marks the steps of several senders in one transaction. It is batch.Apply.
func (s *Service) markBatch(ctx context.Context, acknowledged [][]uuid.UUID) ([]batch.Outcome[struct{}], error) {
	err := s.store.Write(ctx, func(tx Tx) error {
		now, err := tx.Now()
		if err != nil {
			return fmt.Errorf("read the clock: %w", err)
		}
		if err := tx.MarkSent(slices.Concat(acknowledged...), now); err != nil {
			return fmt.Errorf("mark sent steps: %w", err)
		}
		return nil
	})
	return make([]batch.Outcome[struct{}], len(acknowledged)), err
}
