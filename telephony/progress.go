package telephony

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/usage"
)

const (
	// sessionEndsWithin is how long the session of a call that is over may go on until its media
	// socket has ended it.
	sessionEndsWithin = 10 * time.Second
	// checkEvery is how often a carrier is asked about a call that it has said nothing of, in case
	// its webhooks are lost.
	checkEvery = 30 * time.Second
	// reasonHungUp is why a transfer failed whose caller did not wait, reasonCanceled of one whose
	// call or session was ended by the API.
	reasonHungUp   = "hung_up"
	reasonCanceled = "canceled"
	// minuteGrace is how long into a minute a call is that has begun it: our clock and the carrier's
	// differ.
	minuteGrace = 2 * time.Second
)

// apply writes down what a carrier says of a call, and returns the call as it is then.
func (s *Service) apply(ctx context.Context, call Call, u carrier.Update) (after Call, err error) {
	now, isOver := s.now(), false
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if after, err = lock(ctx, tx, call); err != nil {
			return err
		}
		isOver = after.Status.IsOver()
		if after.CarrierCallID == "" && u.ID != "" {
			after.CarrierCallID = u.ID
			if err := update(ctx, tx, after, "carrier_call_id"); err != nil {
				return err
			}
		}
		if status := statusOf[u.Status]; status != "" && u.ID == after.CarrierCallID {
			return s.advance(ctx, tx, &after, status, u, now)
		}
		return nil
	})
	if err == nil && after.Status.IsOver() && !isOver {
		s.overs.WithLabelValues(string(after.Direction), string(after.Status)).Inc()
		s.endSession(ctx, after)
	}
	return after, err
}

// advance changes the status of a locked call, unless it is further already.
func (s *Service) advance(ctx context.Context, tx bun.Tx, call *Call, status Status, u carrier.Update, now time.Time) error {
	if status.rank() <= call.Status.rank() {
		return nil
	}
	call.Status, call.CheckAt = status, now.Add(checkEvery)
	switch {
	case status.IsOver():
		return s.endTx(ctx, tx, call, u, now)
	case status == InProgress:
		call.AnsweredAt = now
		if err := s.countMinutes(ctx, tx, call, 1); err != nil {
			return err
		}
		if err := s.onAnswer(ctx, tx, *call, now); err != nil {
			return err
		}
	}
	return update(ctx, tx, *call, "status", "check_at", "answered_at", "pstn_minutes")
}

// endedAt is when a call ended of which an update that came at now says so.
func endedAt(call Call, u carrier.Update, now time.Time) time.Time {
	ended, begun := now, call.AnsweredAt
	switch {
	case u.Duration > 0 && !begun.IsZero():
		ended = begun.Add(u.Duration)
	case !u.At.IsZero():
		ended = u.At
	}
	if begun.IsZero() {
		begun = call.CreatedAt
	}
	if ended.Before(begun) { // the carrier's times are in whole seconds
		ended = begun
	}
	if ended.After(now) {
		ended = now
	}
	return ended
}

// endTx ends a locked call whose status says that it is over.
func (s *Service) endTx(ctx context.Context, tx bun.Tx, call *Call, u carrier.Update, now time.Time) error {
	call.EndedAt, call.CheckAt = endedAt(*call, u, now), time.Time{}
	if call.SessionID != "" {
		call.CheckAt = now.Add(sessionEndsWithin)
	}
	if u.Duration > 0 && call.AnsweredAt.IsZero() { // its webhook is late, or lost
		call.AnsweredAt = call.EndedAt.Add(-u.Duration)
	}
	if !call.AnsweredAt.IsZero() {
		talked := u.Duration
		if talked == 0 {
			talked = call.EndedAt.Sub(call.AnsweredAt)
		}
		call.DurationSeconds = int(talked.Round(time.Second).Seconds())
		if err := s.countMinutes(ctx, tx, call, minutesOf(talked)); err != nil {
			return err
		}
	}
	if err := s.nameEnd(ctx, tx, call); err != nil {
		return err
	}
	if call.Transfer.isPending() {
		call.Transfer.Status, call.Transfer.Reason = TransferFailed, whyNotTransferred(*call)
	}
	if call.ZeroRetention {
		call.Reason, call.Transfer.Summary, call.DynamicVariables = "", "", nil
	}
	err := update(ctx, tx, *call, "status", "check_at", "answered_at", "ended_at", "duration_seconds", "pstn_minutes", "end_reason",
		"transfer_status", "transfer_reason", "reason", "transfer_summary", "dynamic_variables")
	if err != nil {
		return err
	}
	return s.onEnd(ctx, tx, *call, now)
}

// whyNotTransferred is why the transfer of a call failed that ended during it.
func whyNotTransferred(call Call) string {
	switch {
	case call.EndReason == EndPersonHungUp:
		return reasonHungUp
	case call.Status == Failed, call.EndReason == EndMediaLost:
		return string(carrier.Failed)
	}
	return reasonCanceled
}

// nameEnd says why a call has ended, unless that is known.
func (s *Service) nameEnd(ctx context.Context, tx bun.Tx, call *Call) error {
	switch {
	case call.EndReason != "":
	case call.Transfer.Status == TransferConnected:
		call.EndReason = EndTransferred
	case call.Status == Busy:
		call.EndReason = EndBusy
	case call.Status == NoAnswer:
		call.EndReason = EndNoAnswer
	case call.Status == Canceled:
		call.EndReason = EndCanceled
	case call.Status == Failed:
		call.EndReason = EndCarrierFailed
	case call.SessionID == "":
		call.EndReason = EndNotConnected
	default:
		session, err := sessions.Find(ctx, tx, call.TenantID, call.SessionID, "")
		call.EndReason = EndPersonHungUp
		if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case session.StartedAt.IsZero():
			call.EndReason = EndNotConnected
		case session.Closed() && session.EndReason != sessions.ReasonHangUp && session.EndReason != sessions.ReasonNoTurns:
			call.EndReason = EndAgentHungUp
		}
	}
	return nil
}

