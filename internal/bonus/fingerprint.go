package bonus

import "kuhnya/idempotency"

// fingerprint identifies what the client asked for, by its decoded members; the key and the caller are its scope and not
// part of it, and neither is the trace, which differs between two tries.
func (cmd Accrue) fingerprint() idempotency.Fingerprint {
	return idempotency.NewFingerprint("accrue").
		String("user_id", cmd.UserID).
		String("campaign_id", cmd.CampaignID.String()).
		String("order_id", cmd.OrderID.String()).
		Int("points", cmd.Points).
		Sum()
}

// fingerprint identifies the campaign that the operator asked for. A new id, made for the command, is not part of it.
func (cmd CreateCampaign) fingerprint() idempotency.Fingerprint {
	t := cmd.Terms
	f := idempotency.NewFingerprint("create campaign").
		String("name", t.Name).String("kind", string(t.Kind)).Int("value", t.Value).
		Int("min_order", t.MinOrder).Int("cap_per_order", t.CapPerOrder).
		String("timezone", t.Timezone)
	if !t.StartsAt.IsZero() {
		f.Int("starts_at", t.StartsAt.UnixMicro())
	}
	if t.EndsAt != nil {
		f.Int("ends_at", t.EndsAt.UnixMicro())
	}
	if t.EstablishmentID != nil {
		f.String("establishment_id", t.EstablishmentID.String())
	}
	return f.Bool("active", t.Active).Sum()
}
