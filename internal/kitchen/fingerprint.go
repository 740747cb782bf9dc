package kitchen

import "kuhnya/idempotency"

// fingerprint identifies what the customer asked for, by its decoded members; the key and the customer are its scope
// and not part of it.
func (cmd PlaceOrder) fingerprint() idempotency.Fingerprint {
	f := idempotency.NewFingerprint("place order").String("establishment_id", cmd.EstablishmentID.String())
	f.List("lines", len(cmd.Lines), func(i int, b *idempotency.Builder) {
		line := cmd.Lines[i]
		b.String("dish_id", line.DishID.String()).Int("quantity", line.Quantity)
		if price := line.ExpectedPrice; price != nil {
			b.Int("expected_amount", price.Amount).String("expected_currency", price.Currency)
		}
	})
	if cmd.Comment != "" {
		f.String("comment", cmd.Comment)
	}
	return f.Sum()
}