// minuteSource names a minute of a call in the records of usage.
func minuteSource(call Call, minute int) string {
	return string(call.ID) + ":pstn:" + strconv.Itoa(minute)
}

// minutesOf is how many minutes were begun.
func minutesOf(talked time.Duration) int { return max(1, int((talked+time.Minute-1)/time.Minute)) }

// countMinutes counts the minutes of a call up to a number, each once.
func (s *Service) countMinutes(ctx context.Context, tx bun.Tx, call *Call, minutes int) error {
	for call.PSTNMinutes < minutes {
		place := usage.Place{
			Workspace: call.Ref(), AgentID: string(call.AgentID), At: call.AnsweredAt.Add(time.Duration(call.PSTNMinutes) * time.Minute),
		}
		record := usage.Record{Source: minuteSource(*call, call.PSTNMinutes), Meter: usage.PSTNMinutes, Quantity: 1}
		if err := usage.Add(ctx, tx, place, record); err != nil {
			return err
		}
		call.PSTNMinutes++
	}
	return nil
}

// end ends a call that the carrier knows nothing of, or nothing any more: at the time at which it
// was last known to go on.
func (s *Service) end(ctx context.Context, call Call, status Status, reason string) error {
	now, isOver := s.now(), false
	var after Call
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
		after, err = lock(ctx, tx, call)
		if isOver = after.Status.IsOver(); err != nil || isOver {
			return err
		}
		at, err := lastKnown(ctx, tx, after)
		if err != nil {
			return err
		}
		after.Status, after.EndReason = status, reason
		return s.endTx(ctx, tx, &after, carrier.Update{At: at}, now)
	})
	if fault.IsReason(err, fault.ResourceNotFound) { // it was deleted meanwhile
		return nil
	}
	if err == nil && !isOver {
		s.overs.WithLabelValues(string(after.Direction), string(after.Status)).Inc()
		s.endSession(ctx, after)
	}
	return err
}

// lastKnown is when a call that was answered was last known to go on: the end of its session, else
// the last heartbeat or loss of its media socket, or the last activity. It is zero for another.
func lastKnown(ctx context.Context, tx bun.Tx, call Call) (time.Time, error) {
	if call.SessionID == "" {
		return call.AnsweredAt, nil
	}
	session, err := sessions.Find(ctx, tx, call.TenantID, call.SessionID, "")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return call.AnsweredAt, nil
	}
	if err != nil || session.Closed() {
		return session.EndedAt, err
	}
	var seen time.Time
	err = tx.NewSelect().Model((*sessions.Connection)(nil)).
		ColumnExpr("greatest(max(c.seen_at), ?, ?)", session.LastActivityAt, session.DroppedAt).
		Where("c.tenant_id = ?", session.TenantID).Where("c.session_id = ?", session.ID).Scan(ctx, &seen)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the last heartbeat of a call's media socket: %w", err)
	}
	return seen.UTC(), nil
}

// endSession ends the session of a call that was ended from outside the conversation. After a
// hang-up its media socket does that, once the last words are in the transcript; see lookBehind.
func (s *Service) endSession(ctx context.Context, call Call) {
	switch call.EndReason {
	case EndTransferred, EndVoicemail, EndVoicemailLeft, EndCanceled, EndNotKnown, EndNotConnected, string(fault.QuotaUsage):
		s.closeSession(ctx, call, call.EndReason)
	case EndPersonHungUp:
		if call.Transfer.Status == TransferFailed && call.Transfer.Reason == reasonHungUp { // its socket is gone
			s.closeSession(ctx, call, sessions.ReasonHangUp)
		}
	}
}

// lookBehind ends the session of a call that is over, if nobody else has: its node was lost, or its
// media socket was replaced by one that is none of the carrier's.
func (s *Service) lookBehind(ctx context.Context, call Call) error {
	reason := call.EndReason
	switch reason {
	case EndPersonHungUp:
		reason = sessions.ReasonHangUp
	case EndMediaLost:
		reason = sessions.ReasonDisconnected
	}
	if err := s.requestEnd(ctx, call, reason); err != nil {
		return err
	}
	call.CheckAt = time.Time{}
	return update(ctx, s.DB, call, "check_at")
}

// closeSession ends the session of a call; if that fails, lookBehind does it later.
func (s *Service) closeSession(ctx context.Context, call Call, reason string) {
	if err := s.requestEnd(ctx, call, reason); err != nil {
		s.Log.WarnContext(ctx, "the session of a call not ended", "call_id", call.ID, "session_id", call.SessionID, "error", err)
	}
}

// requestEnd ends the session of a call, unless it has none or that is closed.
func (s *Service) requestEnd(ctx context.Context, call Call, reason string) error {
	if call.SessionID == "" {
		return nil
	}
	session, err := sessions.Find(ctx, s.DB, call.TenantID, call.SessionID, "")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return nil
	}
	if err != nil || session.Closed() {
		return err
	}
	_, err = s.Sessions.RequestEnd(ctx, session, sessions.Completed, reason)
	return err
}
