package telephony

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/phone"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

const (
	// sayWithin is how long an agent may take to say that it transfers the caller, before it is
	// done without that.
	sayWithin = 20 * time.Second
	// spokenPerSecond is how many characters of a summary are said in a second, and whisperGrace
	// what is added to its length: for slow voices, and for the carrier to say that the person has
	// hung up.
	spokenPerSecond = 12
	whisperGrace    = 10 * time.Second
	// instructTimeout bounds the request that has the carrier connect a call.
	instructTimeout = 20 * time.Second
	// doubtWithin is how soon it is seen whether a transfer is made whose request got no answer.
	doubtWithin = 5 * time.Second
	// ringGrace is how long after its ring limit a transfer is given up of which nothing is heard.
	ringGrace = 30 * time.Second
	// mediaEndedCheck is how long after the end of a media socket the carrier is asked how the call
	// is, unless it has said that.
	mediaEndedCheck = 2 * time.Second
	// noteTransferFailed is the note of a caller who comes back because nobody answered.
	noteTransferFailed = "transfer_failed" // as package mediastream has it
)

// TransferParams says where a call is transferred to.
type TransferParams struct {
	// To has its country's code.
	To string
	// Mode is agents.Cold when empty.
	Mode    string
	Summary string
}

// Transfer connects the caller with a person, at once. Errors: NotFound, Precondition
// call-not-in-progress, AlreadyExists conflict, Invalid invalid-request (to), Upstream
// upstream-failed.
func (s *Service) Transfer(ctx context.Context, ref workspaces.Ref, id ID, p TransferParams) (Call, error) {
	number, ok := phone.Parse(p.To)
	if !ok {
		return Call{}, fault.InvalidField("to", "phone_number", "%s", BadNumber)
	}
	call, err := s.Get(ctx, ref, id)
	if err != nil {
		return Call{}, err
	}
	agent, err := s.Agents.Get(ctx, ref, call.AgentID)
	if err != nil && !fault.IsReason(err, fault.ResourceNotFound) {
		return Call{}, err
	}
	p.To = number.E164
	now := s.now()
	call, err = s.requestTransfer(ctx, call, Transfer{
		To: p.To, Mode: p.Mode, Summary: p.Summary, RingSeconds: int(agent.Config.Handover.Ring().Seconds()), RequestedAt: now, DueAt: now,
	}, time.Time{})
	if err != nil {
		return Call{}, err
	}
	return s.makeTransfer(ctx, call)
}

// BadNumber says what a number must be like.
const BadNumber = "This is no telephone number. Give it with its country's code, e.g. +4930123456."

// requestTransfer writes down that a call is to be transferred. A request for the same number that
// there is stays, and one of a session that was served: a transfer that was requested at servedFrom
// or later has failed. An operator's takes the place of a session's that is not made yet. Errors:
// Precondition call-not-in-progress, AlreadyExists conflict (there is one for another number).
func (s *Service) requestTransfer(ctx context.Context, call Call, t Transfer, servedFrom time.Time) (after Call, err error) {
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if after, err = lock(ctx, tx, call); err != nil {
			return err
		}
		if after.Status != InProgress {
			return errOver(after)
		}
		switch now := after.Transfer; {
		case now.Status == TransferRequested && now.BySession && !t.BySession:
		case now.isPending(), now.Status == TransferConnected:
			if now.To != t.To {
				return fault.New(fault.Conflict, "The call is being transferred to another number already (%s).", now.Status)
			}
			if now.Status != TransferRequested || !t.BySession || !now.RequestedAt.Before(servedFrom) {
				return nil
			}
			after.Transfer.RequestedAt = t.RequestedAt // it serves the session's later request too
			return updateTransfer(ctx, tx, after)
		case now.Status == TransferFailed && t.BySession && !now.RequestedAt.Before(servedFrom):
			return nil
		}
		after.Transfer = t
		after.Transfer.Status, after.Transfer.Mode, after.CheckAt = TransferRequested, cmp.Or(t.Mode, agents.Cold), t.DueAt
		return updateTransfer(ctx, tx, after)
	})
	return after, err
}

