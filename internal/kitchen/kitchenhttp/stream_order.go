package kitchenhttp

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
)

// heartbeat is how long a stream is silent at most, and how late a change may be that nobody told of.
const heartbeat = 15 * time.Second

type streamOrder struct {
	OrderPath
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that was received: what came after it is sent. Anything but a seq that this order has had counts as absent."`
}

func (s server) streamOrder(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "stream-order", Method: http.MethodGet, Path: "/v1/orders/{id}/stream", Tags: []string{tagOrders},
		Summary: "Follow an order by server-sent events",
		Description: "Each change is one event `status`, whose id is the order's new `seq` and whose data is the order as it was then. " +
			"The current state comes at once, or with `Last-Event-ID` what was missed, in order and each change once. A comment " +
			"comes every 15 seconds. After a status that is final the stream ends, and coming back with its id is answered by 204.",
		Access: readers, Success: []int{http.StatusOK, http.StatusNoContent},
	}, func(ctx context.Context, in *streamOrder) (*httpapi.EventStream, error) {
		order, err := s.visibleOrder(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		seen := lastSeen(in.LastEventID, order)
		if seen == order.Seq && order.Status.Terminal() {
			return httpapi.StreamEnded(), nil
		}
		return httpapi.Stream(func(ctx context.Context, w *httpapi.EventWriter) error {
			return s.follow(ctx, w, order, seen)
		}), nil
	})
}

// lastSeen reads the seq out of a Last-Event-ID. Without one the client has seen all but the current state.
func lastSeen(id string, order kitchen.Order) int64 {
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil || seq < 1 || seq > order.Seq {
		return order.Seq - 1
	}
	return seq
}

// follow sends every change after the one that was seen until the order can't change any more. It watches before it
// looks, so that nothing falls in between, and looks again with each heartbeat, in case nobody tells.
func (s server) follow(ctx context.Context, w *httpapi.EventWriter, order kitchen.Order, seen int64) error {
	changed, stop := s.changes.Watch(order.ID)
	defer stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		now, err := s.sendAfter(ctx, w, order, seen)
		if err != nil || now.Status.Terminal() {
			return err
		}
		seen = now.Seq
		select {
		case <-changed:
		case <-beat.C:
			if err := w.Heartbeat(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sendAfter sends the changes after the one that was seen, and returns the order as it is now.
func (s server) sendAfter(ctx context.Context, w *httpapi.EventWriter, order kitchen.Order, seen int64) (kitchen.Order, error) {
	events, err := s.read.Events(ctx, order.ID)
	if err != nil {
		return order, err
	}
	for _, e := range events {
		order = order.After(e)
		if e.Seq <= seen {
			continue
		}
		if err := w.Send(strconv.FormatInt(e.Seq, 10), "status", showOrder(order)); err != nil {
			return order, err
		}
	}
	return order, nil
}
