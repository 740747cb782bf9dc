package bonushttp

import (
	"time"

	"kuhnya/internal/bonus"
	"kuhnya/internal/httpapi"
)

// Bonus is an accrual as clients see it.
type Bonus struct {
	ID         httpapi.ID   `json:"id"`
	UserID     string       `json:"user_id"`
	CampaignID httpapi.ID   `json:"campaign_id"`
	OrderID    httpapi.ID   `json:"order_id"`
	Points     int64        `json:"points"`
	Origin     bonus.Origin `json:"origin" enum:"api,event" doc:"api: a request asked for it. event: a completed order earned it."`
	CreatedAt  time.Time    `json:"created_at"`
}

// Encode returns the body that shows an accrual, as it is saved with the accrual and sent whenever that is asked for
// again.
func Encode(a bonus.Accrual) ([]byte, error) { return httpapi.Encode(showBonus(a)) }

func showBonus(a bonus.Accrual) Bonus {
	return Bonus{
		ID: httpapi.ID(a.ID), UserID: a.UserID, CampaignID: httpapi.ID(a.CampaignID), OrderID: httpapi.ID(a.OrderID),
		Points: a.Points, Origin: a.Origin, CreatedAt: a.CreatedAt,
	}
}

// Wallet is what a user has.
type Wallet struct {
	UserID  string `json:"user_id"`
	Balance int64  `json:"balance" doc:"In points: the sum of all entries."`
}

// WalletEntry is a movement of a wallet.
type WalletEntry struct {
	ID         httpapi.ID   `json:"id"`
	Amount     int64        `json:"amount" doc:"In points."`
	AccrualID  httpapi.ID   `json:"accrual_id" doc:"The bonus behind it."`
	CampaignID httpapi.ID   `json:"campaign_id"`
	OrderID    httpapi.ID   `json:"order_id"`
	Origin     bonus.Origin `json:"origin" enum:"api,event" doc:"api: a request asked for it. event: the completed order earned it."`
	CreatedAt  time.Time    `json:"created_at"`
}

func showEntry(e bonus.WalletEntry) WalletEntry {
	return WalletEntry{
		ID: httpapi.ID(e.ID), Amount: e.Amount, AccrualID: httpapi.ID(e.Accrual.ID), CampaignID: httpapi.ID(e.CampaignID),
		OrderID: httpapi.ID(e.OrderID), Origin: e.Origin, CreatedAt: e.CreatedAt,
	}
}

// Campaign is a campaign as clients see it, with the terms that are in force now.
type Campaign struct {
	ID              httpapi.ID  `json:"id"`
	Name            string      `json:"name"`
	Kind            bonus.Kind  `json:"kind" enum:"percent,fixed"`
	Value           int64       `json:"value" doc:"With percent: basis points of the order's total. With fixed: points for each order."`
	MinOrder        int64       `json:"min_order" doc:"Smallest total that earns points, in minor units of the order's currency; 0: none."`
	CapPerOrder     int64       `json:"cap_per_order" doc:"Most points that one order earns; 0: no cap."`
	Timezone        string      `json:"timezone" doc:"IANA name: where the campaign's days begin and end."`
	StartsAt        time.Time   `json:"starts_at" doc:"The first moment at which orders may be placed."`
	EndsAt          *time.Time  `json:"ends_at,omitempty" doc:"The first moment that is too late; absent: open."`
	EstablishmentID *httpapi.ID `json:"establishment_id,omitempty" doc:"The only establishment whose orders count; absent: those of all."`
	Active          bool        `json:"active"`
	Version         int64       `json:"version" doc:"Grows by one with each change."`
	CreatedAt       time.Time   `json:"created_at"`
	UpdatedAt       time.Time   `json:"updated_at" doc:"Since when these terms have been in force."`
}

func showCampaign(c bonus.Campaign) Campaign {
	return Campaign{
		ID: httpapi.ID(c.ID), Name: c.Name, Kind: c.Kind, Value: c.Value, MinOrder: c.MinOrder, CapPerOrder: c.CapPerOrder,
		Timezone: c.Timezone, StartsAt: c.StartsAt, EndsAt: c.EndsAt, EstablishmentID: (*httpapi.ID)(c.EstablishmentID),
		Active: c.Active, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}
