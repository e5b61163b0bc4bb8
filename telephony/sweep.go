package telephony

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/carrier"
)

// sweepBatch is how many calls one sweep looks at.
const sweepBatch = 50

// Sweep looks at calls of which the carrier has said nothing for a while: it finds those whose
// placing was cut off, counts minutes, ends calls of tenants whose minutes are used up, and those
// that were canceled or deleted, makes transfers that nobody else has made, and ends sessions whose
// call is over. It may run in many processes.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	failures := []error{s.sweepDeleted(ctx, now)} // one call's error must not keep the others
	for range sweepBatch {
		// One at a time: what is read of a call is old when a carrier was slow with those before.
		call, due, err := claimDue(ctx, s.DB, now, s.now().Add(checkEvery))
		if err != nil || !due {
			return errors.Join(append(failures, err)...)
		}
		failures = append(failures, s.look(ctx, call, now))
	}
	return errors.Join(failures...)
}

// look does what is due of a call.
func (s *Service) look(ctx context.Context, call Call, now time.Time) error {
	if call.Status.IsOver() {
		return s.lookBehind(ctx, call)
	}
	c, err := s.CarrierFunc(ctx, call.Ref())
	if fault.IsReason(err, fault.ProviderNotConfigured) { // its credential was deleted
		return s.end(ctx, call, Failed, string(fault.ProviderNotConfigured))
	}
	if err != nil {
		return err
	}
	if call.CarrierCallID == "" {
		return s.findPlaced(ctx, c, call, now)
	}
	// The session is read before the call is read again: who connects a call ends its session
	// behind that.
	sessionEnded, err := s.wasEnded(ctx, call)
	if err != nil {
		return err
	}
	u, err := c.Look(ctx, call.CarrierCallID)
	if refused, is := errors.AsType[*carrier.Refused](err); is {
		s.Log.WarnContext(ctx, "the carrier does not know a call any more", "call_id", call.ID, "code", refused.Code)
		return s.end(ctx, call, Failed, EndNotKnown)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "the carrier says nothing of a call", "call_id", call.ID, telemetry.KeyError, err)
		return nil // it is asked again
	}
	if call, err = s.apply(ctx, call, u); err != nil || call.Status.IsOver() {
		return err
	}
	if sessionEnded && call.Transfer.isPending() || call.EndReason == EndCanceled { // who canceled it may have died before the carrier knew
		_, err := s.hangUp(ctx, call)
		return err
	}
	return errors.Join(s.lookAtTransfer(ctx, call, now), s.meter(ctx, call, now))
}

// lookAtTransfer does what is due of a call's transfer.
func (s *Service) lookAtTransfer(ctx context.Context, call Call, now time.Time) error {
	switch t := call.Transfer; {
	case t.DueAt.IsZero() || t.DueAt.After(now):
	case t.Status == TransferRequested:
		_, err := s.makeTransfer(ctx, call)
		return err
	case t.Status == TransferRinging && !t.AnsweredAt.IsZero(): // the person has heard the summary
		return s.bridged(ctx, call)
	case t.Status == TransferRinging:
		return s.giveUpTransfer(ctx, call)
	}
	return nil
}

// findPlaced looks for a call whose placing was cut off. Nobody places it any more: its lease is
// over. So it is placed again when the carrier has none.
func (s *Service) findPlaced(ctx context.Context, c carrier.Carrier, call Call, now time.Time) error {
	if call.EndReason == EndCanceled { // before it was placed, as far as anybody knows
		return s.findCanceled(ctx, c, call, now)
	}
	u, found, err := s.find(ctx, c, call)
	switch {
	case err != nil && now.Sub(call.CreatedAt) > placeWithin:
		return s.end(ctx, call, Failed, EndNotKnown)
	case err != nil:
		s.Log.WarnContext(ctx, "it is not known yet whether a call was placed", "call_id", call.ID, telemetry.KeyError, err)
		return nil
	case found:
		_, err := s.apply(ctx, call, u)
		return err
	case now.Sub(call.CreatedAt) > placeWithin: // it knows of none
		return s.end(ctx, call, Failed, EndCarrierFailed)
	}
	call, mine, err := s.claimPlacing(ctx, call)
	if err != nil || !mine {
		return err
	}
	return s.Place(ctx, call)
}

// claimPlacing has nobody else place a call that was read while its carrier was asked for it,
// unless somebody has meanwhile.
func (s *Service) claimPlacing(ctx context.Context, call Call) (after Call, mine bool, err error) {
	err = postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		after, err = lock(ctx, tx, call)
		mine = err == nil && after.CarrierCallID == "" && !after.Status.IsOver() && after.EndReason == "" && after.CheckAt.Equal(call.CheckAt)
		if err != nil || !mine {
			return err
		}
		after.CheckAt = s.now().Add(placeLease)
		return update(ctx, tx, after, "check_at")
	})
	return after, mine, err
}

// findCanceled ends a call that was canceled while it was placed.
func (s *Service) findCanceled(ctx context.Context, c carrier.Carrier, call Call, now time.Time) error {
	u, found, err := s.find(ctx, c, call)
	if err != nil && now.Sub(call.CreatedAt) <= placeWithin {
		return nil // it is asked again
	}
	if found && !u.Status.IsFinal() {
		if err := c.Instruct(ctx, u.ID, carrier.HangUp{}); err != nil {
			return err
		}
	}
	return s.end(ctx, call, Canceled, EndCanceled)
}

// clockSkew is by how much the carrier's clock may be behind ours.
const clockSkew = time.Minute

// find asks the carrier for a call whose id got lost. One that is another call of ours is not it.
func (s *Service) find(ctx context.Context, c carrier.Carrier, call Call) (found carrier.Update, is bool, err error) {
	placed, err := c.Find(ctx, carrier.FindParams{From: call.From, To: call.To, Since: call.CreatedAt.Add(-clockSkew)})
	if err != nil {
		return carrier.Update{}, false, err
	}
	for _, u := range placed {
		owner, taken, err := findIncoming(ctx, s.DB, call.TenantID, call.Carrier, u.ID)
		if err != nil {
			return carrier.Update{}, false, err
		}
		if !taken || owner.ID == call.ID { // its own: a webhook was faster
			return u, true, nil
		}
	}
	return carrier.Update{}, false, nil
}

// meter counts the minutes that a call has begun, and ends it when the plan has no more.
func (s *Service) meter(ctx context.Context, call Call, now time.Time) error {
	if call.Status != InProgress {
		return nil
	}
	minutes := int((now.Sub(call.AnsweredAt)-minuteGrace)/time.Minute) + 1
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) error {
		locked, err := lock(ctx, tx, call)
		if err != nil || locked.Status != InProgress || locked.PSTNMinutes >= minutes {
			return err
		}
		if err := s.countMinutes(ctx, tx, &locked, minutes); err != nil {
			return err
		}
		return update(ctx, tx, locked, "pstn_minutes")
	})
	if err != nil {
		return err
	}
	if err := s.Admit(ctx, call.Ref(), now); err != nil {
		if err := s.noteReason(ctx, call, string(fault.QuotaUsage)); err != nil {
			return err
		}
		_, err := s.hangUp(ctx, call)
		return err
	}
	return nil
}
