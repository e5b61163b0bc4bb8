package telephony

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/telephony/numbers"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/workspaces"
)

// tokenSeconds is the life of the token of a call's session: a caller whose transfer failed comes
// back with another one.
const tokenSeconds = 3600

// Receive does what a carrier's request says, and returns the answer. A request may come twice.
// Errors: NotFound (the call or number), Invalid signature-invalid, Unavailable.
func (s *Service) Receive(ctx context.Context, h Hook) (carrier.Answer, error) {
	if h.NumberID != "" {
		return s.receiveIncoming(ctx, h)
	}
	call, err := findHooked(ctx, s.DB, h.CallID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		return s.receiveDeleted(ctx, h)
	}
	if err != nil {
		return carrier.Answer{}, err
	}
	telemetry.Note(ctx, telemetry.KeyTenantID, string(call.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(call.WorkspaceID))
	c, hook, err := s.read(ctx, call.Ref(), h)
	if err != nil {
		return carrier.Answer{}, err
	}
	if call.CarrierCallID != "" && hook.ID != "" && hook.ID != call.CarrierCallID && !ofPerson(h.Kind) {
		s.Log.WarnContext(ctx, "a webhook of another call", "call_id", call.ID)
		return c.Render(nil), nil
	}
	if h.Transfer != "" && h.Transfer != call.Transfer.number() { // it is late: there has been another since
		return c.Render(nil), nil
	}
	instruction, err := s.handle(ctx, c, call, hook)
	if fault.IsReason(err, fault.ResourceNotFound) { // it was deleted meanwhile
		return s.receiveDeleted(ctx, h)
	}
	if err != nil {
		return carrier.Answer{}, err
	}
	return c.Render(instruction), nil
}

// ofPerson reports whether a webhook is about the other leg of a transfer.
func ofPerson(kind carrier.Kind) bool {
	return kind == carrier.Whispered || kind == carrier.BridgeChanged
}

// handle does what a webhook says of a call. It returns what the carrier is to do; nil when it does
// not ask.
func (s *Service) handle(ctx context.Context, c carrier.Carrier, call Call, hook carrier.Webhook) (carrier.Instruction, error) {
	switch hook.Kind {
	case carrier.Asked:
		u := hook.Update
		u.Status = carrier.InProgress // it asks because somebody has answered
		call, err := s.apply(ctx, call, u)
		if err != nil {
			return nil, err
		}
		return s.connect(ctx, c, call, "")
	case carrier.StatusChanged:
		_, err := s.apply(ctx, call, hook.Update)
		return nil, err
	case carrier.MachineDetected:
		return nil, s.answeredBy(ctx, c, call, hook)
	case carrier.BridgeChanged:
		return nil, s.bridgeChanged(ctx, call, hook.Bridge)
	case carrier.BridgeEnded:
		return s.bridgeEnded(ctx, c, call, hook)
	case carrier.Whispered:
		return s.whisper(ctx, call)
	}
	return nil, fault.New(fault.InvalidRequest, "There is no webhook of this kind.")
}

// connect opens the session of a call that was answered, and says where its media socket is. note
// says why a caller comes back; see server/realtime/mediastream.
func (s *Service) connect(ctx context.Context, c carrier.Carrier, call Call, note string) (carrier.Instruction, error) {
	if call.Status != InProgress {
		return carrier.HangUp{}, nil
	}
	created, err := s.openSession(ctx, call)
	if err != nil {
		return s.turnAway(ctx, call, err)
	}
	if created.Session.Closed() { // while a person was looked for
		return apology(s.languageOf(ctx, call)), nil
	}
	return s.connection(c, created, note), nil
}

// connection is what connects a call with its session.
func (s *Service) connection(c carrier.Carrier, created sessions.Created, note string) carrier.Connect {
	parameters := map[string]string{"session_id": string(created.Session.ID), "token": created.Token}
	if note != "" {
		parameters["note"] = note
	}
	return carrier.Connect{URL: s.hooks.mediaURL(c.Name()), Parameters: parameters}
}

// turnAway ends a call that gets no session because of err: who calls hears the busy tone, whom an
// agent has called an apology. Errors: err when it may pass, those of the database.
func (s *Service) turnAway(ctx context.Context, call Call, err error) (carrier.Instruction, error) {
	decided := postgres.Decide(err)
	if decided.Reason == fault.ServiceUnavailable {
		return nil, err
	}
	if decided.Reason == fault.CallNotInProgress { // it has ended meanwhile
		return carrier.HangUp{}, nil
	}
	s.Log.WarnContext(ctx, "no session for a call", "call_id", call.ID, telemetry.KeyReason, decided.Reason)
	reason := string(decided.Reason)
	if decided.Reason == fault.ResourceNotFound {
		reason = EndAgentDeleted
	}
	switch {
	case call.SessionID != "": // it comes back from a transfer
		return carrier.HangUp{}, s.noteReason(ctx, call, reason)
	case call.Direction == Inbound: // nobody has answered it
		return carrier.Reject{Busy: true}, s.end(ctx, call, Busy, reason)
	}
	return apology(s.languageOf(ctx, call)), s.end(ctx, call, Failed, reason)
}

// openSession makes the session of a call, or returns the one that was made. The same call always
// makes the same session. Errors: those of Create and Rejoin; Precondition call-not-in-progress
// when the call has ended meanwhile, and the session with it.
func (s *Service) openSession(ctx context.Context, call Call) (sessions.Created, error) {
	principal := workspaces.Principal{TenantID: call.TenantID, WorkspaceID: call.WorkspaceID}
	if call.SessionID != "" {
		return s.Sessions.Rejoin(ctx, principal, call.SessionID)
	}
	ctx = idgen.WithSeed(ctx, idgen.Seed{At: call.CreatedAt, Secret: []byte("session of " + string(call.ID))})
	ttl := tokenSeconds
	created, err := s.Sessions.Create(ctx, principal, sessions.CreateParams{
		AgentID: call.AgentID, UserID: call.UserID, Modality: sessions.Voice, DynamicVariables: call.DynamicVariables, TTLSeconds: &ttl,
		OnTelephone: true, CallerID: call.From, CalledNumber: call.To, CallReason: call.Reason, Outbound: call.Direction == Outbound,
	})
	if err != nil {
		return sessions.Created{}, err
	}
	late, now := false, s.now()
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
		if call, err = lock(ctx, tx, call); err != nil || call.SessionID != "" {
			return err
		}
		call.SessionID = created.Session.ID
		if late = call.Status.IsOver(); late { // its end knew of no session
			call.CheckAt = now.Add(sessionEndsWithin)
			return update(ctx, tx, call, "session_id", "check_at")
		}
		if err := update(ctx, tx, call, "session_id"); err != nil {
			return err
		}
		return s.onAnswer(ctx, tx, call, now)
	})
	if err == nil && late {
		s.closeSession(ctx, call, call.EndReason)
		err = errOver(call)
	}
	return created, err
}

