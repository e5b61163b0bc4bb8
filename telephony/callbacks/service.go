package callbacks

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/phone"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// Deps is what a Service works with; all but Log and Now are required.
type Deps struct {
	DB         *postgres.DB
	Workspaces *workspaces.Service
	Agents     *agents.Service
	Calls      *telephony.Service
	// Log gets errors that no caller sees; nil discards them.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Service plans callbacks and dials them. It is safe for concurrent use.
type Service struct {
	Deps
}

// New returns a Service, which is told by Calls how calls go.
func New(d Deps) *Service {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	s := &Service{d}
	d.Calls.OnAnswer(s.answered)
	d.Calls.OnEnd(s.ended)
	return s
}

// now is the time as Postgres stores it.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// CreateParams describe a callback.
type CreateParams struct {
	AgentID agents.ID
	UserID  string
	// PhoneNumber has its country's code.
	PhoneNumber string
	// At is RFC 3339 or a local time in Timezone; InMinutes is from now on. Neither: now.
	At        string
	InMinutes int
	// Timezone is an IANA name; empty is that of the number where it has one only, else UTC.
	Timezone         string
	Reason           string
	DynamicVariables map[string]string
	// IgnoreLimits calls in quiet hours, and soon after another call.
	IgnoreLimits bool
	// CreatedBy is ByAgent or ByOperator, OriginSessionID the session of an agent.
	CreatedBy       string
	OriginSessionID string
}

// Create plans a callback. Errors: NotFound (the agent), Precondition provider-not-configured,
// QuotaExceeded quota-exceeded-usage (of the month of the call), Precondition callback-not-allowed,
// Invalid invalid-request.
func (s *Service) Create(ctx context.Context, ref workspaces.Ref, p CreateParams) (Callback, error) {
	agent, err := s.Agents.Get(ctx, ref, p.AgentID)
	if err != nil {
		return Callback{}, err
	}
	now := s.now()
	r, err := s.read(ref, agent, p, now)
	if err != nil {
		return Callback{}, err
	}
	if _, _, err := s.Calls.Outbound(ctx, ref, agent); err != nil {
		return Callback{}, err
	}
	if err := s.Calls.Admit(ctx, ref, r.at); err != nil {
		return Callback{}, err
	}
	callback := Callback{
		ID: ID(idgen.In(ctx, idgen.Callback)), TenantID: ref.TenantID, WorkspaceID: ref.ID, AgentID: agent.ID, UserID: p.UserID,
		PhoneNumber: r.number.E164, Timezone: r.zone.String(), Reason: p.Reason, Status: Scheduled, CreatedBy: p.CreatedBy,
		OriginSessionID: p.OriginSessionID, IgnoreLimits: p.IgnoreLimits, DynamicVariables: p.DynamicVariables,
		At: r.at, DueAt: r.at, CreatedAt: now, UpdatedAt: now,
	}
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if made, err := find(ctx, tx, ref, callback.ID, ""); err == nil { // the request is repeated
			callback = made
			return nil
		}
		if err := lockUser(ctx, tx, ref, p.UserID); err != nil {
			return err
		}
		if err := s.check(ctx, tx, r); err != nil {
			return err
		}
		return insert(ctx, tx, &callback)
	})
	return callback, err
}

// read checks the parameters of a callback.
func (s *Service) read(ref workspaces.Ref, agent agents.Agent, p CreateParams, now time.Time) (request, error) {
	r := request{ref: ref, agent: agent, userID: p.UserID, planned: true, ignoreLimits: p.IgnoreLimits}
	var wrong violations
	var err error
	r.number, r.zone, err = readNumber(p.PhoneNumber, p.Timezone)
	wrong.add("", err)
	wrong.add("", checkTexts(p.UserID, p.Reason))
	wrong.add("", sessions.CheckVariables(p.DynamicVariables))
	wrong.add("", checkSecrets(p.DynamicVariables))
	if r.zone != nil {
		r.at, err = readTime(p.At, p.InMinutes, r.zone, now)
		wrong.add("", err)
	}
	if err := wrong.err(); err != nil {
		return request{}, err
	}
	return r, nil
}

