package bonus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kuhnya/batch"
	"kuhnya/idempotency"
	"kuhnya/internal/fault"
)

// MaxPoints is the most that one accrual asked for by a client may have.
const MaxPoints = 1_000_000_000_000

// The statuses of answers, as in HTTP.
const (
	statusOK      = 200
	statusCreated = 201
)

// ErrLostKey says that another transaction inserted under the same client key or business key first. The batch runs
// again and finds what that one did.
var ErrLostKey = errors.New("key lost to another transaction")

// Origin says who asked for an accrual.
type Origin string

// The origins of accruals.
const (
	FromAPI   Origin = "api"   // a client, by name
	FromEvent Origin = "event" // the record of a completed order
)

// BusinessKey is what makes two accruals the same, whatever client keys they come under.
type BusinessKey struct {
	UserID     string
	CampaignID uuid.UUID
	OrderID    uuid.UUID
}

// Accrual is points that a user got for an order by a campaign.
type Accrual struct {
	ID uuid.UUID
	BusinessKey
	Points    int64
	Origin    Origin
	CreatedAt time.Time
}

// Answer is what was answered under a client's key, kept as long as its accrual.
type Answer struct {
	CallerKey
	Command   idempotency.Fingerprint
	AccrualID uuid.UUID
	Status    int    // as in HTTP: 201 for the request that accrued, 200 for one that found the accrual
	Body      []byte // the encoded accrual, byte for byte as it was sent
	CreatedAt time.Time
}

// Accrue is the command of a client.
type Accrue struct {
	BusinessKey
	Points int64
	Caller string          // who asks, as in audit trails: "service:erp"
	Key    idempotency.Key // "" for none: then only the business key makes it repeatable
	Trace  string          // traceparent of the request, may be empty
}

// Accrued is the answer to a command. Repeat says that it was not this command that accrued.
type Accrued struct {
	AccrualID uuid.UUID
	Status    int
	Body      []byte
	Repeat    bool
}

// accruing is a command on its way through the batch, with the ids that it will have if it accrues. They are made before
// the transaction, so that a commit without an answer can be looked up.
type accruing struct {
	Accrue
	ids     accrualIDs
	command idempotency.Fingerprint
}

// Accrue accrues points, or returns what was answered before.
//
// While another request with the same client key or the same business key is being decided, and nothing is saved under
// the command's own key, it refuses with request_in_progress at once. The claims behind this are a courtesy; what makes two accruals of one business key impossible is
// the unique index that [AccruingTx.InsertAccruals] meets.
func (s *Service) Accrue(ctx context.Context, cmd Accrue) (Accrued, error) {
	if err := cmd.check(); err != nil {
		return Accrued{}, err
	}
	c := cmd.admitted()
	release, free := s.claim(cmd)
	if !free {
		return s.answerMeanwhile(ctx, c)
	}
	tell := s.logAccrued(ctx, c)
	accrued, err := s.accruals.DoThen(ctx, c, func(o batch.Outcome[Accrued]) {
		release()
		tell(o)
	})
	return accrued, refusal(err)
}

func (cmd Accrue) admitted() accruing {
	return accruing{Accrue: cmd, ids: newIDs(), command: cmd.fingerprint()}
}

func (cmd Accrue) check() error {
	switch {
	case !isUserID(cmd.UserID):
		return fault.Invalid("/user_id", "must be 1 to %d visible ASCII characters", maxUserID)
	case cmd.CampaignID == uuid.Nil:
		return fault.Invalid("/campaign_id", "the nil UUID is no id of a campaign")
	case cmd.OrderID == uuid.Nil:
		return fault.Invalid("/order_id", "the nil UUID is no id of an order")
	case cmd.Points < 1 || cmd.Points > MaxPoints:
		return fault.Invalid("/points", "must be 1 to %d", int64(MaxPoints))
	}
	return nil
}

const maxUserID = 64

func isUserID(id string) bool {
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	return id != "" && len(id) <= maxUserID && !strings.ContainsFunc(id, invisible)
}

func (cmd Accrue) callerKey() CallerKey { return CallerKey{cmd.Caller, cmd.Key} }

// claim claims the business key and the client key, if there is one; both or none.
func (s *Service) claim(cmd Accrue) (release func(), ok bool) {
	releaseBusiness, ok := s.businessKeys.Acquire(cmd.BusinessKey)
	if !ok || cmd.Key == "" {
		return releaseBusiness, ok
	}
	releaseClient, ok := s.clientKeys.Acquire(cmd.callerKey())
	if !ok {
		releaseBusiness()
		return nil, false
	}
	return func() { releaseClient(); releaseBusiness() }, true
}

// answerMeanwhile answers a command one of whose keys is held by another that is being decided. What is saved under its
// own key is final, whatever the other one comes to: so repeats that arrive together don't keep each other out.
func (s *Service) answerMeanwhile(ctx context.Context, c accruing) (Accrued, error) {
	if c.Key != "" {
		saved, found, err := s.store.Answer(ctx, c.callerKey())
		if err != nil {
			return Accrued{}, fmt.Errorf("look up answer: %w", err)
		}
		if found {
			return replay(saved, c)
		}
	}
	return Accrued{}, fault.New(fault.RequestInProgress,
		"a request with this Idempotency-Key, or for this user, campaign and order, is still being decided")
}

// replay answers a command whose key has an answer already: with that answer, byte for byte.
func replay(saved Answer, c accruing) (Accrued, error) {
	if idempotency.Decide(true, saved.Command, c.command) == idempotency.Reused {
		return Accrued{}, fault.New(fault.IdempotencyKeyReused, "this Idempotency-Key stands for another accrual").
			With("original_created_at", saved.CreatedAt)
	}
	return Accrued{AccrualID: saved.AccrualID, Status: saved.Status, Body: saved.Body, Repeat: true}, nil
}

