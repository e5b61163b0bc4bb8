package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Find reads one session. lock is empty, or UPDATE to lock the row. Errors: NotFound.
func Find(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, lock string) (Session, error) {
	var session Session
	query := db.NewSelect().Model(&session).Where("s.tenant_id = ?", tenant).Where("s.id = ?", id)
	if lock != "" {
		query = query.For(lock)
	}
	err := query.Scan(ctx)
	if postgres.NoRows(err) {
		return Session{}, fault.NoSuch("session", string(id))
	}
	if err != nil {
		return Session{}, fmt.Errorf("reading session: %w", err)
	}
	return session, nil
}

// Update writes the named columns of a session.
func Update(ctx context.Context, db bun.IDB, session Session, columns ...string) error {
	_, err := db.NewUpdate().Model(&session).Column(columns...).
		Where("s.tenant_id = ?", session.TenantID).Where("s.id = ?", session.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("updating session: %w", err)
	}
	return nil
}

// whereInProgress and wherePending select sessions in progress and pending sessions by the columns
// of their indexes. A condition on status would let the planner read those indexes where a session
// is selected by its id (migration 0049).
const (
	whereInProgress = "s.ended_at IS NULL AND s.started_at IS NOT NULL"
	wherePending    = "s.ended_at IS NULL AND s.started_at IS NULL"
)

func selectSessions(ctx context.Context, db bun.IDB, p workspaces.Principal, params ListParams, page postgres.Page) ([]Session, error) {
	var sessions []Session
	query := db.NewSelect().Model(&sessions).Where("s.tenant_id = ?", p.TenantID)
	for column, value := range map[string]string{
		"workspace_id": string(params.WorkspaceID), "agent_id": string(params.AgentID),
		"user_id": params.UserID, "status": string(params.Status), "modality": string(params.Modality), "end_reason": params.EndReason,
	} {
		if value != "" {
			query = query.Where("s.? = ?", bun.Ident(column), value)
		}
	}
	switch params.Status {
	case InProgress:
		query = query.Where(whereInProgress)
	case Pending:
		query = query.Where(wherePending)
	case Completed, Failed: // no index has them
	}
	if params.Handover != NoHandover {
		query = query.Where("s.handover_status = ?", params.Handover).Where("s.handover_status <> ''").Where("s.ended_at IS NULL")
	}
	if !params.CreatedAfter.IsZero() {
		query = query.Where("s.created_at >= ?", params.CreatedAfter)
	}
	if !params.CreatedBefore.IsZero() {
		query = query.Where("s.created_at < ?", params.CreatedBefore)
	}
	if p.WorkspaceID != "" {
		query = query.Where("s.workspace_id = ?", p.WorkspaceID)
	}
	err := page.Apply(query).Scan(ctx)
	return sessions, err
}

// openSessionsSQL counts the sessions that count against the tenant's plan. ?0 is the tenant, ?1 is
// now.
const openSessionsSQL = `(
	    (SELECT count(*) FROM sessions AS s WHERE s.tenant_id = ?0 AND ` + whereInProgress + `) +
	    (SELECT count(*) FROM sessions AS s WHERE s.tenant_id = ?0 AND ` + wherePending + ` AND s.token_expires_at > ?1)
	  )`

// CountOpen returns the number of the tenant's sessions that count against its plan: those that are
// pending or in progress.
func (s *Service) CountOpen(ctx context.Context, tenant workspaces.TenantID) (int, error) {
	return CountOpen(ctx, s.db, tenant, s.Now())
}

// CountOpen returns the number of sessions that count against the tenant's plan.
func CountOpen(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, now time.Time) (int, error) {
	var count int
	if err := db.NewRaw("SELECT "+openSessionsSQL, tenant, now).Scan(ctx, &count); err != nil {
		return 0, fmt.Errorf("counting open sessions: %w", err)
	}
	return count, nil
}

// insertAdmitted stores a session if its agent still has the version the session was made from, or
// for a session of the agent's draft the draft that revision, and the plan allows another open
// session (0: any number).
const insertAdmitted = `
	WITH fresh (?columns) AS (?row)
	INSERT INTO sessions (?columns)
	SELECT * FROM fresh
	WHERE EXISTS (
	    SELECT FROM agents
	    WHERE ?revision = 0 AND tenant_id = ?tenant AND workspace_id = ?workspace AND id = ?agent AND version = ?version
	    UNION ALL
	    SELECT FROM agent_drafts
	    WHERE ?revision > 0 AND tenant_id = ?tenant AND workspace_id = ?workspace AND agent_id = ?agent AND revision = ?revision
	  ) AND (?places = 0 OR ?places > ?held)`

// admission holds the parameters of insertAdmitted.
type admission struct {
	Columns   bun.Safe
	Row       bun.Safe
	Tenant    workspaces.TenantID
	Workspace workspaces.ID
	Agent     agents.ID
	Version   int
	Revision  int
	Places    int
	Held      bun.Safe
}

// admitSession returns insertAdmitted for a session.
func admitSession(db *postgres.DB, session Session, places int) (bun.Query, error) {
	values := db.NewValues(&session)
	columns, err := values.AppendColumns(db.QueryGen(), nil)
	if err != nil {
		return nil, fmt.Errorf("listing a session's columns: %w", err)
	}
	row, err := values.AppendQuery(db.QueryGen(), nil)
	if err != nil {
		return nil, fmt.Errorf("writing a session as a row: %w", err)
	}
	return db.NewRaw(insertAdmitted, admission{
		Columns: bun.Safe(columns), Row: bun.Safe(row),
		Tenant: session.TenantID, Workspace: session.WorkspaceID, Agent: session.AgentID, Version: session.AgentVersion,
		Revision: session.DraftRevision,
		Places:   places, Held: bun.Safe(db.QueryGen().FormatQuery(openSessionsSQL, session.TenantID, session.CreatedAt)),
	}), nil
}
