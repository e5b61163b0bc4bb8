package telephony

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/provider/carrier"
)

// bridge is what the carrier is told to transfer a call.
func (s *Service) bridge(call Call) carrier.Instruction {
	b := carrier.Bridge{
		From: call.To, To: call.Transfer.To, Ring: time.Duration(call.Transfer.RingSeconds) * time.Second,
		MaxDuration: time.Duration(call.MaxSeconds) * time.Second,
		StatusURL:   s.hooks.ofTransfer(call, carrier.BridgeChanged), EndedURL: s.hooks.ofTransfer(call, carrier.BridgeEnded),
	}
	if call.Direction == Outbound {
		b.From = call.From
	}
	if call.Transfer.Mode == agents.Warm {
		b.WhisperURL = s.hooks.ofTransfer(call, carrier.Whispered)
	}
	return b
}

// whisper is what the person hears before the caller. Only who hears it to its end is connected. No
// carrier says when that is, so it is taken to be by its length.
func (s *Service) whisper(ctx context.Context, call Call) (carrier.Instruction, error) {
	spoken := carrier.Speak{Text: "You have a call.", Language: "en-US", Whisper: true}
	if call.Transfer.Summary != "" {
		spoken.Text, spoken.Language = call.Transfer.Summary, s.languageOf(ctx, call)
	}
	after, err := s.changeTransfer(ctx, call, func(_ context.Context, _ bun.Tx, locked *Call) error {
		if locked.Transfer.Status != TransferRinging || !locked.Transfer.AnsweredAt.IsZero() {
			return nil
		}
		said := time.Duration(utf8.RuneCountInString(spoken.Text)) * time.Second / spokenPerSecond
		locked.Transfer.AnsweredAt = s.now()
		locked.Transfer.DueAt = locked.Transfer.AnsweredAt.Add(said + whisperGrace)
		locked.CheckAt = locked.Transfer.DueAt
		return nil
	})
	if err == nil && after.Transfer.Status == TransferRinging { // for a caller who comes back after a long summary
		err = s.Sessions.WaitFrom(ctx, after.TenantID, after.SessionID, after.Transfer.DueAt)
	}
	return spoken, err
}

// bridgeChanged writes down that the person has answered. One who is told the summary first is not
// connected yet; see whisper.
func (s *Service) bridgeChanged(ctx context.Context, call Call, status carrier.Status) error {
	if status != carrier.InProgress || call.Transfer.Mode == agents.Warm { // how it ended is said by bridgeEnded
		return nil
	}
	return s.bridged(ctx, call)
}

// bridged writes down that the caller is connected with the person. The conversation with the agent
// is over. A carrier may do what it seemed to have refused.
func (s *Service) bridged(ctx context.Context, call Call) error {
	after, err := s.changeTransfer(ctx, call, func(_ context.Context, _ bun.Tx, locked *Call) error {
		t := &locked.Transfer
		if t.Status == TransferRinging || t.Status == TransferFailed && t.Reason == EndCarrierFailed && locked.Status == InProgress {
			t.Status, t.Reason, t.ConnectedAt = TransferConnected, "", s.now()
		}
		return nil
	})
	if err == nil && after.Transfer.Status == TransferConnected && after.Transfer.number() == call.Transfer.number() {
		s.closeSession(ctx, after, EndTransferred)
	}
	return err
}

// bridgeEnded ends a call that was transferred, or brings the caller back to the agent.
func (s *Service) bridgeEnded(ctx context.Context, c carrier.Carrier, call Call, hook carrier.Webhook) (carrier.Instruction, error) {
	if hook.Bridge == carrier.Completed {
		if err := s.bridged(ctx, call); err != nil { // what said so before may have been lost
			return nil, err
		}
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
	if call.Transfer.Status == TransferConnected {
		return carrier.HangUp{}, nil
	}
	return s.connect(ctx, c, call, noteTransferFailed)
}