func updateTransfer(ctx context.Context, tx bun.Tx, call Call) error {
	return update(ctx, tx, call, "check_at", "transfer_status", "transfer_to", "transfer_mode", "transfer_summary", "transfer_reason",
		"transfer_ring_seconds", "transfer_requested_at", "transfer_answered_at", "transfer_connected_at", "transfer_by_session",
		"transfer_due_at")
}

// changeTransfer locks a call and has fn change its transfer, unless that is another one than call
// has. It returns the call as it is then.
func (s *Service) changeTransfer(
	ctx context.Context, call Call, fn func(ctx context.Context, tx bun.Tx, locked *Call) error,
) (after Call, err error) {
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if after, err = lock(ctx, tx, call); err != nil || after.Transfer.number() != call.Transfer.number() {
			return err
		}
		before := after
		if err := fn(ctx, tx, &after); err != nil || after.Transfer == before.Transfer && after.CheckAt.Equal(before.CheckAt) {
			return err
		}
		return updateTransfer(ctx, tx, after)
	})
	return after, err
}

// HandOver transfers the call of a session that asked for a person. It does nothing when the
// session has no call: then it waits for an operator. Errors: those of the database.
func (s *Service) HandOver(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error {
	session, err := sessions.Find(ctx, s.DB, tenant, id, "")
	if fault.IsReason(err, fault.ResourceNotFound) {
		return nil
	}
	if err != nil || session.Handover.Status != sessions.HandoverRequested {
		return err
	}
	call, err := findOpen(ctx, s.DB, tenant, id)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	opened, err := s.Handovers.Opened(ctx, []sessions.Session{session})
	if err != nil {
		return err
	}
	session = opened[0]
	settings := session.Config.Handover
	destination, ok := settings.Destination(session.Handover.Destination)
	if !ok {
		return nil
	}
	now, asked := s.now(), session.Handover.RequestedAt
	t := Transfer{
		To: destination.PhoneNumber, Mode: settings.Mode, Summary: session.Handover.Summary, RingSeconds: int(settings.Ring().Seconds()),
		RequestedAt: now, BySession: true, DueAt: now.Add(sayWithin),
	}
	if t.RequestedAt.Before(asked) { // by the clock of another node
		t.RequestedAt = asked
	}
	_, err = s.requestTransfer(ctx, call, t, asked)
	if fault.IsReason(err, fault.CallNotInProgress) || fault.IsReason(err, fault.Conflict) { // an operator was faster
		return nil
	}
	return err
}

// TransferNow makes the transfer that a session's call waits for: the agent has said what it had to
// say. Without one it does nothing. Errors: those of the database, Upstream upstream-failed.
func (s *Service) TransferNow(ctx context.Context, tenant workspaces.TenantID, id sessions.ID) error {
	if err := s.HandOver(ctx, tenant, id); err != nil { // its task may not have run yet
		return err
	}
	call, err := findOpen(ctx, s.DB, tenant, id)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return nil
	}
	if err != nil || call.Transfer.Status != TransferRequested {
		return err
	}
	_, err = s.makeTransfer(ctx, call)
	return err
}

// MediaEndedParams are about the end of a media socket.
type MediaEndedParams struct {
	TenantID  workspaces.TenantID
	SessionID sessions.ID
	// OpenedAt is when the socket was opened.
	OpenedAt time.Time
	// Lost says that the carrier has not ended it.
	Lost bool
}

// MediaEnded says that the media socket of a session's call has ended, so that the carrier is asked
// soon how the call is. goesOn says that the carrier has ended the socket to go on with the call
// without it: the caller is connected with a person, and comes back when nobody answers, or a
// machine has answered, and whoever found that out ends the session. Errors: those of the database.
func (s *Service) MediaEnded(ctx context.Context, p MediaEndedParams) (goesOn bool, err error) {
	call, err := findOfSession(ctx, s.DB, p.TenantID, p.SessionID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		call, err := lock(ctx, tx, call)
		if err != nil {
			return err
		}
		if !call.Status.IsOver() {
			call.CheckAt = s.now().Add(mediaEndedCheck)
		}
		goesOn = call.EndReason == EndVoicemail || call.EndReason == EndVoicemailLeft || call.transferredFrom(p.OpenedAt)
		// The carrier may have been faster to say that the call is over.
		if p.Lost && !goesOn && (call.EndReason == "" || call.EndReason == EndPersonHungUp) {
			call.EndReason = EndMediaLost
		}
		return update(ctx, tx, call, "check_at", "end_reason")
	})
	return goesOn, err
}

