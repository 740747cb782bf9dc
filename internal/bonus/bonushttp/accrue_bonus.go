package bonushttp

import (
	"context"
	"log/slog"
	"net/http"

	"kuhnya/idempotency"
	"kuhnya/internal/auth"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/trace"
)

type accrueBonus struct {
	Body struct {
		UserID     string     `json:"user_id" minLength:"1" maxLength:"64" pattern:"^[!-~]+$" patternDescription:"visible ASCII characters" doc:"Who gets the points: the subject of the customer's tokens. Whether there is such a customer isn't checked." example:"alice"`
		CampaignID httpapi.ID `json:"campaign_id" doc:"A campaign that exists. That its window is open isn't asked of it here."`
		OrderID    httpapi.ID `json:"order_id" doc:"The order that the points are for. Whether there is such an order isn't checked."`
		Points     int64      `json:"points" minimum:"1" maximum:"1000000000000"`
	}
}

// LogAttr implements [httpapi.About].
func (in accrueBonus) LogAttr() slog.Attr { return slog.Any("order_id", in.Body.OrderID) }

func (s server) accrueBonus(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "accrue-bonus", Method: http.MethodPost, Path: "/v1/bonuses", Tags: []string{tagBonuses},
		Summary: "Accrue points to a user for an order by a campaign",
		Description: "There is at most one bonus of a user, a campaign and an order, whoever asks for it and under whatever " +
			"key. With an Idempotency-Key the request may be sent again, and is answered with the status and the body of the " +
			"first answer, byte for byte. Without one, or under another key, asking for a bonus that exists answers 200 with " +
			"it if the points are equal, and 422 `accrual_conflict` if they aren't. While the first request with the same key, " +
			"or for the same user, campaign and order, is being decided, others get 409 `request_in_progress` at once. A key " +
			"is the caller's own and lives as long as its bonus; a refusal leaves it free.",
		Access: httpapi.Only(auth.Service, auth.Operator), Success: []int{201, 200}, HonoursKey: true,
		Codes: []fault.Code{fault.RequestInProgress, fault.IdempotencyKeyReused, fault.AccrualConflict, fault.OutcomeUnknown},
	}, func(ctx context.Context, in *accrueBonus) (*httpapi.Replayable[httpapi.Saved[Bonus]], error) {
		accrued, err := s.service.Accrue(ctx, in.command(ctx))
		if err != nil {
			return nil, err
		}
		body := httpapi.Verbatim[Bonus](accrued.Body)
		if accrued.Repeat {
			return httpapi.Replay(accrued.Status, "", body), nil
		}
		return httpapi.Done(accrued.Status, "", body), nil
	})
}

func (in *accrueBonus) command(ctx context.Context) bonus.Accrue {
	key, _ := httpapi.IdempotencyKey(ctx)
	return bonus.Accrue{
		BusinessKey: bonus.BusinessKey{
			UserID: in.Body.UserID, CampaignID: in.Body.CampaignID.UUID(), OrderID: in.Body.OrderID.UUID(),
		},
		Points: in.Body.Points, Caller: caller(ctx).Actor(), Key: idempotency.Key(key), Trace: trace.Parent(ctx),
	}
}
