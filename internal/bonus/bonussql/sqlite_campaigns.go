package bonussql

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kuhnya/idempotency"
	"kuhnya/internal/bonus"
	"kuhnya/internal/database"
)

const termsColumns = `v.name, v.kind, v.value, v.min_order, v.cap_per_order, v.timezone, v.starts_at, v.ends_at, v.establishment_id, v.active`

// scanTerms reads termsColumns from column i on.
func scanTerms(r database.Row, i int) bonus.Terms {
	terms := bonus.Terms{
		Name: r.Text(i), Kind: bonus.Kind(r.Text(i + 1)), Value: r.Int(i + 2), MinOrder: r.Int(i + 3),
		CapPerOrder: r.Int(i + 4), Timezone: r.Text(i + 5), StartsAt: r.Time(i + 6), Active: r.Bool(i + 9),
	}
	if !r.Null(i + 7) {
		terms.EndsAt = new(r.Time(i + 7))
	}
	if !r.Null(i + 8) {
		terms.EstablishmentID = new(r.UUID(i + 8))
	}
	return terms
}

// newest is each campaign with its newest version.
const newest = `SELECT c.id, v.version, c.created_at, v.valid_from, c.creator, coalesce(c.idempotency_key, ''), c.command_fingerprint, ` +
	termsColumns + ` FROM campaigns c JOIN campaign_versions v ON v.campaign_id = c.id
	AND v.version = (SELECT max(version) FROM campaign_versions WHERE campaign_id = c.id)`

func scanCampaign(r database.Row) (c bonus.Campaign, err error) {
	c = bonus.Campaign{
		ID: r.UUID(0), Version: r.Int(1), CreatedAt: r.Time(2), UpdatedAt: r.Time(3), Creator: r.Text(4),
		Key: idempotency.Key(r.Text(5)), Terms: scanTerms(r, 7),
	}
	if !r.Null(6) {
		c.Command, err = idempotency.ParseFingerprint(r.Blob(6))
	}
	return c, err
}

func oneCampaign(c *database.Conn, query string, args ...any) (campaign bonus.Campaign, found bool, err error) {
	err = c.Query(query, func(r database.Row) (err error) {
		found = true
		campaign, err = scanCampaign(r)
		return err
	}, args...)
	return campaign, found, err
}

// CampaignByKey implements [bonus.CampaignTx].
func (t sqliteTx) CampaignByKey(key bonus.CallerKey) (bonus.Campaign, bool, error) {
	return oneCampaign(t.Conn, newest+` WHERE c.creator = ? AND c.idempotency_key = ?`, key.Caller, string(key.Key))
}

// LockCampaign implements [bonus.CampaignTx].
func (t sqliteTx) LockCampaign(id uuid.UUID) (bonus.Campaign, bool, error) {
	return oneCampaign(t.Conn, newest+` WHERE c.id = ?`, id)
}

// KnownCampaigns implements [bonus.AccruingTx].
func (t sqliteTx) KnownCampaigns(ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	known := map[uuid.UUID]bool{}
	for _, id := range ids {
		err := t.Query(`SELECT 1 FROM campaigns WHERE id = ?`, func(database.Row) error {
			known[id] = true
			return nil
		}, id)
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// InsertCampaign implements [bonus.CampaignTx].
func (t sqliteTx) InsertCampaign(c bonus.Campaign) (inserted bool, err error) {
	var key, command any
	if c.Key != "" {
		key, command = string(c.Key), c.Command.Bytes()
	}
	err = t.Exec(`INSERT INTO campaigns (id, creator, idempotency_key, command_fingerprint, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, c.ID, c.Creator, key, command, c.CreatedAt)
	if err != nil || t.Changed() == 0 {
		return false, err
	}
	return true, t.InsertVersion(bonus.Version{CampaignID: c.ID, No: c.Version, Terms: c.Terms, ValidFrom: c.UpdatedAt})
}

// InsertVersion implements [bonus.CampaignTx].
func (t sqliteTx) InsertVersion(v bonus.Version) error {
	var place any
	if v.EstablishmentID != nil {
		place = *v.EstablishmentID
	}
	return t.Exec(`INSERT INTO campaign_versions (campaign_id, version, name, kind, value, min_order, cap_per_order, timezone,
			starts_at, ends_at, establishment_id, active, valid_from) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		v.CampaignID, v.No, v.Name, string(v.Kind), v.Value, v.MinOrder, v.CapPerOrder, v.Timezone,
		v.StartsAt, v.EndsAt, place, v.Active, v.ValidFrom)
}

// Versions implements [bonus.EvaluatingTx].
func (t sqliteTx) Versions(from, until time.Time) (versions []bonus.Version, err error) {
	err = t.Query(`SELECT v.campaign_id, v.version, v.valid_from, `+termsColumns+`
		FROM campaigns c CROSS JOIN campaign_versions v ON v.campaign_id = c.id AND v.valid_from <= ? AND v.valid_from >= coalesce(
			(SELECT max(valid_from) FROM campaign_versions WHERE campaign_id = c.id AND valid_from <= ?), v.valid_from)`,
		func(r database.Row) error {
			versions = append(versions, bonus.Version{
				CampaignID: r.UUID(0), No: r.Int(1), ValidFrom: r.Time(2), Terms: scanTerms(r, 3),
			})
			return nil
		}, until, from)
	return versions, err
}

// Campaign implements [bonus.Reader].
func (s SQLite) Campaign(ctx context.Context, id uuid.UUID) (campaign bonus.Campaign, found bool, err error) {
	err = s.db.Read(ctx, func(c *database.Conn) (err error) {
		campaign, found, err = oneCampaign(c, newest+` WHERE c.id = ?`, id)
		return err
	})
	return campaign, found, err
}

// Campaigns implements [bonus.Reader].
func (s SQLite) Campaigns(ctx context.Context, before uuid.UUID, limit int) (campaigns []bonus.Campaign, err error) {
	if before == uuid.Nil {
		before = uuid.Max
	}
	err = s.db.Read(ctx, func(c *database.Conn) error {
		return c.Query(newest+` WHERE c.id < ? ORDER BY c.id DESC LIMIT ?`, func(r database.Row) error {
			campaign, err := scanCampaign(r)
			campaigns = append(campaigns, campaign)
			return err
		}, before, limit)
	})
	return campaigns, err
}