// transferredFrom reports whether a transfer has ended a media socket that was opened at a time.
// The person may have been faster to answer, or to be busy, than the end of the socket is handled.
func (c Call) transferredFrom(openedAt time.Time) bool {
	switch c.Transfer.Status {
	case TransferRinging, TransferConnected:
		return true
	case TransferFailed: // the caller is coming back, and the socket is not the one with which they did
		return !c.Status.IsOver() && c.Transfer.Reason != EndCarrierFailed && openedAt.Before(c.Transfer.RequestedAt)
	}
	return false
}

// makeTransfer has the carrier connect a call. Whoever changes the status makes it. Errors:
// Upstream upstream-failed.
func (s *Service) makeTransfer(ctx context.Context, call Call) (Call, error) {
	mine := false
	call, err := s.changeTransfer(ctx, call, func(ctx context.Context, tx bun.Tx, locked *Call) error {
		mine = locked.Transfer.Status == TransferRequested && locked.Status == InProgress
		if !mine {
			return nil
		}
		wanted, err := isWanted(ctx, tx, *locked)
		if err != nil {
			return err
		}
		if mine = wanted; !wanted {
			locked.Transfer = Transfer{RingSeconds: locked.Transfer.RingSeconds}
			return nil
		}
		now := s.now()
		locked.Transfer.Status, locked.CheckAt = TransferRinging, now.Add(checkEvery)
		locked.Transfer.DueAt = now.Add(time.Duration(locked.Transfer.RingSeconds)*time.Second + ringGrace)
		return nil
	})
	if err != nil || !mine {
		return call, err
	}
	// Who has asked for it may hang up: half of this must not be left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), instructTimeout)
	defer cancel()
	c, err := s.CarrierFunc(ctx, call.Ref())
	asked := err == nil
	if asked {
		err = c.Instruct(ctx, call.CarrierCallID, s.bridge(call))
	}
	if err == nil {
		return call, nil
	}
	s.Log.WarnContext(ctx, "a call was not transferred", "call_id", call.ID, telemetry.KeyError, err)
	if _, refused := errors.AsType[*carrier.Refused](err); asked && !refused { // it may have been
		call, doubtErr := s.doubtTransfer(context.WithoutCancel(ctx), call)
		if doubtErr != nil {
			return call, doubtErr
		}
		return call, fault.Wrap(err, fault.UpstreamFailed, "The carrier did not say whether it transfers the call. Look at the call's transfer.")
	}
	// The caller is still with the agent, who was told that somebody was asked.
	failed, failErr := s.failTransfer(context.WithoutCancel(ctx), call, EndCarrierFailed)
	if failErr != nil {
		return call, failErr
	}
	return failed, fault.Wrap(err, fault.UpstreamFailed, "The carrier did not transfer the call.")
}

// doubtTransfer has Sweep see soon whether the carrier makes a transfer: then the caller's media
// socket has ended.
func (s *Service) doubtTransfer(ctx context.Context, call Call) (Call, error) {
	return s.changeTransfer(ctx, call, func(_ context.Context, _ bun.Tx, locked *Call) error {
		if locked.Transfer.Status == TransferRinging && locked.Transfer.AnsweredAt.IsZero() {
			locked.Transfer.DueAt = s.now().Add(doubtWithin)
			locked.CheckAt = locked.Transfer.DueAt
		}
		return nil
	})
}

// isWanted reports whether a requested transfer is still to be made: a session that has asked for
// it may have been given back to the agent, or taken over, meanwhile.
func isWanted(ctx context.Context, tx bun.Tx, call Call) (bool, error) {
	if !call.Transfer.BySession {
		return true, nil
	}
	session, err := sessions.Find(ctx, tx, call.TenantID, call.SessionID, "")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return false, nil
	}
	return err == nil && !session.Closed() && session.Handover.Status == sessions.HandoverRequested, err
}

// giveUpTransfer ends a transfer of which the carrier has said nothing, when the caller is still
// with the agent: whoever made it died before the carrier knew, or the carrier has not done it.
func (s *Service) giveUpTransfer(ctx context.Context, call Call) error {
	hasSocket, err := sessions.HasConnection(ctx, s.DB, call.TenantID, call.SessionID, sessions.VoiceChannel)
	if err != nil || !hasSocket {
		return err
	}
	_, err = s.failTransfer(ctx, call, EndCarrierFailed)
	return err
}

