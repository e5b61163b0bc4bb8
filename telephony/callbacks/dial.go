package callbacks

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/fair"
	"parlance.dev/parlance/platform/localtime"
	"parlance.dev/parlance/platform/phone"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/telephony"
	"parlance.dev/parlance/workspaces"
)

const (
	// queuedTime is how long a task counts as being on its way.
	queuedTime = 10 * time.Second
	// busyPause is how long a callback waits when its tenant has its share of the workers.
	busyPause = time.Second
	// fullPause is how long one waits whose batch has as many calls as it may; the end of one of them
	// wakes it.
	fullPause = time.Minute
	// roomPause is how long one waits while the plan has no room for its session, roomWait how long in
	// all: a call an hour late is still the call that was planned.
	roomPause = time.Minute
	roomWait  = time.Hour
	// pausedPause is how long one of a batch that is paused waits; resuming makes it due at once.
	pausedPause = time.Hour
)

// dueSQL selects callbacks that are due, tenants in turn, and marks them as queued.
const dueSQL = `,
due AS (
    SELECT own.id,
           own.rank,
           round_robin.place
    FROM round_robin
    CROSS JOIN LATERAL (
        SELECT q.id,
               row_number() OVER (ORDER BY q.due_at, q.id) AS rank
        FROM callbacks AS q
        WHERE q.tenant_id = round_robin.tenant_id
          AND q.status = 'scheduled'
          AND q.due_at <= ?
          AND (q.queued_until IS NULL OR q.queued_until < ?)
        ORDER BY q.due_at
        LIMIT ?
    ) AS own
    WHERE round_robin.tenant_id <> ALL (coalesce(?::text[], '{}'))
    ORDER BY own.rank, round_robin.place
    LIMIT ?
), picked AS (
    SELECT cb.id,
           due.rank,
           due.place
    FROM due
    JOIN callbacks AS cb ON cb.id = due.id
    -- Another worker may have been faster.
    WHERE cb.status = 'scheduled'
      AND (cb.queued_until IS NULL OR cb.queued_until < ?)
    FOR UPDATE OF cb SKIP LOCKED
), queued AS (
    UPDATE callbacks AS cb
    SET queued_until = ?
    FROM picked
    WHERE cb.id = picked.id
    RETURNING cb.*, picked.rank, picked.place AS turn
)
SELECT id, tenant_id, workspace_id
FROM queued
ORDER BY rank, turn, id`

// Due returns up to ask.Room callbacks that are due and have no task on its way, in the order of
// the tenants' turns, and marks them as queued for ten seconds.
func (s *Service) Due(ctx context.Context, now time.Time, ask fair.Ask) ([]Callback, error) {
	var due []Callback
	query := "WITH RECURSIVE " + fair.RoundRobinSQL("callbacks", "w.status = 'scheduled'") + dueSQL
	err := s.DB.NewRaw(postgres.RawForAllTenants("tenants take turns with their callbacks", query),
		ask.After, ask.After, ask.After, now, now, ask.Room, pgdialect.Array(ask.Except), ask.Room, now, now.Add(queuedTime)).Scan(ctx, &due)
	if err != nil {
		return nil, fmt.Errorf("list due callbacks: %w", err)
	}
	return due, nil
}

// Reschedule delays a callback, because its tenant has its share of the workers.
func (s *Service) Reschedule(ctx context.Context, tenant workspaces.TenantID, id ID) error {
	_, err := s.DB.NewUpdate().Model((*Callback)(nil)).Set("due_at = greatest(cb.due_at, ?)", s.now().Add(busyPause)).
		Set("queued_until = NULL").Where("cb.tenant_id = ?", tenant).Where("cb.id = ?", id).Where("cb.status = ?", Scheduled).Exec(ctx)
	if err != nil {
		return fmt.Errorf("reschedule a callback: %w", err)
	}
	return nil
}

