package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// connectionLife is how long a socket counts as open after the last heartbeat of its node.
const connectionLife = 35 * time.Second

// Connection is the row of an open socket.
type Connection struct {
	bun.BaseModel `bun:"table:session_connections,alias:c"`

	SessionID ID                  `bun:"session_id,pk"`
	Channel   Channel             `bun:"channel,pk"`
	TenantID  workspaces.TenantID `bun:"tenant_id"`
	// Number orders the sockets of a session. It is assigned while the session's row is locked.
	Number   int64     `bun:"number"`
	NodeID   string    `bun:"node_id"`
	JoinedAt time.Time `bun:"joined_at"`
	SeenAt   time.Time `bun:"seen_at"`
}

// NextNumber returns the number of a new socket. The session's row must be locked.
func NextNumber(ctx context.Context, tx bun.Tx) (int64, error) {
	var number int64
	if err := tx.NewRaw("SELECT nextval('session_connection_numbers')").Scan(ctx, &number); err != nil {
		return 0, fmt.Errorf("numbering connection: %w", err)
	}
	return number, nil
}

// UpsertConnection stores a socket in place of the one that its channel had.
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

// deleteConnection removes a socket. It returns false when the socket was replaced or removed
// before.
func deleteConnection(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, number int64) (bool, error) {
	removed, err := postgres.Changed(db.NewDelete().Model((*Connection)(nil)).
		Where("c.tenant_id = ?", tenant).Where("c.session_id = ?", id).Where("c.number = ?", number).Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("removing connection: %w", err)
	}
	return removed, nil
}

// HasConnection reports whether a session has a socket of a channel.
func HasConnection(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID, channel Channel) (bool, error) {
	n, err := db.NewSelect().Model((*Connection)(nil)).Where("c.tenant_id = ?", tenant).Where("c.session_id = ?", id).
		Where("c.channel = ?", channel).Count(ctx)
	if err != nil {
		return false, fmt.Errorf("look for a socket of a session: %w", err)
	}
	return n > 0, nil
}

// countConnections returns the number of a session's sockets.
func countConnections(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id ID) (int, error) {
	count, err := db.NewSelect().Model((*Connection)(nil)).
		Where("c.tenant_id = ?", tenant).Where("c.session_id = ?", id).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("counting connections: %w", err)
	}
	return int(count), nil
}

// WaitFrom has a session that has lost its last socket wait for a new one for DropGrace from a time
// on, if that is later than it would. It does nothing with one that is closed or not there.
func (s *Service) WaitFrom(ctx context.Context, tenant workspaces.TenantID, id ID, from time.Time) error {
	err := s.Locked(ctx, tenant, id, func(ctx context.Context, tx bun.Tx, row *Session) error {
		if row.Closed() || row.DroppedAt.IsZero() || !row.DroppedAt.Before(from) {
			return nil
		}
		row.DroppedAt = from
		return Update(ctx, tx, *row, "dropped_at")
	})
	if fault.IsReason(err, fault.ResourceNotFound) {
		return nil
	}
	return err
}

// LeaveTx removes a socket of a locked session and reports whether it was the last one. A session
// without sockets waits for a new one for DropGrace, which begins at the given time.
func LeaveTx(ctx context.Context, tx bun.Tx, session *Session, number int64, at time.Time) (last bool, err error) {
	gone, err := deleteConnection(ctx, tx, session.TenantID, session.ID, number)
	if err != nil || !gone || session.Closed() {
		return false, err
	}
	left, err := countConnections(ctx, tx, session.TenantID, session.ID)
	if err != nil || left > 0 {
		return false, err
	}
	session.DroppedAt = at
	return true, Update(ctx, tx, *session, "dropped_at")
}
