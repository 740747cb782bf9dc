package bonushttp

import (
	"context"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

func (s server) getWallet(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "get-wallet", Method: http.MethodGet, Path: "/v1/wallet", Tags: []string{tagBonuses},
		Summary: "Read how many points a user has",
		Description: "The points of an order are there a moment after it was completed. A user without points has a wallet " +
			"with 0.",
		Access: httpapi.Only(auth.Customer, auth.Operator), Codes: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, in *struct{ WalletOwner }) (*httpapi.Answer[Wallet], error) {
		userID, err := in.of(caller(ctx))
		if err != nil {
			return nil, err
		}
		balance, err := s.read.Balance(ctx, userID)
		return httpapi.OK(Wallet{UserID: userID, Balance: balance}), err
	})
}