// Dial dials a callback that is due, or has it wait. It does nothing when the callback is not due
// any more, so it may be called any number of times. When the process dies, package telephony
// finds out whether the number was called.
func (s *Service) Dial(ctx context.Context, ref workspaces.Ref, id ID) error {
	telemetry.Note(ctx, telemetry.KeyTenantID, string(ref.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(ref.ID))
	callback, err := find(ctx, s.DB, ref, id, "")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return nil
	}
	if err != nil {
		return err
	}
	agent, err := s.Agents.Get(ctx, ref, callback.AgentID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return s.fail(ctx, callback, telephony.EndAgentDeleted)
	}
	if err != nil {
		return err
	}
	a := attempt{agent: agent}
	a.carrierName, a.from, err = s.Calls.Outbound(ctx, ref, agent)
	if err == nil {
		err = s.Calls.AdmitNow(ctx, ref)
	}
	if decided := postgres.Decide(err); err != nil {
		if decided.Kind() == fault.Precondition || decided.Kind() == fault.QuotaExceeded {
			return s.fail(ctx, callback, string(decided.Reason))
		}
		return err
	}
	plan, err := s.Workspaces.Plan(ctx, ref.TenantID)
	if err != nil {
		return err
	}
	a.sessionsAtOnce = plan.ConcurrentSessions
	call, dials, err := s.claim(ctx, callback, a)
	if err != nil || !dials {
		return err
	}
	return s.Calls.Place(ctx, call)
}

// attempt is how a callback is going to be dialed.
type attempt struct {
	agent agents.Agent
	// carrierName and from are what telephony's Outbound returned.
	carrierName, from string
	// sessionsAtOnce is how many the plan allows; 0: any number.
	sessionsAtOnce int
}

// claim takes a callback and writes its call down, or has it wait. dials is false when there is
// nothing to place.
func (s *Service) claim(ctx context.Context, callback Callback, a attempt) (call telephony.Call, dials bool, err error) {
	now := s.now()
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		dials = false
		locked, err := find(ctx, tx, callback.Ref(), callback.ID, "UPDATE")
		if err != nil || locked.Status != Scheduled || locked.DueAt.After(now) {
			return err
		}
		if err := lockUser(ctx, tx, callback.Ref(), callback.UserID); err != nil { // so that two are not dialed at once
			return err
		}
		goesOn, err := planGoesOn(ctx, tx, locked)
		if err != nil {
			return err
		}
		if !goesOn {
			return s.cancelTx(ctx, tx, locked, now)
		}
		at, waitsFor, err := s.mayDial(ctx, tx, locked, a.agent, now)
		if refused := postgres.Decide(err); err != nil && refused.Reason == fault.CallbackNotAllowed {
			return s.failTx(ctx, tx, locked, string(refused.Reason), now)
		}
		if err != nil {
			return err
		}
		if at.After(now) {
			return s.delayTx(ctx, tx, locked, at, waitsFor, now)
		}
		room, err := s.Calls.HasRoomTx(ctx, tx, locked.TenantID, a.sessionsAtOnce)
		if err != nil {
			return err
		}
		if !room {
			return s.awaitRoomTx(ctx, tx, locked, now)
		}
		call, err = s.Calls.CreateTx(ctx, tx, telephony.NewCall{
			Ref: locked.Ref(), Agent: a.agent, UserID: locked.UserID, To: locked.PhoneNumber, CallbackID: locked.ID, Attempt: locked.Attempts + 1,
			DynamicVariables: locked.DynamicVariables, Reason: locked.Reason, Carrier: a.carrierName, From: a.from,
		}, now)
		if err != nil {
			return err
		}
		locked.Status, locked.CallID, locked.Attempts, locked.DialedAt, locked.WaitsFor = Dialing, call.ID, locked.Attempts+1, now, ""
		locked.UpdatedAt, dials = now, true
		return update(ctx, tx, locked, "status", "call_id", "attempts", "dialed_at", "waits_for", "updated_at")
	})
	return call, dials && err == nil, err
}

// delayTx has a locked callback wait until at. A run of a schedule does not wait for the interval
// until the next run, or longer: it is missed. Else runs that are closer than the interval would
// pile up.
func (s *Service) delayTx(ctx context.Context, tx bun.Tx, callback Callback, at time.Time, waitsFor string, now time.Time) error {
	if callback.ScheduleID != "" && waitsFor == WaitsInterval {
		schedule, err := findSchedule(ctx, tx, callback.Ref(), callback.ScheduleID, "")
		if err != nil {
			return err
		}
		if next := schedule.DueAt; !next.IsZero() && !at.Before(next) {
			return s.failTx(ctx, tx, callback, EndMissed, now)
		}
	}
	return waitTx(ctx, tx, callback, at, waitsFor)
}

