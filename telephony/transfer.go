package telephony

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

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
	// sayWithin is how long an agent may take to say that it transfers the caller, before it is done
	// without that.
	sayWithin = 20 * time.Second
	// spokenPerSecond is how many characters of a summary are said in a second, and whisperGrace
	// what is added to its length.
	spokenPerSecond = 12
	whisperGrace    = 3 * time.Second
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
	if call, err = s.requestTransfer(ctx, call, p, agent.Config.Handover.Ring(), s.now()); err != nil {
		return Call{}, err
	}
	return s.makeTransfer(ctx, call)
}

// BadNumber says what a number must be like.
const BadNumber = "This is no telephone number. Give it with its country's code, e.g. +4930123456."

// requestTransfer writes down that a call is to be transferred. A request for the same number that
// there is stays. Errors: Precondition call-not-in-progress, AlreadyExists conflict (there is one
// for another number).
func (s *Service) requestTransfer(
	ctx context.Context, call Call, p TransferParams, ring time.Duration, due time.Time,
) (after Call, err error) {
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if after, err = lock(ctx, tx, call); err != nil {
			return err
		}
		if after.Status != InProgress {
			return errOver(after)
		}
		switch t := after.Transfer; t.Status {
		case TransferRequested, TransferRinging, TransferConnected:
			if t.To != p.To {
				return fault.New(fault.Conflict, "The call is being transferred to another number already (%s).", t.Status)
			}
			return nil
		}
		mode := p.Mode
		if mode == "" {
			mode = agents.Cold
		}
		after.Transfer = Transfer{
			Status: TransferRequested, To: p.To, Mode: mode, Summary: p.Summary, RingSeconds: int(ring.Seconds()),
			RequestedAt: s.now(), DueAt: due,
		}
		after.CheckAt = due
		return updateTransfer(ctx, tx, after)
	})
	return after, err
}

func updateTransfer(ctx context.Context, tx bun.Tx, call Call) error {
	return update(ctx, tx, call, "check_at", "transfer_status", "transfer_to", "transfer_mode", "transfer_summary", "transfer_reason",
		"transfer_ring_seconds", "transfer_requested_at", "transfer_connected_at", "transfer_due_at")
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
	p := TransferParams{To: destination.PhoneNumber, Mode: settings.Mode, Summary: session.Handover.Summary}
	_, err = s.requestTransfer(ctx, call, p, settings.Ring(), s.now().Add(sayWithin))
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
// soon how the call is. transferred says that it has ended because the caller is connected with a
// person: the caller comes back when nobody answers. Errors: those of the database.
func (s *Service) MediaEnded(ctx context.Context, p MediaEndedParams) (transferred bool, err error) {
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
		transferred = call.transferredFrom(p.OpenedAt)
		// The carrier may have been faster to say that the call is over.
		if p.Lost && !transferred && (call.EndReason == "" || call.EndReason == EndPersonHungUp) {
			call.EndReason = EndMediaLost
		}
		return update(ctx, tx, call, "check_at", "end_reason")
	})
	return transferred, err
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

// makeTransfer has the carrier connect a call. Whoever changes the status makes it.
func (s *Service) makeTransfer(ctx context.Context, call Call) (Call, error) {
	mine := false
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		locked, err := lock(ctx, tx, call)
		if err != nil {
			return err
		}
		if mine = locked.Transfer.Status == TransferRequested && locked.Status == InProgress; mine {
			locked.Transfer.Status, locked.CheckAt, locked.Transfer.DueAt = TransferRinging, s.now().Add(checkEvery), time.Time{}
		}
		call = locked
		return updateTransfer(ctx, tx, locked)
	})
	if err != nil || !mine {
		return call, err
	}
	c, err := s.CarrierFunc(ctx, call.Ref())
	if err == nil {
		err = c.Instruct(ctx, call.CarrierCallID, s.bridge(call))
	}
	if err == nil {
		return call, nil
	}
	s.Log.WarnContext(ctx, "a call was not transferred", "call_id", call.ID, telemetry.KeyError, err)
	// The caller is still with the agent, who was told that somebody was asked.
	failed, failErr := s.failTransfer(ctx, call, EndCarrierFailed)
	if failErr != nil {
		return call, failErr
	}
	return failed, fault.Wrap(err, fault.UpstreamFailed, "The carrier did not transfer the call.")
}

// bridge is what the carrier is told to transfer a call.
func (s *Service) bridge(call Call) carrier.Instruction {
	b := carrier.Bridge{
		From: call.To, To: call.Transfer.To, Ring: time.Duration(call.Transfer.RingSeconds) * time.Second,
		MaxDuration: time.Duration(call.MaxSeconds) * time.Second,
		StatusURL:   s.hooks.of(call, carrier.BridgeChanged), EndedURL: s.hooks.of(call, carrier.BridgeEnded),
	}
	if call.Direction == Outbound {
		b.From = call.From
	}
	if call.Transfer.Mode == agents.Warm {
		b.WhisperURL = s.hooks.of(call, carrier.Whispered)
	}
	return b
}