// noteReason writes down why a call is going to end, if that is not known.
func (s *Service) noteReason(ctx context.Context, call Call, reason string) error {
	return s.changeReason(ctx, call, "", reason)
}

// changeReason writes down another reason why a call is going to end than one that it has.
func (s *Service) changeReason(ctx context.Context, call Call, from, reason string) error {
	return postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		call, err := lock(ctx, tx, call)
		if err != nil || call.EndReason != from {
			return err
		}
		call.EndReason = reason
		return update(ctx, tx, call, "end_reason")
	})
}

// answeredBy writes down who has answered, and does with a machine what the agent says.
func (s *Service) answeredBy(ctx context.Context, c carrier.Carrier, call Call, hook carrier.Webhook) error {
	by, reason := Human, ""
	switch {
	case !hook.Human && !hook.Machine:
		return nil // it is not known
	case hook.Machine:
		by, reason = Machine, EndVoicemail
		if call.VoicemailMessage != "" && !hook.Fax {
			reason = EndVoicemailLeft
		}
	}
	first := false
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		locked, err := lock(ctx, tx, call)
		if err != nil || locked.AnsweredBy != "" || locked.Status.IsOver() {
			return err
		}
		locked.AnsweredBy, first = by, true
		if reason != "" && locked.EndReason == "" {
			locked.EndReason = reason
		}
		call = locked
		return update(ctx, tx, locked, "answered_by", "end_reason")
	})
	if err != nil || !first || !hook.Machine {
		return err
	}
	var instruction carrier.Instruction = carrier.HangUp{}
	if reason == EndVoicemailLeft {
		text := sessions.RenderVariables(call.VoicemailMessage, call.DynamicVariables)
		instruction = carrier.Speak{Text: text, Language: s.languageOf(ctx, call)}
	}
	err = c.Instruct(ctx, call.CarrierCallID, instruction)
	if _, refused := errors.AsType[*carrier.Refused](err); refused && reason == EndVoicemailLeft { // it was not
		s.Log.WarnContext(ctx, "the carrier left no message", "call_id", call.ID, telemetry.KeyError, err)
		reason = EndVoicemail
		err = s.changeReason(ctx, call, EndVoicemailLeft, reason)
	}
	// Behind the instruction: a call whose media socket ends has nothing else to do, and is hung
	// up.
	s.closeSession(ctx, call, reason)
	return err
}

// languageOf is the language of a call's agent; empty when it has none.
func (s *Service) languageOf(ctx context.Context, call Call) string {
	agent, err := s.Agents.Get(ctx, call.Ref(), call.AgentID)
	if err != nil { // it is spoken in the carrier's own
		return ""
	}
	return agent.Config.Language
}

