package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// selectSession reads one session; lock is "", or UPDATE to hold the row. Errors: NotFound.
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
		query = query.Where(isLive)
	case Pending:
		query = query.Where(isPending)
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

// Which sessions are live, and which wait for their first socket or turn, in the words of their indexes: a status
// would have the planner read those where a session is named (migration 0049).
const (
	isLive    = "s.ended_at IS NULL AND s.started_at IS NOT NULL"
	isPending = "s.ended_at IS NULL AND s.started_at IS NULL"
)

// placesHeld counts the sessions that hold a place in the tenant's plan: ?0 is the tenant, ?1 now.
const placesHeld = `(
	    (SELECT count(*) FROM sessions AS s WHERE s.tenant_id = ?0 AND ` + isLive + `) +
	    (SELECT count(*) FROM sessions AS s WHERE s.tenant_id = ?0 AND ` + isPending + ` AND s.token_expires_at > ?1)
	  )`

// countOpen counts the tenant's sessions that do.
func countOpen(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, now time.Time) (int, error) {
	var count int
	if err := db.NewRaw("SELECT "+placesHeld, tenant, now).Scan(ctx, &count); err != nil {
		return 0, fmt.Errorf("counting open sessions: %w", err)
	}
	return count, nil
}

// A session is stored only beside its agent at that version, and within the plan's number of open
// ones (0: any number).
const insertAdmitted = `
	WITH fresh (?columns) AS (?row)
	INSERT INTO sessions (?columns)
	SELECT * FROM fresh
	WHERE EXISTS (
	    SELECT FROM agents
	    WHERE tenant_id = ?tenant AND workspace_id = ?workspace AND id = ?agent AND version = ?version
	  ) AND (?places = 0 OR ?places > ?held)`

// admission is what insertAdmitted is about.
type admission struct {
	Columns   bun.Safe
	Row       bun.Safe
	Tenant    workspaces.TenantID
	Workspace workspaces.ID
	Agent     agents.ID
	Version   int
	Places    int
	Held      bun.Safe
}

// admitSession is the statement that stores a session, or nothing.
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
		Places: places, Held: bun.Safe(db.QueryGen().FormatQuery(placesHeld, session.TenantID, session.CreatedAt)),
	}), nil
}

// updateSession writes the named columns of a session.
func Update(ctx context.Context, db bun.IDB, session Session, columns ...string) error {
	_, err := db.NewUpdate().Model(&session).Column(columns...).
		Where("s.tenant_id = ?", session.TenantID).Where("s.id = ?", session.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("updating session: %w", err)
	}
	return nil
}

func InsertTurn(ctx context.Context, db bun.IDB, turn Turn) error {
	insert := db.NewInsert().Model(&turn)
	if turn.Receipt != nil {
		insert = insert.Value("receipt", "?", string(turn.Receipt))
	}
	if turn.Offered != nil {
		insert = insert.Value("client_tools", "?", string(turn.Offered))
	}
	if _, err := insert.Exec(ctx); err != nil {
		return fmt.Errorf("storing turn: %w", err)
	}
	return nil
}

// updateTurn writes the named columns of a turn that is still in progress, and its receipt when it has
// one; false when it no longer is: somebody else has finished it, or has taken it for lost.
func UpdateTurn(ctx context.Context, db bun.IDB, turn Turn, columns ...string) (bool, error) {
	update := db.NewUpdate().Model(&turn).Column(columns...)
	if turn.Receipt != nil {
		update = update.Set("receipt = ?", string(turn.Receipt)).Set("receipt_hash = ?", turn.ReceiptHash)
	}
	result, err := update.
		Where("t.tenant_id = ?", turn.TenantID).Where("t.id = ?", turn.ID).Where("t.status = ?", TurnInProgress).
		Where("t.losses = ?", turn.Losses).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("updating turn: %w", err)
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

// selectTurns reads all turns of a session in order.
func AllTurns(ctx context.Context, db bun.IDB, session Session) ([]Turn, error) {
	var turns []Turn
	err := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).OrderExpr("t.index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading turns: %w", err)
	}
	return turns, nil
}

