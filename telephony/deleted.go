package telephony

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/workspaces"
)

const (
	// hungUpKept is how long the row of a deleted call stays that was hung up: the carrier's requests
	// about it are checked with the account that it names.
	hungUpKept = 10 * time.Minute
	// hangUpWithin is how long it is tried to hang a deleted call up. No call lasts longer.
	hangUpWithin = 4 * time.Hour
)

// deletedCall is a call that went on when its row was deleted: with its user, session, workspace or
// tenant. A trigger of the database notes it, so that no way to delete a call forgets to.
type deletedCall struct {
	bun.BaseModel `bun:"table:deleted_calls,alias:dc"`

	ID            ID                  `bun:"id,pk"`
	TenantID      workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID   workspaces.ID       `bun:"workspace_id"`
	Carrier       string              `bun:"carrier"`
	CarrierCallID carrier.CallID      `bun:"carrier_call_id"`
	// CredentialID and those after it are the workspace's own account; empty: it had none.
	CredentialID workspaces.CredentialID `bun:"credential_id"`
	AccountID    string                  `bun:"account_id"`
	BaseURL      string                  `bun:"base_url"`
	SealedKey    []byte                  `bun:"api_key"`
	HungUp       bool                    `bun:"hung_up"`
	DueAt        time.Time               `bun:"due_at"`
	CreatedAt    time.Time               `bun:"created_at"`
}

// carrierOf returns the carrier of a deleted call, whose workspace may be gone.
func (s *Service) carrierOf(ctx context.Context, call deletedCall) (carrier.Carrier, error) {
	if call.CredentialID == "" {
		return s.CarrierFunc(ctx, workspaces.Ref{TenantID: call.TenantID, ID: call.WorkspaceID})
	}
	return s.AccountFunc(ctx, workspaces.Credential{
		ID: call.CredentialID, TenantID: call.TenantID, WorkspaceID: call.WorkspaceID, AccountID: call.AccountID, BaseURL: call.BaseURL,
		SealedKey: call.SealedKey,
	})
}

// receiveDeleted answers a carrier's request about a call that is not there: it is hung up. One
// that no account is known for is checked with the installation's. Errors: NotFound when it is not
// signed by the account.
func (s *Service) receiveDeleted(ctx context.Context, h Hook) (carrier.Answer, error) {
	call, known, err := findDeleted(ctx, s.DB, h.CallID)
	if err != nil {
		return carrier.Answer{}, err
	}
	c, hook, err := s.readWith(h, func() (carrier.Carrier, error) { return s.carrierOf(ctx, call) })
	if err != nil {
		return carrier.Answer{}, fault.Wrap(err, fault.ResourceNotFound, "There is no such call.")
	}
	if known && !hook.Status.IsFinal() && !ofPerson(hook.Kind) {
		if err := s.endDeleted(ctx, call.ID, hook.ID); err != nil {
			return carrier.Answer{}, err
		}
	}
	switch hook.Kind {
	case carrier.Asked, carrier.BridgeEnded, carrier.Whispered:
		return c.Render(carrier.HangUp{}), nil
	case carrier.StatusChanged, carrier.MachineDetected, carrier.BridgeChanged:
	}
	return c.Render(nil), nil
}

// endDeleted hangs a deleted call up whose id the carrier has just said.
func (s *Service) endDeleted(ctx context.Context, id ID, carrierID carrier.CallID) error {
	now := s.now()
	var calls []deletedCall
	err := s.DB.NewRaw(postgres.RawForAllTenants("a carrier names a call by its id", `
UPDATE deleted_calls AS dc
SET carrier_call_id = ?,
    due_at = ?
WHERE dc.id = ?
  AND dc.carrier_call_id IN ('', ?)
  AND NOT dc.hung_up
RETURNING dc.*`), carrierID, now.Add(checkEvery), id, carrierID).Scan(ctx, &calls)
	if err != nil {
		return fmt.Errorf("note the carrier's id of a deleted call: %w", err)
	}
	for _, call := range calls {
		if err := s.hangUpDeleted(ctx, call, now); err != nil {
			return err
		}
	}
	return nil
}

// sweepDeleted hangs deleted calls up, and forgets those that are over.
func (s *Service) sweepDeleted(ctx context.Context, now time.Time) error {
	var due []deletedCall
	err := s.DB.NewRaw(postgres.RawForAllTenants("what is due of calls is done for all tenants", claimDeletedSQL),
		now, sweepBatch, now.Add(checkEvery)).Scan(ctx, &due)
	if err != nil {
		return fmt.Errorf("claim deleted calls: %w", err)
	}
	var failures []error // one call's error must not keep the others
	for _, call := range due {
		if call.HungUp || call.CarrierCallID == "" || now.Sub(call.CreatedAt) > hangUpWithin {
			failures = append(failures, forgetDeleted(ctx, s.DB, call))
			continue
		}
		failures = append(failures, s.hangUpDeleted(ctx, call, now))
	}
	return errors.Join(failures...)
}

// hangUpDeleted has the carrier end a deleted call. When that fails, Sweep does it again. Errors:
// those of the database.
func (s *Service) hangUpDeleted(ctx context.Context, call deletedCall, now time.Time) error {
	c, err := s.carrierOf(ctx, call)
	if err == nil {
		err = c.Instruct(ctx, call.CarrierCallID, carrier.HangUp{})
	}
	if _, refused := errors.AsType[*carrier.Refused](err); err != nil && !refused { // refused: it is over
		s.Log.WarnContext(ctx, "a deleted call was not hung up", "call_id", call.ID, telemetry.KeyError, err)
		return nil
	}
	_, err = s.DB.NewUpdate().Model((*deletedCall)(nil)).Set("hung_up = true").Set("due_at = ?", now.Add(hungUpKept)).
		Where("dc.tenant_id = ?", call.TenantID).Where("dc.id = ?", call.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note that a deleted call was hung up: %w", err)
	}
	return nil
}

// findDeleted reads a deleted call.
func findDeleted(ctx context.Context, db bun.IDB, id ID) (call deletedCall, known bool, err error) {
	err = db.NewSelect().Model(&call).Where("dc.id = ?", id).
		Comment(postgres.AllTenants("a carrier names a call by its id, and is checked by a signature then")).Scan(ctx)
	if postgres.NoRows(err) {
		return deletedCall{}, false, nil
	}
	if err != nil {
		return deletedCall{}, false, fmt.Errorf("read a deleted call: %w", err)
	}
	return call, true, nil
}

func forgetDeleted(ctx context.Context, db bun.IDB, call deletedCall) error {
	_, err := db.NewDelete().Model((*deletedCall)(nil)).Where("dc.tenant_id = ?", call.TenantID).Where("dc.id = ?", call.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget a deleted call: %w", err)
	}
	return nil
}

// claimDeletedSQL takes deleted calls that are due, and has nobody else take them for a while.
const claimDeletedSQL = `
WITH due AS (
    SELECT dc.id
    FROM deleted_calls AS dc
    WHERE dc.due_at <= ?
    ORDER BY dc.due_at
    LIMIT ?
    FOR UPDATE SKIP LOCKED
)
UPDATE deleted_calls AS dc
SET due_at = ?
FROM due
WHERE dc.id = due.id
RETURNING dc.*`
