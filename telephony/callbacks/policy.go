package callbacks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/phone"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// maxDelays bounds how often quiet hours and intervals move a call further: each does so once, and
// again when the other has.
const maxDelays = 8

// Window is a span of local time every day, HH:MM. One that ends before it begins goes over
// midnight. With both ends the same it is empty.
type Window struct{ From, Until string }

// contains reports whether a local time is in the window, and when the window ends then.
func (w Window) contains(at time.Time, zone *time.Location) (end time.Time, inside bool) {
	if w.From == w.Until {
		return time.Time{}, false
	}
	local := at.In(zone)
	clock := local.Format("15:04")
	year, month, day := local.Date()
	until, err := time.Parse("15:04", w.Until)
	if err != nil { // settings are checked when they are stored
		return time.Time{}, false
	}
	overMidnight := w.From > w.Until
	switch {
	case !overMidnight && (clock < w.From || clock >= w.Until):
		return time.Time{}, false
	case overMidnight && clock < w.From && clock >= w.Until:
		return time.Time{}, false
	case overMidnight && clock >= w.From:
		day++
	}
	end = localtime.Moment(time.Date(year, month, day, until.Hour(), until.Minute(), 0, 0, time.UTC), zone)
	return end, end.After(at)
}

// request is a call that is to be planned or dialed.
type request struct {
	ref    workspaces.Ref
	agent  agents.Agent
	userID string
	number phone.Number
	zone   *time.Location
	at     time.Time
	// callback is not counted among the user's other calls.
	callback ID
	// planned says that the call is being planned, so that others that are planned count too.
	planned      bool
	ignoreLimits bool
}

// refusal is why a call may not be made at any time; nil: it may. Errors: Precondition
// callback-not-allowed.
func (s *Service) refusal(ctx context.Context, db bun.IDB, r request) error {
	settings := r.agent.Config.Callbacks
	if !mayCall(settings, r.number) {
		return errCountry(settings, r.number)
	}
	consent, err := findConsent(ctx, db, r.ref, r.userID)
	switch {
	case err != nil:
		return err
	case consent.RecordedAt.IsZero() && settings.RequireConsent:
		return fault.New(fault.CallbackNotAllowed, "The user has not agreed to be called, which the agent's settings require.")
	case !consent.RecordedAt.IsZero() && !consent.Granted:
		return fault.New(fault.CallbackNotAllowed, "The user has refused to be called.")
	}
	return nil
}

// mayCall reports whether settings allow numbers of a number's country.
func mayCall(settings agents.Callbacks, n phone.Number) bool {
	return len(settings.Countries) == 0 || slices.Contains(settings.Countries, n.Country)
}

func errCountry(settings agents.Callbacks, n phone.Number) error {
	return fault.New(fault.CallbackNotAllowed, "The agent may not call numbers of %s. It may call: %v.", countryName(n), settings.Countries)
}

func countryName(n phone.Number) string {
	if n.Country == "" {
		return "no country"
	}
	return n.Country
}

// earliest is the first time from r.at on at which the user may be called, and why it is not r.at.
func (s *Service) earliest(ctx context.Context, db bun.IDB, r request) (at time.Time, waitsFor string, err error) {
	at = r.at
	if r.ignoreLimits {
		return at, "", nil
	}
	settings := r.agent.Config.Callbacks
	from, until := settings.Quiet()
	for range maxDelays {
		if end, quiet := (Window{from, until}).contains(at, r.zone); quiet {
			at, waitsFor = end, WaitsQuietHours
		}
		next, err := s.afterOthers(ctx, db, r, at, settings.MinInterval())
		if err != nil {
			return time.Time{}, "", err
		}
		if next.Equal(at) {
			return at, waitsFor, nil
		}
		at, waitsFor = next, WaitsInterval
	}
	return at, waitsFor, nil
}

// othersSQL selects the calls of a user that are less than the interval away from a time. A
// callback counts at the time of its last attempt; while a call is planned, one that has no attempt
// yet, or was moved since, counts at the time that it is planned for.
const othersSQL = `
SELECT max(o.at)
FROM (
    SELECT CASE WHEN ? AND cb.status = 'scheduled' AND cb.attempts = 0 THEN cb.due_at ELSE coalesce(cb.dialed_at, cb.at) END AS at
    FROM callbacks AS cb
    WHERE cb.tenant_id = ?
      AND cb.workspace_id = ?
      AND cb.user_id = ?
      AND cb.id <> ?
      AND (cb.dialed_at IS NOT NULL OR cb.status = 'scheduled' AND ?)
) AS o
WHERE o.at > ?
  AND o.at < ?`

