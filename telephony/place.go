package telephony

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

const (
	// placeTimeout bounds the request that places a call.
	placeTimeout = 15 * time.Second
	// placeLease is how long nobody else looks at a call that is being placed. It is above
	// placeTimeout: who looks then knows that no request is on its way any more.
	placeLease = 40 * time.Second
	// placeWithin is how long a call may take to be placed when the carrier fails.
	placeWithin = 10 * time.Minute
)

// NewCall describes a call to place.
type NewCall struct {
	Ref    workspaces.Ref
	Agent  agents.Agent
	UserID string
	// To is E.164.
	To         string
	CallbackID CallbackID
	Attempt    int
	// DynamicVariables are those of the session, Reason what the call is about.
	DynamicVariables map[string]string
	Reason           string
	// Carrier and From are what Outbound returned.
	Carrier string
	From    string
}

// Outbound returns the carrier's name and the number that an agent's calls come from. Errors:
// Precondition provider-not-configured.
func (s *Service) Outbound(ctx context.Context, ref workspaces.Ref, agent agents.Agent) (carrierName, from string, err error) {
	c, err := s.CarrierFunc(ctx, ref)
	if err != nil {
		return "", "", err
	}
	from = agent.Config.Callbacks.FromNumber
	if from == "" {
		if from, err = s.Numbers.First(ctx, ref); err != nil {
			return "", "", err
		}
	}
	if from = cmp.Or(from, s.DefaultFrom); from == "" {
		return "", "", fault.New(fault.ProviderNotConfigured,
			"There is no number to call from. Add one to the workspace's phone numbers, or set callbacks.from_number of the agent.")
	}
	foreign, err := s.Numbers.IsForeign(ctx, ref.TenantID, from)
	if err != nil {
		return "", "", err
	}
	if foreign {
		return "", "", fault.New(fault.ProviderNotConfigured,
			"The number %s is not this workspace's. Set callbacks.from_number of the agent to one that is.", from)
	}
	return c.Name(), from, nil
}

// Admit refuses a call at a time in a month whose minutes are used up. Errors: QuotaExceeded
// quota-exceeded-usage.
func (s *Service) Admit(ctx context.Context, ref workspaces.Ref, at time.Time) error {
	if s.Usage == nil {
		return nil
	}
	return s.Usage.AdmitAt(ctx, ref.TenantID, at, usage.PSTNMinutes)
}

// AdmitNow refuses a call that is to be placed now: whoever answers it must get a session. Whether
// that has a place among those at once HasRoomTx says. Errors: QuotaExceeded quota-exceeded-usage.
func (s *Service) AdmitNow(ctx context.Context, ref workspaces.Ref) error {
	if err := s.Admit(ctx, ref, s.now()); err != nil || s.Usage == nil {
		return err
	}
	return s.Usage.AdmitSession(ctx, ref.TenantID, true)
}

// HasRoomTx reports whether of so many sessions at once (0: any number) that a tenant's plan allows
// one is left for a call that is to be placed: those that ring will need one too. Others wait until
// the transaction is over, so that two do not take the last one.
func (s *Service) HasRoomTx(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID, atOnce int) (bool, error) {
	if atOnce <= 0 {
		return true, nil
	}
	if err := postgres.LockTx(ctx, tx, "calls of "+string(tenant)); err != nil {
		return false, err
	}
	open, err := sessions.CountOpen(ctx, tx, tenant, s.now())
	if err != nil {
		return false, err
	}
	ringing, err := countRinging(ctx, tx, tenant)
	return open+ringing < atOnce, err
}

// CreateTx writes down that a number is being called, before it is.
func (s *Service) CreateTx(ctx context.Context, tx bun.Tx, n NewCall, now time.Time) (Call, error) {
	settings := n.Agent.Config.Callbacks
	call := Call{
		ID: ID(idgen.New(idgen.PhoneCall)), TenantID: n.Ref.TenantID, WorkspaceID: n.Ref.ID, AgentID: n.Agent.ID, UserID: n.UserID,
		Direction: Outbound, From: n.From, To: n.To, Status: Dialing, CallbackID: n.CallbackID, Attempt: n.Attempt, Carrier: n.Carrier,
		DynamicVariables: n.DynamicVariables, Reason: n.Reason, RingSeconds: int(settings.Ring().Seconds()),
		MaxSeconds: int(n.Agent.Config.MaxDuration().Seconds()), DetectMachine: true,
		ZeroRetention: n.Agent.Config.Privacy.ZeroRetention,
		CheckAt:       now.Add(placeLease), CreatedAt: now,
	}
	if settings.Voicemail == agents.VoicemailLeaveMessage {
		call.VoicemailMessage = settings.VoicemailMessage
	}
	return call, insert(ctx, tx, &call)
}

// Place has the carrier place a call that CreateTx wrote down. A carrier that refuses ends the
// call. After another error it is not known whether the number is called, and one whose lease is
// nearly over is not placed; Sweep does the rest, so the caller has nothing to do. Errors: those of
// the database.
func (s *Service) Place(ctx context.Context, call Call) error {
	c, err := s.CarrierFunc(ctx, call.Ref())
	if fault.IsReason(err, fault.ProviderNotConfigured) {
		return s.end(ctx, call, Failed, string(fault.ProviderNotConfigured))
	}
	if err != nil || call.CheckAt.Sub(s.now()) < placeTimeout {
		return err
	}
	placing, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	id, err := c.Place(placing, call.place(s.hooks))
	if refused, is := errors.AsType[*carrier.Refused](err); is {
		s.Log.WarnContext(ctx, "the carrier refused a call", "call_id", call.ID, "code", refused.Code)
		return s.end(ctx, call, Failed, EndCarrierFailed+" "+refused.Code)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "it is not known whether a call was placed", "call_id", call.ID, telemetry.KeyError, err)
		return nil
	}
	return s.placed(context.WithoutCancel(ctx), call, id)
}

// placed notes the carrier's id of a call, unless a webhook was faster. A call that was canceled,
// ended or deleted meanwhile is hung up.
func (s *Service) placed(ctx context.Context, call Call, id carrier.CallID) error {
	var after Call
	unwanted := false
	err := postgres.InTx(ctx, s.DB, func(ctx context.Context, tx bun.Tx) (err error) {
		if after, err = lock(ctx, tx, call); err != nil {
			return err
		}
		unwanted = after.EndReason == EndCanceled && !after.Status.IsOver()
		if after.CarrierCallID != "" {
			return nil
		}
		unwanted = unwanted || after.Status.IsOver()
		after.CarrierCallID = id
		return update(ctx, tx, after, "carrier_call_id")
	})
	if fault.IsReason(err, fault.ResourceNotFound) {
		return s.endDeleted(ctx, call.ID, id)
	}
	if err == nil && unwanted {
		_, err = s.hangUp(ctx, after)
	}
	return err
}
