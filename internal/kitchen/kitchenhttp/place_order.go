package kitchenhttp

import (
	"context"
	"log/slog"
	"net/http"

	"kuhnya/idempotency"
	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/kitchen"
	"kuhnya/internal/money"
	"kuhnya/internal/trace"
)

type placeOrder struct {
	Body struct {
		EstablishmentID httpapi.ID  `json:"establishment_id"`
		Lines           []placeLine `json:"lines" minItems:"1" maxItems:"50"`
		Comment         string      `json:"comment,omitempty" maxLength:"500"`
	}
}

type placeLine struct {
	DishID        httpapi.ID   `json:"dish_id"`
	Quantity      int64        `json:"quantity" minimum:"1" maximum:"100"`
	ExpectedPrice *money.Money `json:"expected_price,omitempty" doc:"Refuse the order if a portion costs anything else."`
}

func (s server) placeOrder(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "place-order", Method: http.MethodPost, Path: "/v1/orders", Tags: []string{tagOrders},
		Summary: "Place an order",
		Description: "With an Idempotency-Key the request may be sent again: the answer is then 200 with the order as it is now. " +
			"The key is the caller's own and lives as long as the order; a refusal leaves it free.",
		Access: httpapi.Only(auth.Customer), Success: []int{201, 200}, HonoursKey: true,
		Codes: []fault.Code{
			fault.OutOfStock, fault.DishUnavailable, fault.PriceChanged, fault.EstablishmentClosed, fault.BelowMinimum,
			fault.RequestInProgress, fault.IdempotencyKeyReused, fault.OutcomeUnknown,
		},
	}, func(ctx context.Context, in *placeOrder) (*httpapi.Replayable[Order], error) {
		placed, err := s.service.Place(ctx, in.command(ctx))
		if err != nil {
			return nil, err
		}
		httpapi.Annotate(ctx, slog.Any("order_id", placed.Order.ID))
		location := "/v1/orders/" + placed.Order.ID.String()
		if placed.Replayed {
			return httpapi.Replay(http.StatusOK, location, showOrder(placed.Order)), nil
		}
		return httpapi.Done(http.StatusCreated, location, showOrder(placed.Order)), nil
	})
}

func (in *placeOrder) command(ctx context.Context) kitchen.PlaceOrder {
	key, _ := httpapi.IdempotencyKey(ctx)
	cmd := kitchen.PlaceOrder{
		UserID: caller(ctx).Subject, EstablishmentID: in.Body.EstablishmentID.UUID(), Comment: in.Body.Comment,
		Lines: make([]kitchen.PlaceLine, len(in.Body.Lines)), Key: idempotency.Key(key), Trace: trace.Parent(ctx),
	}
	for i, line := range in.Body.Lines {
		cmd.Lines[i] = kitchen.PlaceLine{DishID: line.DishID.UUID(), Quantity: line.Quantity, ExpectedPrice: line.ExpectedPrice}
	}
	return cmd
}
