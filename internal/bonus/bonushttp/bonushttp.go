// Package bonushttp is bonus-service over HTTP: one file per endpoint, the shapes of its bodies in shapes.go. It decodes,
// asks the rules, and encodes; it decides nothing but who sees whose wallet, and what a date without an offset means.
package bonushttp

import (
	"context"

	"kuhnya/internal/auth"
	"kuhnya/internal/bonus"
	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
)

// server answers the endpoints of bonus.
type server struct {
	service *bonus.Service
	read    bonus.Reader
}

// Register adds bonus's endpoints to an API.
func Register(api *httpapi.API, service *bonus.Service, read bonus.Reader) {
	s := server{service, read}
	s.accrueBonus(api)
	s.getWallet(api)
	s.listWalletEntries(api)
	s.listCampaigns(api)
	s.getCampaign(api)
	s.createCampaign(api)
	s.patchCampaign(api)
}

const (
	tagBonuses   = "Bonuses"
	tagCampaigns = "Campaigns"
)

var (
	errNoCampaign = fault.New(fault.NotFound, "no such campaign")
	errNoWallet   = fault.New(fault.NotFound, "no such wallet")
)

// CampaignPath is the part of an input that names a campaign. It is exported because only then are embedded fields read.
type CampaignPath struct {
	ID httpapi.ID `path:"id" doc:"The campaign's id."`
}

// WalletOwner is the part of an input that says whose wallet is meant.
type WalletOwner struct {
	UserID string `query:"user_id" minLength:"1" maxLength:"64" pattern:"^[!-~]+$" patternDescription:"visible ASCII characters" doc:"Whose wallet: an operator must say it, a customer has only their own."`
}

// of is the user whose wallet the caller may read. A customer learns nothing of another's, not even that there is one.
func (in WalletOwner) of(who auth.Identity) (userID string, err error) {
	switch {
	case who.Role == auth.Operator && in.UserID == "":
		return "", fault.Invalid("/user_id", "is required, because an operator has no wallet")
	case who.Role == auth.Operator:
		return in.UserID, nil
	case in.UserID != "" && in.UserID != who.Subject:
		return "", errNoWallet
	}
	return who.Subject, nil
}

// caller is the identity behind a request that the guard let in.
func caller(ctx context.Context) auth.Identity {
	identity, _ := auth.FromContext(ctx)
	return identity
}
