package bonushttp

import (
	"context"
	"net/http"

	"kuhnya/internal/auth"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

type listWalletEntries struct {
	WalletOwner
	httpapi.Page
}

func (s server) listWalletEntries(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "list-wallet-entries", Method: http.MethodGet, Path: "/v1/wallet/entries", Tags: []string{tagBonuses},
		Summary: "List what made up a wallet, newest first", Access: httpapi.Only(auth.Customer, auth.Operator),
		Codes: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, in *listWalletEntries) (*httpapi.Answer[httpapi.List[WalletEntry]], error) {
		userID, err := in.of(caller(ctx))
		if err != nil {
			return nil, err
		}
		before, _, err := httpapi.DecodeCursor[httpapi.ID](in.Cursor)
		if err != nil {
			return nil, err
		}
		entries, err := s.read.Entries(ctx, userID, before.UUID(), in.Limit+1)
		if err != nil {
			return nil, err
		}
		list, err := httpapi.ListOf(in.Page, entries, showEntry, func(e bonus.WalletEntry) httpapi.ID { return httpapi.ID(e.ID) })
		return httpapi.OK(list), err
	})
}