// readNumber reads a number and the time zone of who has it. The error names both if both are bad;
// a number that is not is returned with it.
func readNumber(text, timezone string) (phone.Number, *time.Location, error) {
	var wrong violations
	number, ok := phone.Parse(text)
	if !ok {
		wrong.add("", fault.InvalidField("phone_number", "phone_number", "%s", telephony.BadNumber))
	}
	if timezone == "" {
		timezone = "UTC"
		if len(number.Zones) == 1 {
			timezone = number.Zones[0]
		}
	}
	zone, known := localtime.Zone(timezone)
	if !known {
		wrong.add("", fault.InvalidField("timezone", "timezone", "timezone must be an IANA time zone, e.g. Europe/Berlin."))
	}
	if err := wrong.err(); err != nil {
		return number, nil, err
	}
	return number, zone, nil
}

// readTime reads when to call. A time that has just passed is now. Nothing is not: a program that
// has lost the time would call at once.
func readTime(text string, inMinutes int, zone *time.Location, now time.Time) (time.Time, error) {
	at := now
	switch {
	case text != "" && inMinutes != 0:
		return time.Time{}, fault.InvalidField("in_minutes", "exclusive", "Give either at or in_minutes.")
	case inMinutes != 0:
		at = now.Add(time.Duration(inMinutes) * time.Minute)
	case text == "":
		return time.Time{}, fault.InvalidField("at", "required", "Say when to call: at is a time, or now; or give in_minutes.")
	case text != "now":
		parsed, ok := localtime.Parse(text, zone)
		if !ok {
			return time.Time{}, fault.InvalidField("at", "time",
				"at must be a time such as 2026-12-01T09:00:00+01:00, or 2026-12-01T09:00 in timezone.")
		}
		at = parsed
	}
	at = at.UTC().Truncate(time.Microsecond)
	switch {
	case at.Before(now.Add(-time.Minute)):
		return time.Time{}, fault.InvalidField("at", "past", "That time has passed: it is %s in %s now.", now.In(zone).Format(time.RFC3339), zone)
	case at.After(now.Add(maxAhead)):
		return time.Time{}, fault.InvalidField("at", "future", "A call can be planned for a year at most.")
	case at.Before(now):
		at = now
	}
	return at, nil
}

func checkTexts(userID, reason string) error {
	if !sessions.IsUserID(userID) {
		return fault.InvalidField("user_id", "length", "user_id must have 1 to %d characters, not only spaces.", sessions.MaxUserIDChars)
	}
	if utf8.RuneCountInString(reason) > maxReasonChars || !sessions.IsStorable(reason) {
		return fault.InvalidField("reason", "max_len", "reason has at most %d characters.", maxReasonChars)
	}
	return nil
}

// checkSecrets refuses variables that would have to be kept sealed until the call.
func checkSecrets(variables map[string]string) error {
	for name := range variables {
		if strings.HasPrefix(name, tools.SecretPrefix) {
			return fault.InvalidField("dynamic_variables", "secret",
				"%s: a callback keeps no secret variables. Let the tool that needs the secret have it in its auth_header.", name)
		}
	}
	return nil
}

// Get returns a callback with its attempts. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id ID) (Callback, error) {
	callback, err := find(ctx, s.DB, ref, id, "")
	if err != nil {
		return Callback{}, err
	}
	list := []Callback{callback}
	err = s.addCalls(ctx, ref, list)
	return list[0], err
}

// List lists callbacks, those that were planned for the latest time first, and returns the token of
// the next page.
func (s *Service) List(ctx context.Context, ref workspaces.Ref, params ListParams) ([]Callback, string, error) {
	callbacks, next, err := list(ctx, s.DB, ref, params)
	if err != nil {
		return nil, "", err
	}
	return callbacks, next, s.addCalls(ctx, ref, callbacks)
}

// addCalls adds the attempts of callbacks.
func (s *Service) addCalls(ctx context.Context, ref workspaces.Ref, callbacks []Callback) error {
	var ids []ID
	for _, c := range callbacks {
		if c.Attempts > 0 {
			ids = append(ids, c.ID)
		}
	}
	calls, err := telephony.OfCallback(ctx, s.DB, ref, ids...)
	if err != nil {
		return err
	}
	for i := range callbacks {
		callbacks[i].Calls = slices.Collect(func(yield func(telephony.Call) bool) {
			for _, call := range calls {
				if call.CallbackID == callbacks[i].ID && !yield(call) {
					return
				}
			}
		})
	}
	return nil
}