// afterOthers is the first time from at on that is far enough from the user's other calls: from
// those that were made, and, while a call is only planned, from planned ones. A call that is due
// does not wait for one that is planned for later, or both would wait for each other.
func (s *Service) afterOthers(ctx context.Context, db bun.IDB, r request, at time.Time, interval time.Duration) (time.Time, error) {
	if interval <= 0 {
		return at, nil
	}
	var last bun.NullTime
	err := db.NewRaw(othersSQL, r.planned, r.ref.TenantID, r.ref.ID, r.userID, r.callback, r.planned, at.Add(-interval), at.Add(interval)).
		Scan(ctx, &last)
	if err != nil {
		return time.Time{}, fmt.Errorf("read a user's other calls: %w", err)
	}
	if last.IsZero() {
		return at, nil
	}
	return last.UTC().Add(interval), nil
}

// check refuses a call at a time at which it is not allowed, and says when it is.
func (s *Service) check(ctx context.Context, db bun.IDB, r request) error {
	if err := s.refusal(ctx, db, r); err != nil {
		return err
	}
	at, waitsFor, err := s.earliest(ctx, db, r)
	if err != nil || at.Equal(r.at) {
		return err
	}
	why := "The user is called at another time that is too near"
	if waitsFor == WaitsQuietHours {
		from, until := r.agent.Config.Callbacks.Quiet()
		why = fmt.Sprintf("Nobody is called between %s and %s in %s", from, until, r.zone)
	}
	when := at.In(r.zone).Truncate(time.Minute)
	if when.Before(at) {
		when = when.Add(time.Minute)
	}
	refused := fault.New(fault.CallbackNotAllowed, "%s. The call is possible from %s on (%s).",
		why, when.Format("Monday, 2 January 2006, 15:04"), when.Format(time.RFC3339))
	refused.Meta = map[string]string{"earliest_at": when.Format(time.RFC3339), "waits_for": waitsFor}
	return refused
}

// Consent says whether a user agrees to be called.
type Consent struct {
	bun.BaseModel `bun:"table:call_consents,alias:cc"`

	TenantID    workspaces.TenantID `bun:"tenant_id,pk"`
	WorkspaceID workspaces.ID       `bun:"workspace_id,pk"`
	UserID      string              `bun:"user_id,pk"`
	Granted     bool                `bun:"granted"`
	Note        string              `bun:"note"`
	// RecordedAt is zero when nothing is recorded.
	RecordedAt time.Time `bun:"recorded_at"`
}

// SetConsent records whether a user agrees to be called.
func (s *Service) SetConsent(ctx context.Context, ref workspaces.Ref, userID string, granted bool, note string) (Consent, error) {
	consent := Consent{
		TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: userID, Granted: granted, Note: note, RecordedAt: s.now(),
	}
	_, err := s.DB.NewInsert().Model(&consent).On("CONFLICT (tenant_id, workspace_id, user_id) DO UPDATE").
		Set("granted = EXCLUDED.granted").Set("note = EXCLUDED.note").Set("recorded_at = EXCLUDED.recorded_at").Exec(ctx)
	if err != nil {
		return Consent{}, fmt.Errorf("record a consent: %w", err)
	}
	return consent, nil
}

// Consent returns what is recorded of a user.
func (s *Service) Consent(ctx context.Context, ref workspaces.Ref, userID string) (Consent, error) {
	return findConsent(ctx, s.DB, ref, userID)
}

func findConsent(ctx context.Context, db bun.IDB, ref workspaces.Ref, userID string) (Consent, error) {
	consent := Consent{TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: userID}
	err := db.NewSelect().Model(&consent).Where("cc.tenant_id = ?", ref.TenantID).Where("cc.workspace_id = ?", ref.ID).
		Where("cc.user_id = ?", userID).Scan(ctx)
	if err != nil && !postgres.NoRows(err) {
		return Consent{}, fmt.Errorf("read a consent: %w", err)
	}
	return consent, nil
}