// selectNewest reads the newest turns of a session, oldest first; of each what a socket is told of it.
func NewestTurns(ctx context.Context, db bun.IDB, session Session, limit int) ([]Turn, error) {
	var turns []Turn
	err := db.NewSelect().Model(&turns).Column("id", "index", "status", "messages", "started_at", "losses", "lost_response_id").
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).OrderExpr("t.index DESC").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the newest turns: %w", err)
	}
	slices.Reverse(turns)
	return turns, nil
}

func selectTurnPage(ctx context.Context, db bun.IDB, session Session, page postgres.Page) ([]Turn, error) {
	var turns []Turn
	query := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID)
	if page.After != nil {
		query = query.Where("t.index > ?", page.After.CreatedAt.UnixMicro())
	}
	if err := query.OrderExpr("t.index").Limit(int64(page.Limit())).Scan(ctx); err != nil {
		return nil, fmt.Errorf("reading turns: %w", err)
	}
	return turns, nil
}

// selectUnanswered reads the turns in progress that nobody runs: what was said and not answered yet.
func UnansweredTurns(ctx context.Context, db bun.IDB, session Session) ([]Turn, error) {
	var turns []Turn
	err := db.NewSelect().Model(&turns).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).
		Where("t.status = ?", TurnInProgress).Where("t.id <> ?", session.RunningTurnID).OrderExpr("t.index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading unanswered turns: %w", err)
	}
	return turns, nil
}

func FindTurn(ctx context.Context, db bun.IDB, session Session, id TurnID) (Turn, error) {
	var turn Turn
	err := db.NewSelect().Model(&turn).
		Where("t.tenant_id = ?", session.TenantID).Where("t.session_id = ?", session.ID).Where("t.id = ?", id).Scan(ctx)
	if postgres.NoRows(err) {
		return Turn{}, fault.NoSuch("turn", string(id))
	}
	if err != nil {
		return Turn{}, fmt.Errorf("reading turn: %w", err)
	}
	return turn, nil
}

// connection is one open socket.
type Connection struct {
	bun.BaseModel `bun:"table:session_connections,alias:c"`

	SessionID ID                  `bun:"session_id,pk"`
	Channel   LiveChannel         `bun:"channel,pk"`
	TenantID  workspaces.TenantID `bun:"tenant_id"`
	// Number orders the sockets of a session; it is taken while the session's row is locked.
	Number   int64     `bun:"number"`
	NodeID   string    `bun:"node_id"`
	JoinedAt time.Time `bun:"joined_at"`
	SeenAt   time.Time `bun:"seen_at"`
}

// nextNumber is the number of a new socket. The session's row is locked.
func NextNumber(ctx context.Context, tx bun.Tx) (int64, error) {
	var number int64
	if err := tx.NewRaw("SELECT nextval('session_connection_numbers')").Scan(ctx, &number); err != nil {
		return 0, fmt.Errorf("numbering connection: %w", err)
	}
	return number, nil
}

func UpsertConnection(ctx context.Context, db bun.IDB, c Connection) error {
	_, err := db.NewInsert().Model(&c).
		On("CONFLICT (session_id, channel) DO UPDATE").
		Set("number = EXCLUDED.number").Set("node_id = EXCLUDED.node_id").
		Set("joined_at = EXCLUDED.joined_at").Set("seen_at = EXCLUDED.seen_at").
		Where("c.tenant_id = EXCLUDED.tenant_id").Exec(ctx)
	if err != nil {
		return fmt.Errorf("storing connection: %w", err)
	}
	return nil
}

// deleteConnection removes a socket that has not been replaced, and says whether it was there.
func deleteConnection(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, number int64) (bool, error) {
	result, err := db.NewDelete().Model((*Connection)(nil)).
		Where("c.tenant_id = ?", tenant).Where("c.session_id = ?", id).Where("c.number = ?", number).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("removing connection: %w", err)
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

func countConnections(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID) (int, error) {
	count, err := db.NewSelect().Model((*Connection)(nil)).
		Where("c.tenant_id = ?", tenant).Where("c.session_id = ?", id).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("counting connections: %w", err)
	}
	return int(count), nil
}