// sessionEnded has Sweep look at the call of a session that ends while a person is being looked
// for: there is no media socket whose end hangs up. It is an OnEnd of package sessions.
func (s *Service) sessionEnded(ctx context.Context, tx bun.Tx, session sessions.Session, _ []sessions.Turn) error {
	if !session.OnTelephone {
		return nil
	}
	return lookAt(ctx, tx, session.TenantID, session.EndedAt, func(q *bun.UpdateQuery) {
		q.Where("pc.session_id = ?", session.ID).Where("pc.transfer_status IN (?, ?)", TransferRequested, TransferRinging)
	})
}

// wasEnded reports whether the session of a call was ended while a person is being looked for. One
// that has waited too long for its caller was ended by nobody.
func (s *Service) wasEnded(ctx context.Context, call Call) (bool, error) {
	if call.SessionID == "" || !call.Transfer.isPending() {
		return false, nil
	}
	session, err := sessions.Find(ctx, s.DB, call.TenantID, call.SessionID, "")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return true, nil
	}
	return err == nil && session.Closed() && session.EndReason != sessions.ReasonDisconnected, err
}

// failTransfer writes down that nobody answered, and that the session does not want any more what
// it wanted before.
func (s *Service) failTransfer(ctx context.Context, call Call, reason string) (after Call, err error) {
	after, err = s.changeTransfer(ctx, call, func(_ context.Context, _ bun.Tx, locked *Call) error {
		if locked.Transfer.Status == TransferRinging {
			locked.Transfer.Status, locked.Transfer.Reason = TransferFailed, reason
		}
		return nil
	})
	if err == nil && after.SessionID != "" && after.Transfer.Status == TransferFailed {
		err = s.Handovers.Withdraw(ctx, after.TenantID, after.SessionID, call.Transfer.RequestedAt)
	}
	return after, err
}

// HangUp ends a call. One that is over is returned as it is. Errors: NotFound, Upstream
// upstream-failed.
func (s *Service) HangUp(ctx context.Context, ref workspaces.Ref, id ID) (Call, error) {
	call, err := s.Get(ctx, ref, id)
	if err != nil || call.Status.IsOver() {
		return call, err
	}
	if err := s.noteReason(ctx, call, EndCanceled); err != nil {
		return Call{}, err
	}
	return s.hangUp(ctx, call)
}

// CancelUser cancels the calls to a user that are being placed: while the carrier's id of a call is
// not known, only its row says what is to be hung up. Any other call can be deleted; see
// deletedCall. Errors: Unavailable while there are such calls, which is a minute at most when the
// carrier answers.
func (s *Service) CancelUser(ctx context.Context, ref workspaces.Ref, userID string) error {
	var placing []Call
	err := s.DB.NewSelect().Model(&placing).Where("pc.tenant_id = ?", ref.TenantID).Where("pc.workspace_id = ?", ref.ID).
		Where("pc.user_id = ?", userID).Where("pc.ended_at IS NULL").Where("pc.carrier_call_id = ''").Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the calls of a user: %w", err)
	}
	for _, call := range placing {
		if _, err := s.HangUp(ctx, ref, call.ID); err != nil {
			return err
		}
	}
	if len(placing) > 0 {
		return fault.New(fault.ServiceUnavailable, "A call to the user is being placed. It is hung up before it is erased.")
	}
	return nil
}

// hangUp has the carrier end a call, whose webhook then says that it is over.
func (s *Service) hangUp(ctx context.Context, call Call) (Call, error) {
	if call.CarrierCallID == "" { // it is being placed: Sweep hangs up when its id is known
		return call, nil
	}
	c, err := s.CarrierFunc(ctx, call.Ref())
	if err != nil {
		return Call{}, err
	}
	if err := c.Instruct(ctx, call.CarrierCallID, carrier.HangUp{}); err != nil {
		return Call{}, fault.Wrap(err, fault.UpstreamFailed, "The carrier did not end the call.")
	}
	return find(ctx, s.DB, call.TenantID, call.ID, func(*bun.SelectQuery) {})
}