// UpdateParams are changes of a callback; nil members do not change it.
type UpdateParams struct {
	At, PhoneNumber, Timezone, Reason *string
	IgnoreLimits                      *bool
	// UserID, unless empty, is the only user whose callback may be changed.
	UserID string
}

// Update changes a callback that is scheduled. A new time begins its attempts anew. Errors:
// NotFound, Precondition callback-not-scheduled, Precondition callback-not-allowed, Invalid
// invalid-request.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, id ID, p UpdateParams) (Callback, error) {
	now := s.now()
	var after Callback
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		callback, err := findOf(ctx, tx, ref, id, p.UserID, "UPDATE")
		if err != nil {
			return err
		}
		if callback.Status != Scheduled {
			return errNotScheduled(callback)
		}
		if err := s.change(ctx, tx, &callback, p, now); err != nil {
			return err
		}
		callback.UpdatedAt = now
		after = callback
		return update(ctx, tx, callback, "phone_number", "timezone", "reason", "ignore_limits", "at", "due_at", "attempts", "waits_for",
			"queued_until", "updated_at")
	})
	if err != nil {
		return Callback{}, err
	}
	return s.Get(ctx, ref, after.ID)
}

// change applies changes to a locked callback.
func (s *Service) change(ctx context.Context, tx bun.Tx, callback *Callback, p UpdateParams, now time.Time) error {
	set(&callback.PhoneNumber, p.PhoneNumber)
	set(&callback.Timezone, p.Timezone)
	set(&callback.Reason, p.Reason)
	set(&callback.IgnoreLimits, p.IgnoreLimits)
	number, zone, err := readNumber(callback.PhoneNumber, callback.Timezone)
	if err != nil {
		return err
	}
	callback.PhoneNumber, callback.Timezone = number.E164, zone.String()
	if err := checkTexts(callback.UserID, callback.Reason); err != nil {
		return err
	}
	if p.At != nil && *p.At == "" {
		return fault.InvalidField("at", "required", `at cannot be null. Give a time, or "now".`)
	}
	if p.At != nil {
		at, err := readTime(*p.At, 0, zone, now)
		if err != nil {
			return err
		}
		callback.At, callback.DueAt, callback.Attempts, callback.WaitsFor, callback.QueuedUntil = at, at, 0, "", time.Time{}
	}
	agent, err := s.Agents.Get(ctx, callback.Ref(), callback.AgentID)
	if err != nil {
		return err
	}
	if err := lockUser(ctx, tx, callback.Ref(), callback.UserID); err != nil {
		return err
	}
	return s.check(ctx, tx, request{
		ref: callback.Ref(), agent: agent, userID: callback.UserID, number: number, zone: zone, at: callback.DueAt,
		callback: callback.ID, planned: true, ignoreLimits: callback.IgnoreLimits,
	})
}

func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

// Cancel cancels a callback, and hangs up its call; when the carrier does not answer, Sweep of
// package telephony does that. userID, unless empty, is the only user whose callback may be
// canceled. One that is over is returned as it is. Errors: NotFound.
func (s *Service) Cancel(ctx context.Context, ref workspaces.Ref, id ID, userID string) (Callback, error) {
	now := s.now()
	var callback Callback
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		seen, err := findOf(ctx, tx, ref, id, userID, "")
		if err != nil {
			return err
		}
		// The call is locked before the callback, as where a call ends.
		if err := s.Calls.CancelTx(ctx, tx, ref, seen.CallID, now); err != nil {
			return err
		}
		if callback, err = find(ctx, tx, ref, id, "UPDATE"); err != nil || callback.Status.IsOver() {
			return err
		}
		if callback.CallID != seen.CallID { // it was dialed meanwhile
			if err := s.Calls.CancelTx(ctx, tx, ref, callback.CallID, now); err != nil {
				return err
			}
		}
		return s.cancelTx(ctx, tx, callback, now)
	})
	if err != nil {
		return Callback{}, err
	}
	if callback.CallID != "" {
		if _, err := s.Calls.HangUp(ctx, ref, callback.CallID); err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
			s.Log.WarnContext(ctx, "the call of a canceled callback was not hung up", "callback_id", id, telemetry.KeyError, err)
		}
	}
	return s.Get(ctx, ref, id)
}