// waitTx has a locked callback wait until at.
func waitTx(ctx context.Context, tx bun.Tx, callback Callback, at time.Time, waitsFor string) error {
	callback.DueAt, callback.WaitsFor, callback.QueuedUntil = at, waitsFor, time.Time{}
	return update(ctx, tx, callback, "due_at", "waits_for", "queued_until", "updated_at")
}

// awaitRoomTx has a locked callback wait for which the plan has no room, for roomWait in all. While
// it waits UpdatedAt is when it began to.
func (s *Service) awaitRoomTx(ctx context.Context, tx bun.Tx, callback Callback, now time.Time) error {
	switch {
	case callback.WaitsFor != WaitsSessions:
		callback.UpdatedAt = now
	case now.Sub(callback.UpdatedAt) >= roomWait:
		return s.failTx(ctx, tx, callback, string(fault.QuotaSessions), now)
	}
	return waitTx(ctx, tx, callback, now.Add(roomPause), WaitsSessions)
}

// mayDial returns now, or when the callback may be dialed and what it waits for.
func (s *Service) mayDial(ctx context.Context, tx bun.Tx, callback Callback, agent agents.Agent, now time.Time) (time.Time, string, error) {
	number, ok := phone.Parse(callback.PhoneNumber)
	zone, known := localtime.Zone(callback.Timezone)
	if !ok || !known { // they were checked when it was planned, by other tables
		return time.Time{}, "", fault.New(fault.CallbackNotAllowed, "The number or its time zone is not known any more.")
	}
	r := request{
		ref: callback.Ref(), agent: agent, userID: callback.UserID, number: number, zone: zone, at: now, callback: callback.ID,
		ignoreLimits: callback.IgnoreLimits,
	}
	if err := s.refusal(ctx, tx, r); err != nil {
		return time.Time{}, "", err
	}
	if callback.Attempts > 0 { // its own retries are no calls of their own, but they wait for the morning
		r.agent.Config.Callbacks.MinIntervalMinutes = new(0)
	}
	at, waitsFor, err := s.earliest(ctx, tx, r)
	if err != nil || callback.BatchID == "" || at.After(now) {
		return at, waitsFor, err
	}
	return s.batchAdmits(ctx, tx, callback, now)
}

// fail ends a callback that cannot be dialed.
func (s *Service) fail(ctx context.Context, callback Callback, reason string) error {
	now := s.now()
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		locked, err := find(ctx, tx, callback.Ref(), callback.ID, "UPDATE")
		if err != nil || locked.Status != Scheduled || locked.DueAt.After(now) {
			return err
		}
		return s.failTx(ctx, tx, locked, reason, now)
	})
}

// failTx ends a locked callback that cannot be dialed.
func (s *Service) failTx(ctx context.Context, tx bun.Tx, callback Callback, reason string, now time.Time) error {
	return s.dropTx(ctx, tx, callback, Failed, reason, now)
}

// cancelTx ends a locked callback that is not to be dialed, or not any further.
func (s *Service) cancelTx(ctx context.Context, tx bun.Tx, callback Callback, now time.Time) error {
	return s.dropTx(ctx, tx, callback, Canceled, EndCanceled, now)
}

// dropTx ends a locked callback for a reason that is not its call's end.
func (s *Service) dropTx(ctx context.Context, tx bun.Tx, callback Callback, status Status, reason string, now time.Time) error {
	callback.Status, callback.EndReason, callback.EndedAt, callback.UpdatedAt, callback.WaitsFor = status, reason, now, now, ""
	if err := s.forget(ctx, &callback); err != nil {
		return err
	}
	return s.endTx(ctx, tx, callback)
}

// forget empties what a callback is about that is over without a call, if its agent keeps nothing.
// After a call its Call says it.
func (s *Service) forget(ctx context.Context, callback *Callback) error {
	forgets, err := s.forgets(ctx, callback.Ref(), callback.AgentID)
	if forgets {
		callback.Reason, callback.DynamicVariables = "", nil
	}
	return err
}

// forgets reports whether an agent keeps nothing (zero_retention), or is deleted, so that nobody
// knows.
func (s *Service) forgets(ctx context.Context, ref workspaces.Ref, id agents.ID) (bool, error) {
	agent, err := s.Agents.Get(ctx, ref, id)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return true, nil
	}
	return err == nil && agent.Config.Privacy.ZeroRetention, err
}