// receiveIncoming takes a call for one of our numbers.
func (s *Service) receiveIncoming(ctx context.Context, h Hook) (carrier.Answer, error) {
	number, err := s.Numbers.Find(ctx, h.NumberID)
	if err != nil {
		return carrier.Answer{}, err
	}
	ref := number.Ref()
	telemetry.Note(ctx, telemetry.KeyTenantID, string(ref.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(ref.ID))
	c, hook, err := s.read(ctx, ref, h)
	if err != nil {
		return carrier.Answer{}, err
	}
	instruction, err := s.takeIncoming(ctx, c, number, hook)
	if err != nil {
		return carrier.Answer{}, err
	}
	return c.Render(instruction), nil
}

// takeIncoming writes a call down that comes in, asks the customer about it, and connects it. A
// repeated request finds the call.
func (s *Service) takeIncoming(
	ctx context.Context, c carrier.Carrier, number numbers.Number, hook carrier.Webhook,
) (carrier.Instruction, error) {
	call, known, err := findIncoming(ctx, s.DB, number.TenantID, c.Name(), hook.ID)
	if err != nil {
		return nil, err
	}
	if known {
		return s.answerIncoming(ctx, c, call)
	}
	if !number.Enabled {
		return carrier.Reject{}, nil
	}
	if err := s.Admit(ctx, number.Ref(), s.now()); err != nil {
		s.Log.WarnContext(ctx, "a call was not taken: the plan's minutes are used up", "number_id", number.ID)
		return carrier.Reject{Busy: true}, nil //nolint:nilerr // the caller hears the busy tone
	}
	call = Call{
		ID: ID(idgen.New(idgen.PhoneCall)), TenantID: number.TenantID, WorkspaceID: number.WorkspaceID, AgentID: number.AgentID,
		Direction: Inbound, From: hook.From, To: number.PhoneNumber, Status: Ringing, NumberID: number.ID, Carrier: c.Name(),
		CarrierCallID: hook.ID,
	}
	found, err := s.Numbers.LookUp(ctx, number, numbers.LookUpParams{CallID: string(call.ID), From: call.From, To: call.To})
	if err != nil {
		return nil, err
	}
	if found.Reject {
		return carrier.Reject{}, nil
	}
	call.UserID, call.DynamicVariables = found.UserID, found.DynamicVariables
	if found.AgentID != "" {
		call.AgentID = found.AgentID
	}
	agent, err := s.Agents.Get(ctx, number.Ref(), call.AgentID)
	if fault.IsReason(err, fault.ResourceNotFound) {
		s.Log.WarnContext(ctx, "a number names an agent that was deleted", "number_id", number.ID)
		return carrier.Reject{}, nil
	}
	if err != nil {
		return nil, err
	}
	now := s.now()
	call.ZeroRetention = agent.Config.Privacy.ZeroRetention
	call.MaxSeconds, call.CreatedAt, call.CheckAt = int(agent.Config.MaxDuration().Seconds()), now, now.Add(checkEvery)
	variables := call.DynamicVariables
	if call, err = s.insertIncoming(ctx, call); err != nil {
		return nil, err
	}
	call.DynamicVariables = variables
	return s.answerIncoming(ctx, c, call)
}

// answerIncoming opens the session of a call before it is answered, and answers it. Without one
// the caller hears the busy tone, and pays nothing.
func (s *Service) answerIncoming(ctx context.Context, c carrier.Carrier, call Call) (carrier.Instruction, error) {
	if call.Status.IsOver() { // the request is repeated
		return carrier.Reject{Busy: true}, nil
	}
	created, err := s.openSession(ctx, call)
	if err != nil {
		return s.turnAway(ctx, call, err)
	}
	call, err = s.apply(ctx, call, carrier.Update{ID: call.CarrierCallID, Status: carrier.InProgress})
	if err != nil {
		return nil, err
	}
	if call.Status != InProgress { // it has ended meanwhile
		return carrier.HangUp{}, nil
	}
	return s.connection(c, created, ""), nil
}

// insertIncoming stores a call without its secret variables, and returns it; or that of the same
// request when it was faster.
func (s *Service) insertIncoming(ctx context.Context, call Call) (Call, error) {
	call.DynamicVariables = maps.Clone(call.DynamicVariables)
	maps.DeleteFunc(call.DynamicVariables, func(name, _ string) bool { return strings.HasPrefix(name, tools.SecretPrefix) })
	err := insert(ctx, s.DB, &call)
	if postgres.IsUnique(err, "phone_calls_carrier") {
		call, _, err = findIncoming(ctx, s.DB, call.TenantID, call.Carrier, call.CarrierCallID)
	}
	return call, err
}
