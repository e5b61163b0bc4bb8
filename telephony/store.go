package telephony

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/carrier"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// find reads a call. Errors: NotFound.
func find(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, narrow func(*bun.SelectQuery)) (Call, error) {
	if !idgen.Valid(idgen.PhoneCall, string(id)) {
		return Call{}, fault.NoSuch("call", string(id))
	}
	var call Call
	query := db.NewSelect().Model(&call).Where("pc.tenant_id = ?", tenant).Where("pc.id = ?", id)
	narrow(query)
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Call{}, fault.NoSuch("call", string(id))
	}
	if err != nil {
		return Call{}, fmt.Errorf("read a call: %w", err)
	}
	return call, nil
}

// lock reads a call and locks its row.
func lock(ctx context.Context, tx bun.Tx, call Call) (Call, error) {
	return find(ctx, tx, call.TenantID, call.ID, func(q *bun.SelectQuery) { q.For("UPDATE") })
}

// findHooked reads the call that a carrier's request names; nothing says yet whose it is. Errors:
// NotFound.
func findHooked(ctx context.Context, db bun.IDB, id ID) (Call, error) {
	if !idgen.Valid(idgen.PhoneCall, string(id)) {
		return Call{}, fault.NoSuch("call", string(id))
	}
	var call Call
	err := db.NewSelect().Model(&call).Where("pc.id = ?", id).
		Comment(postgres.AllTenants("a carrier names a call by its id, and is checked by a signature then")).Scan(ctx)
	if postgres.NoRows(err) {
		return Call{}, fault.NoSuch("call", string(id))
	}
	if err != nil {
		return Call{}, fmt.Errorf("read the call of a webhook: %w", err)
	}
	return call, nil
}

// findIncoming reads the call that a carrier knows by an id of its own; known is false when it is
// new.
func findIncoming(
	ctx context.Context, db bun.IDB, tenant workspaces.TenantID, carrierName string, id carrier.CallID,
) (call Call, known bool, err error) {
	err = db.NewSelect().Model(&call).Where("pc.tenant_id = ?", tenant).Where("pc.carrier = ?", carrierName).
		Where("pc.carrier_call_id = ?", id).Scan(ctx)
	if postgres.NoRows(err) {
		return Call{}, false, nil
	}
	if err != nil {
		return Call{}, false, fmt.Errorf("read a call by its carrier's id: %w", err)
	}
	return call, true, nil
}

// findOpen reads the call in progress of a session. Errors: NotFound.
func findOpen(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, session sessions.ID) (Call, error) {
	call, err := findOfSession(ctx, db, tenant, session)
	if err == nil && call.Status.IsOver() {
		return Call{}, fault.NoSuch("call of session", string(session))
	}
	return call, err
}

// findOfSession reads the call of a session. Errors: NotFound.
func findOfSession(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, session sessions.ID) (Call, error) {
	var call Call
	err := db.NewSelect().Model(&call).Where("pc.tenant_id = ?", tenant).Where("pc.session_id = ?", session).
		Where("pc.session_id <> ''").OrderExpr("pc.created_at DESC").Limit(1).Scan(ctx)
	if postgres.NoRows(err) {
		return Call{}, fault.NoSuch("call of session", string(session))
	}
	if err != nil {
		return Call{}, fmt.Errorf("read the call of a session: %w", err)
	}
	return call, nil
}

// OfCallback lists the calls of callbacks, oldest first.
func OfCallback(ctx context.Context, db bun.IDB, ref workspaces.Ref, ids ...CallbackID) ([]Call, error) {
	var calls []Call
	if len(ids) == 0 {
		return nil, nil
	}
	err := db.NewSelect().Model(&calls).Where("pc.tenant_id = ?", ref.TenantID).Where("pc.workspace_id = ?", ref.ID).
		Where("pc.callback_id IN (?)", bun.List(ids)).OrderExpr("pc.callback_id, pc.attempt, pc.created_at").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the calls of callbacks: %w", err)
	}
	return calls, nil
}

// countRinging counts the calls of a tenant that were placed and have no session yet. An open call
// has a check_at, by which there is an index.
func countRinging(ctx context.Context, tx bun.Tx, tenant workspaces.TenantID) (int, error) {
	n, err := tx.NewSelect().Model((*Call)(nil)).Where("pc.tenant_id = ?", tenant).Where("pc.check_at IS NOT NULL").
		Where("pc.ended_at IS NULL").Where("pc.session_id = ''").Where("pc.direction = ?", Outbound).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the calls that ring: %w", err)
	}
	return int(n), nil
}

func insert(ctx context.Context, db bun.IDB, call *Call) error {
	if _, err := db.NewInsert().Model(call).Exec(ctx); err != nil {
		return fmt.Errorf("store a call: %w", err)
	}
	return nil
}

// update writes columns of a call.
func update(ctx context.Context, db bun.IDB, call Call, columns ...string) error {
	_, err := db.NewUpdate().Model(&call).Column(columns...).Where("pc.tenant_id = ?", call.TenantID).Where("pc.id = ?", call.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("write a call: %w", err)
	}
	return nil
}

// lookAt has Sweep look at calls at a time that are not over.
func lookAt(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, at time.Time, narrow func(*bun.UpdateQuery)) error {
	query := db.NewUpdate().Model((*Call)(nil)).Set("check_at = ?", at).Where("pc.tenant_id = ?", tenant).Where("pc.ended_at IS NULL")
	narrow(query)
	if _, err := query.Exec(ctx); err != nil {
		return fmt.Errorf("have calls looked at: %w", err)
	}
	return nil
}

func list(ctx context.Context, db bun.IDB, ref workspaces.Ref, params ListParams) ([]Call, string, error) {
	params.Page.Order = postgres.NewestFirst
	params.Page.Filters = []string{
		string(ref.TenantID), string(ref.ID), string(params.Direction), string(params.Status), params.AgentID, params.UserID,
	}
	var calls []Call
	query := db.NewSelect().Model(&calls).Where("pc.tenant_id = ?", ref.TenantID).Where("pc.workspace_id = ?", ref.ID)
	for column, value := range map[string]string{
		"direction": string(params.Direction), "status": string(params.Status), "agent_id": params.AgentID, "user_id": params.UserID,
	} {
		if value != "" {
			query.Where("pc.? = ?", bun.Ident(column), value)
		}
	}
	return postgres.List(ctx, params.Page, query, &calls, func(c Call) postgres.Key {
		return postgres.Key{CreatedAt: c.CreatedAt, ID: string(c.ID)}
	})
}

// claimDueSQL takes a call that is to be looked at, and has nobody else take it for a while.
const claimDueSQL = `
WITH due AS (
    SELECT pc.id
    FROM phone_calls AS pc
    WHERE pc.check_at <= ?
    ORDER BY pc.check_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE phone_calls AS pc
SET check_at = ?
FROM due
WHERE pc.id = due.id
RETURNING pc.*`

// claimDue takes a call whose check is due, if there is one. Others take it after until only.
func claimDue(ctx context.Context, db bun.IDB, now, until time.Time) (call Call, due bool, err error) {
	err = db.NewRaw(postgres.RawForAllTenants("what is due of calls is done for all tenants", claimDueSQL), now, until).Scan(ctx, &call)
	if postgres.NoRows(err) {
		return Call{}, false, nil
	}
	if err != nil {
		return Call{}, false, fmt.Errorf("claim a call to look at: %w", err)
	}
	return call, true, nil
}