// endTx writes the end of a callback down.
func (s *Service) endTx(ctx context.Context, tx bun.Tx, callback Callback) error {
	err := update(ctx, tx, callback, "status", "end_reason", "ended_at", "updated_at", "waits_for", "session_id", "reason",
		"dynamic_variables")
	if err != nil || callback.BatchID == "" {
		return err
	}
	return settleBatch(ctx, tx, callback.Ref(), callback.BatchID, callback.EndedAt)
}

// answered writes down that somebody has answered, and then their session; it is telephony's
// OnAnswer.
func (s *Service) answered(ctx context.Context, tx bun.Tx, call telephony.Call, now time.Time) error {
	callback, found, err := ofCall(ctx, tx, call)
	if err != nil || !found || callback.Status != Dialing && callback.Status != InProgress {
		return err
	}
	callback.Status, callback.SessionID, callback.UpdatedAt = InProgress, call.SessionID, now
	return update(ctx, tx, callback, "status", "session_id", "updated_at")
}

// ended does what follows from the end of a call; it is telephony's OnEnd.
func (s *Service) ended(ctx context.Context, tx bun.Tx, call telephony.Call, now time.Time) error {
	callback, found, err := ofCall(ctx, tx, call)
	if err != nil || !found || callback.Status.IsOver() {
		return err
	}
	callback.SessionID, callback.UpdatedAt = call.SessionID, now
	goesOn, err := planGoesOn(ctx, tx, callback)
	if err != nil {
		return err
	}
	switch {
	case goesOn && callback.Attempts < MaxAttempts && (call.Missed() || call.LackedRoom()):
		callback.Status, callback.DueAt, callback.QueuedUntil = Scheduled, now.Add(retryAfter[callback.Attempts-1]), time.Time{}
		err := update(ctx, tx, callback, "status", "due_at", "queued_until", "session_id", "updated_at")
		if err != nil || callback.BatchID == "" {
			return err
		}
		return settleBatch(ctx, tx, callback.Ref(), callback.BatchID, now)
	case call.Missed():
		callback.Status, callback.EndReason = NoAnswer, call.EndReason
	case call.Status == telephony.Completed:
		callback.Status, callback.EndReason = Completed, completedBy(call)
	case call.Status == telephony.Canceled:
		callback.Status, callback.EndReason = Canceled, call.EndReason
	default:
		callback.Status, callback.EndReason = Failed, call.EndReason
	}
	callback.EndedAt = now
	if call.ZeroRetention {
		callback.Reason, callback.DynamicVariables = "", nil
	}
	return s.endTx(ctx, tx, callback)
}

// planGoesOn reports whether the batch or the schedule of a locked callback wants it dialed: not
// when the batch was stopped, or the schedule turned off or deleted. Whoever does that cancels the
// callbacks that are scheduled at that time. The row of a batch is locked here, so that each of the
// two sees what the other has done. A schedule's is not: elsewhere it is locked before its
// callbacks.
func planGoesOn(ctx context.Context, tx bun.Tx, callback Callback) (bool, error) {
	if callback.BatchID != "" {
		batch, err := findBatch(ctx, tx, callback.Ref(), callback.BatchID, "UPDATE")
		return err == nil && !batch.Status.IsOver(), err
	}
	if callback.ScheduleID == "" {
		return true, nil
	}
	schedule, err := findSchedule(ctx, tx, callback.Ref(), callback.ScheduleID, "")
	if fault.IsReason(err, fault.ResourceNotFound) {
		return false, nil
	}
	return err == nil && schedule.Enabled, err
}

// completedBy is the reason of a callback that was answered.
func completedBy(call telephony.Call) string {
	switch call.EndReason {
	case telephony.EndAgentHungUp, telephony.EndPersonHungUp, telephony.EndMediaLost:
		return EndAnswered
	}
	return call.EndReason
}

// ofCall locks the callback of a call; found is false for a call of none, and for one of an attempt
// before.
func ofCall(ctx context.Context, tx bun.Tx, call telephony.Call) (callback Callback, found bool, err error) {
	if call.CallbackID == "" {
		return Callback{}, false, nil
	}
	callback, err = find(ctx, tx, call.Ref(), call.CallbackID, "UPDATE")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return Callback{}, false, nil
	}
	return callback, err == nil && callback.CallID == call.ID, err
}
