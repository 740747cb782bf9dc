package e2e

import "time"

// The bodies of the API as far as the tests look at them.

type money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

func rub(amount int64) money { return money{amount, "RUB"} }

type list[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor"`
}

type dish struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Price     money  `json:"price"`
	Stock     *int64 `json:"stock"`
	Available bool   `json:"available"`
}

type line struct {
	DishID    string `json:"dish_id"`
	Name      string `json:"name"`
	Quantity  int64  `json:"quantity"`
	UnitPrice money  `json:"unit_price"`
	Total     money  `json:"total"`
}

type order struct {
	ID              string    `json:"id"`
	Code            string    `json:"code"`
	UserID          string    `json:"user_id"`
	EstablishmentID string    `json:"establishment_id"`
	Status          string    `json:"status"`
	Reason          string    `json:"reason"`
	Lines           []line    `json:"lines"`
	Total           money     `json:"total"`
	Comment         string    `json:"comment"`
	Seq             int64     `json:"seq"`
	AcceptDeadline  time.Time `json:"accept_deadline"`
}

type event struct {
	Seq            int64   `json:"seq"`
	From           *string `json:"from"`
	To             string  `json:"to"`
	Actor          string  `json:"actor"`
	Reason         string  `json:"reason"`
	IdempotencyKey *string `json:"idempotency_key"`
	Deliveries     int64   `json:"deliveries"`
}

type ticket struct {
	OrderID         string `json:"order_id"`
	Code            string `json:"code"`
	EstablishmentID string `json:"establishment_id"`
	Status          string `json:"status"`
	Reason          string `json:"reason"`
	Lines           []line `json:"lines"`
	Comment         string `json:"comment"`
	Total           money  `json:"total"`
	Published       bool   `json:"published"`
}

// bonus is an accrual.
type bonus struct {
	ID         string    `json:"id"`
	UserID     string    `json:"user_id"`
	CampaignID string    `json:"campaign_id"`
	OrderID    string    `json:"order_id"`
	Points     int64     `json:"points"`
	Origin     string    `json:"origin"`
	CreatedAt  time.Time `json:"created_at"`
}

type wallet struct {
	UserID  string `json:"user_id"`
	Balance int64  `json:"balance"`
}

type walletEntry struct {
	ID         string    `json:"id"`
	Amount     int64     `json:"amount"`
	AccrualID  string    `json:"accrual_id"`
	CampaignID string    `json:"campaign_id"`
	OrderID    string    `json:"order_id"`
	Origin     string    `json:"origin"`
	CreatedAt  time.Time `json:"created_at"`
}

type campaign struct {
	ID              string     `json:"id"`
	Name            string     `json:"name"`
	Kind            string     `json:"kind"`
	Value           int64      `json:"value"`
	MinOrder        int64      `json:"min_order"`
	CapPerOrder     int64      `json:"cap_per_order"`
	Timezone        string     `json:"timezone"`
	StartsAt        time.Time  `json:"starts_at"`
	EndsAt          *time.Time `json:"ends_at"`
	EstablishmentID *string    `json:"establishment_id"`
	Active          bool       `json:"active"`
	Version         int64      `json:"version"`
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       time.Time  `json:"updated_at"`
}

// bonusRequest asks for points.
type bonusRequest struct {
	UserID     string `json:"user_id"`
	CampaignID string `json:"campaign_id"`
	OrderID    string `json:"order_id"`
	Points     int64  `json:"points"`
}

type problem struct {
	Type      string `json:"type"`
	Status    int    `json:"status"`
	Code      string `json:"code"`
	Retryable bool   `json:"retryable"`
	Errors    []struct {
		Pointer string `json:"pointer"`
	} `json:"errors"`

	DishID string  `json:"dish_id"` // with out_of_stock
	Left   *int64  `json:"left"`    // with out_of_stock
	Ticket *ticket `json:"ticket"`  // with publish_failed
}

type orderRequest struct {
	EstablishmentID string      `json:"establishment_id"`
	Lines           []orderLine `json:"lines"`
	Comment         string      `json:"comment,omitempty"`
}

type orderLine struct {
	DishID   string `json:"dish_id"`
	Quantity int64  `json:"quantity"`
}

type menuDish struct {
	ExternalID   string `json:"external_id"`
	Name         string `json:"name"`
	Price        money  `json:"price"`
	InitialStock *int64 `json:"initial_stock,omitempty"`
}

// counted is a dish with so many portions; uncounted has always enough.
func counted(name string, stock int64) menuDish {
	return menuDish{ExternalID: name, Name: name, Price: rub(450_00), InitialStock: &stock}
}

func uncounted(name string) menuDish {
	return menuDish{ExternalID: name, Name: name, Price: rub(90_00)}
}