// accrueBatch decides commands in the order of their arrival, in one transaction. It is batch.Apply.
func (s *Service) accrueBatch(ctx context.Context, commands []accruing) (outcomes []batch.Outcome[Accrued], err error) {
	err = s.store.Write(ctx, func(tx Tx) error {
		d, err := s.openGrant(tx, commands)
		if err != nil {
			return err
		}
		outcomes = batch.Each(commands, d.decide)
		return d.save(tx)
	})
	if err == nil {
		s.wake()
	}
	return outcomes, err
}

// grant is one batch of commands being decided over what its transaction read.
type grant struct {
	booking
	now       time.Time
	campaigns map[uuid.UUID]bool
	answers   map[CallerKey]Answer    // that were saved, and that this batch saves
	standing  map[BusinessKey]Accrual // that existed, and that this batch accrues
	saved     []Answer
}

// openGrant only looks keys up; they are locked by the inserts.
func (s *Service) openGrant(tx Tx, commands []accruing) (*grant, error) {
	d := &grant{booking: booking{service: s}}
	var keys []CallerKey
	businessKeys, campaigns := make([]BusinessKey, len(commands)), make([]uuid.UUID, len(commands))
	for i, c := range commands {
		if c.Key != "" {
			keys = append(keys, c.callerKey())
		}
		businessKeys[i], campaigns[i] = c.BusinessKey, c.CampaignID
	}
	var err error
	if d.answers, err = tx.AnswersByKey(keys); err != nil {
		return nil, fmt.Errorf("look up client keys: %w", err)
	}
	if d.standing, err = tx.AccrualsByBusinessKey(businessKeys); err != nil {
		return nil, fmt.Errorf("look up business keys: %w", err)
	}
	if d.campaigns, err = tx.KnownCampaigns(campaigns); err != nil {
		return nil, fmt.Errorf("look up campaigns: %w", err)
	}
	if d.now, err = tx.Now(); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	return d, nil
}

// decide takes the steps of an accrual in their documented order: the client's key, the business key, the campaign.
func (d *grant) decide(c accruing) (Accrued, error) {
	if saved, found := d.answers[c.callerKey()]; found {
		return replay(saved, c)
	}
	if existing, found := d.standing[c.BusinessKey]; found {
		return d.repeat(existing, c)
	}
	if !d.campaigns[c.CampaignID] {
		return Accrued{}, fault.Invalid("/campaign_id", "no such campaign")
	}
	return d.accrue(c)
}

// repeat answers a command that means an accrual which exists, under whatever key. Its own key, if it has one, stands for
// that answer from now on.
func (d *grant) repeat(existing Accrual, c accruing) (Accrued, error) {
	if existing.Points != c.Points {
		return Accrued{}, fault.New(fault.AccrualConflict, "this user has other points for this campaign and order already").
			With("accrual_id", existing.ID).With("points", existing.Points)
	}
	body, err := d.service.encode(existing)
	if err != nil {
		return Accrued{}, fmt.Errorf("encode accrual %s: %w", existing.ID, err)
	}
	answered := d.answer(c, Accrued{AccrualID: existing.ID, Status: statusOK, Body: body})
	answered.Repeat = true
	return answered, nil
}

// accrue books a new accrual with the answer that shows it.
func (d *grant) accrue(c accruing) (Accrued, error) {
	a := Accrual{ID: c.ids.accrual, BusinessKey: c.BusinessKey, Points: c.Points, Origin: FromAPI, CreatedAt: d.now}
	body, err := d.service.encode(a)
	if err != nil {
		return Accrued{}, fmt.Errorf("encode accrual %s: %w", a.ID, err)
	}
	if err := d.add(a, c.ids, c.Trace); err != nil {
		return Accrued{}, err
	}
	d.standing[a.BusinessKey] = a
	return d.answer(c, Accrued{AccrualID: a.ID, Status: statusCreated, Body: body}), nil
}

// answer saves an answer under the command's key, if it has one.
func (d *grant) answer(c accruing, answered Accrued) Accrued {
	if c.Key != "" {
		saved := Answer{
			CallerKey: c.callerKey(), Command: c.command, AccrualID: answered.AccrualID, Status: answered.Status,
			Body: answered.Body, CreatedAt: d.now,
		}
		d.answers[saved.CallerKey] = saved
		d.saved = append(d.saved, saved)
	}
	return answered
}

// save takes the keys and writes what they stand for, all in one transaction: a key without its effect, or an effect
// without its key, never exists.
func (d *grant) save(tx Tx) error {
	if err := d.takeBusinessKeys(tx); err != nil {
		return err
	}
	if err := d.takeClientKeys(tx); err != nil {
		return err
	}
	return d.post(tx)
}

// takeClientKeys saves the answers. The unique index has the last word about client keys, as it has about business keys.
func (d *grant) takeClientKeys(tx Tx) error {
	if len(d.saved) == 0 {
		return nil
	}
	taken, err := tx.InsertAnswers(byCallerKey(d.saved))
	if err != nil {
		return fmt.Errorf("save %d answers: %w", len(d.saved), err)
	}
	if len(taken) < len(d.saved) {
		return ErrLostKey
	}
	return nil
}

// byCallerKey sorts answers so that two batches with the same keys insert them in the same order and can't deadlock.
func byCallerKey(answers []Answer) []Answer {
	return slices.SortedFunc(slices.Values(answers), func(a, b Answer) int {
		return cmp.Or(strings.Compare(a.Caller, b.Caller), cmp.Compare(a.Key, b.Key))
	})
}