// whisper is what the person hears before the caller.
func (s *Service) whisper(ctx context.Context, call Call) carrier.Instruction {
	if call.Transfer.Summary == "" {
		return carrier.Speak{Text: "You have a call.", Language: "en-US", Whisper: true}
	}
	return carrier.Speak{Text: call.Transfer.Summary, Language: s.languageOf(ctx, call), Whisper: true}
}

// bridgeChanged writes down that the person has answered.
func (s *Service) bridgeChanged(ctx context.Context, call Call, status carrier.Status) error {
	if status != carrier.InProgress {
		return nil // how it ended is said by bridgeEnded
	}
	if call.Transfer.Mode == agents.Warm {
		return s.whispering(ctx, call)
	}
	return s.bridged(ctx, call)
}

// whispering notes that the person hears the summary: only who hears it to its end is connected. No
// carrier says when that is, so it is taken to be by its length.
func (s *Service) whispering(ctx context.Context, call Call) error {
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		locked, err := lock(ctx, tx, call)
		if err != nil || locked.Transfer.Status != TransferRinging || !locked.Transfer.DueAt.IsZero() {
			return err
		}
		said := time.Duration(utf8.RuneCountInString(locked.Transfer.Summary)) * time.Second / spokenPerSecond
		locked.Transfer.DueAt = s.now().Add(said + whisperGrace)
		locked.CheckAt = locked.Transfer.DueAt
		return updateTransfer(ctx, tx, locked)
	})
}

// bridged writes down that the caller is connected with the person. The conversation with the agent
// is over.
func (s *Service) bridged(ctx context.Context, call Call) error {
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		locked, err := lock(ctx, tx, call)
		if err != nil || locked.Transfer.Status != TransferRinging {
			return err
		}
		return s.connected(ctx, tx, &locked)
	})
	if err == nil {
		s.closeSession(ctx, call, EndTransferred)
	}
	return err
}

func (s *Service) connected(ctx context.Context, tx bun.Tx, call *Call) error {
	call.Transfer.Status, call.Transfer.ConnectedAt = TransferConnected, s.now()
	return updateTransfer(ctx, tx, *call)
}

// bridgeEnded ends a call that was transferred, or brings the caller back to the agent.
func (s *Service) bridgeEnded(ctx context.Context, c carrier.Carrier, call Call, hook carrier.Webhook) (carrier.Instruction, error) {
	if hook.Bridge == carrier.Completed {
		if err := s.bridged(ctx, call); err != nil { // what said so before may have been lost
			return nil, err
		}
		return carrier.HangUp{}, nil
	}
	if call.Transfer.Status == TransferConnected {
		return carrier.HangUp{}, nil
	}
	if hook.Status.IsFinal() { // the caller is gone: the end of the call says why it was not transferred
		at := s.now().Add(mediaEndedCheck)
		return carrier.HangUp{}, lookAt(ctx, s.DB, call.TenantID, at, func(q *bun.UpdateQuery) { q.Where("pc.id = ?", call.ID) })
	}
	call, err := s.failTransfer(ctx, call, string(hook.Bridge))
	if err != nil {
		return nil, err
	}
	return s.connect(ctx, c, call, noteTransferFailed)
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

// isAbandoned reports whether a call's session was ended while a person is being looked for. One
// that has waited too long for its caller was ended by nobody.
func (s *Service) isAbandoned(ctx context.Context, call Call) (bool, error) {
	if call.SessionID == "" || !call.Transfer.isPending() {
		return false, nil
	}
	session, err := sessions.Find(ctx, s.DB, call.TenantID, call.SessionID, "")
	if fault.IsReason(err, fault.ResourceNotFound) { // it was erased
		return true, nil
	}
	return err == nil && session.Closed() && session.EndReason != sessions.ReasonDisconnected, err
}

// failTransfer writes down that nobody answered, and that the session wants nobody any more.
func (s *Service) failTransfer(ctx context.Context, call Call, reason string) (after Call, err error) {
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		if after, err = lock(ctx, tx, call); err != nil || after.Transfer.Status != TransferRinging {
			return err
		}
		after.Transfer.Status, after.Transfer.Reason = TransferFailed, reason
		return updateTransfer(ctx, tx, after)
	})
	if err == nil && after.SessionID != "" {
		err = s.Handovers.Withdraw(ctx, after.TenantID, after.SessionID)
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
