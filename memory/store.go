package memory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Channel is the NOTIFY channel on which nodes learn whose memories have changed.
const Channel = "parlance_memory"

// userRow is a row of memory_users.
type userRow struct {
	bun.BaseModel `bun:"table:memory_users,alias:u"`

	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id,pk"`
	UserID      string              `bun:"user_id,pk"`
	Memories    int                 `bun:"memories"`
	ForgottenAt time.Time           `bun:"forgotten_at,nullzero"`
	CreatedAt   time.Time           `bun:"created_at"`
	UpdatedAt   time.Time           `bun:"updated_at"`
}

// lockUser locks the row of a user until tx ends. It inserts the row if there is none.
func lockUser(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID string, now time.Time) (userRow, error) {
	user := userRow{TenantID: ref.TenantID, WorkspaceID: ref.ID, UserID: userID, CreatedAt: now, UpdatedAt: now}
	err := tx.NewInsert().Model(&user).
		On("CONFLICT (workspace_id, user_id) DO UPDATE").Set("updated_at = EXCLUDED.updated_at").
		Where("u.tenant_id = EXCLUDED.tenant_id").Returning("*").Scan(ctx)
	if err != nil {
		return userRow{}, fmt.Errorf("lock memory user: %w", err)
	}
	return user, nil
}

// lockExisting locks the row of a user if there is one.
func lockExisting(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID string) (user userRow, known bool, err error) {
	if !validUser(userID) {
		return userRow{}, false, nil
	}
	err = tx.NewSelect().Model(&user).Where("u.tenant_id = ?", ref.TenantID).Where("u.workspace_id = ?", ref.ID).
		Where("u.user_id = ?", userID).For("UPDATE").Scan(ctx)
	if postgres.NoRows(err) {
		return userRow{}, false, nil
	}
	if err != nil {
		return userRow{}, false, fmt.Errorf("lock memory user: %w", err)
	}
	return user, true, nil
}

// finish updates the row of a user and notifies the nodes.
func finish(ctx context.Context, tx bun.IDB, ref workspaces.Ref, user userRow, now time.Time) error {
	user.UpdatedAt = now
	_, err := tx.NewUpdate().Model(&user).Column("memories", "forgotten_at", "updated_at").
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("user_id = ?", user.UserID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update memory user: %w", err)
	}
	return notify(ctx, tx, ref, user.UserID)
}

func notify(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID string) error {
	if _, err := tx.ExecContext(ctx, "SELECT pg_notify(?, ?)", Channel, userKey(ref, userID)); err != nil {
		return fmt.Errorf("notify of changed memories: %w", err)
	}
	return nil
}

// userKey identifies a user among those of all workspaces, without showing the user id.
func userKey(ref workspaces.Ref, userID string) string {
	return string(ref.ID) + " " + digest(string(ref.ID)+"\n"+userID)
}

func deleteUser(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID string) error {
	_, err := tx.NewDelete().Model((*userRow)(nil)).
		Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).Where("user_id = ?", userID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete memory user: %w", err)
	}
	return nil
}

// embeddingModel is the model of the vector of a memory, or empty.
const embeddingModel = `coalesce((
    SELECT v.model
    FROM memory_vectors AS v
    WHERE v.workspace_id = m.workspace_id
      AND v.memory_id = m.id
), '') AS embedding_model`

// rowLock is the lock that selectItem takes.
type rowLock string

const (
	noLock        rowLock = ""
	lockForUpdate rowLock = "UPDATE OF m"
)

// selectItem reads a memory. Errors: NotFound.
func selectItem(
	ctx context.Context, db bun.IDB, ref workspaces.Ref, userID string, id ID, lock rowLock,
) (item Item, err error) {
	if !idgen.Valid(idgen.Memory, string(id)) || !validUser(userID) {
		return Item{}, fault.NoSuch("memory", string(id))
	}
	query := ofUser(db.NewSelect().Model(&item).ColumnExpr("m.*"), ref, userID).
		ColumnExpr(embeddingModel).
		Where("m.id = ?", id)
	if lock != noLock {
		query = query.For(string(lock))
	}
	err = query.Scan(ctx)
	if postgres.NoRows(err) {
		return Item{}, fault.NoSuch("memory", string(id))
	}
	if err != nil {
		return Item{}, fmt.Errorf("read memory: %w", err)
	}
	return item, nil
}

func ofUser(query *bun.SelectQuery, ref workspaces.Ref, userID string) *bun.SelectQuery {
	return query.Where("m.tenant_id = ?", ref.TenantID).Where("m.workspace_id = ?", ref.ID).Where("m.user_id = ?", userID)
}

// selectSlot reads the active and the pending memory of a slot.
func selectSlot(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID, slot string) (items []Item, err error) {
	err = ofUser(tx.NewSelect().Model(&items), ref, userID).
		Where("m.slot = ?", slot).Where("m.status <> ?", Superseded).OrderExpr("m.status").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read memories of a slot: %w", err)
	}
	return items, nil
}

func insertItem(ctx context.Context, tx bun.IDB, item Item) error {
	if _, err := tx.NewInsert().Model(&item).Exec(ctx); err != nil {
		return fmt.Errorf("insert memory: %w", err)
	}
	return nil
}

func updateItem(ctx context.Context, tx bun.IDB, ref workspaces.Ref, item Item, columns ...string) error {
	if item.Tags == nil {
		item.Tags = []string{}
	}
	_, err := tx.NewUpdate().Model(&item).Column(columns...).
		Where("m.tenant_id = ?", ref.TenantID).Where("m.workspace_id = ?", ref.ID).
		Where("m.user_id = ?", item.UserID).Where("m.id = ?", item.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("update memory: %w", err)
	}
	return nil
}

// supersede marks a memory as superseded by another one.
func supersede(ctx context.Context, tx bun.IDB, ref workspaces.Ref, item Item, by ID, now time.Time) error {
	item.Status, item.SupersededBy, item.UpdatedAt = Superseded, by, now
	if err := updateItem(ctx, tx, ref, item, "status", "superseded_by", "updated_at"); err != nil {
		return err
	}
	return deleteVectors(ctx, tx, ref, []ID{item.ID})
}

// deleteVectors deletes the vectors of memories, and what is due to be embedded.
func deleteVectors(ctx context.Context, tx bun.IDB, ref workspaces.Ref, ids []ID) error {
	for _, table := range []string{"memory_vectors", "memory_embeddings_due"} {
		_, err := tx.NewDelete().Table(table).
			Where("tenant_id = ?", ref.TenantID).Where("workspace_id = ?", ref.ID).
			Where("memory_id IN (?)", bun.List(ids)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete vectors of memories: %w", err)
		}
	}
	return nil
}

// trimHistory deletes all but the newest superseded memories of a slot.
func trimHistory(ctx context.Context, tx bun.IDB, ref workspaces.Ref, item Item) error {
	_, err := tx.NewRaw(`
		DELETE FROM memories
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id IN (
			SELECT id
			FROM memories
			WHERE tenant_id = ?
			  AND workspace_id = ?
			  AND user_id = ?
			  AND slot = ?
			  AND status = 'superseded'
			ORDER BY updated_at DESC, id DESC
			OFFSET ?)`, ref.TenantID, ref.ID, ref.TenantID, ref.ID, item.UserID, item.Slot, maxHistory).Exec(ctx)
	if err != nil {
		return fmt.Errorf("trim the history of a memory: %w", err)
	}
	return nil
}

// deleteItems deletes memories with those that they superseded, and updates the count of the user.
func deleteItems(ctx context.Context, tx bun.IDB, ref workspaces.Ref, user *userRow, ids []ID) ([]ID, error) {
	var gone []Item
	err := tx.NewRaw(`
		WITH RECURSIVE chain AS (
			SELECT m.id
			FROM memories AS m
			WHERE m.tenant_id = ?
			  AND m.workspace_id = ?
			  AND m.user_id = ?
			  AND m.id IN (?)
			UNION
			SELECT m.id
			FROM chain
			JOIN memories AS m ON m.superseded_by = chain.id
			WHERE m.tenant_id = ?
			  AND m.workspace_id = ?
			  AND m.user_id = ?
		)
		DELETE FROM memories AS m
		WHERE m.tenant_id = ?
		  AND m.workspace_id = ?
		  AND m.user_id = ?
		  AND m.id IN (SELECT id FROM chain)
		RETURNING m.id, m.status`,
		ref.TenantID, ref.ID, user.UserID, bun.List(ids),
		ref.TenantID, ref.ID, user.UserID, ref.TenantID, ref.ID, user.UserID).Scan(ctx, &gone)
	if err != nil {
		return nil, fmt.Errorf("delete memories: %w", err)
	}
	deleted := make([]ID, len(gone))
	for i, item := range gone {
		deleted[i] = item.ID
		if item.Status != Superseded {
			user.Memories--
		}
	}
	return deleted, nil
}

func deleteAll(ctx context.Context, tx bun.IDB, ref workspaces.Ref, userID string) (int, error) {
	result, err := tx.NewDelete().Model((*Item)(nil)).
		Where("m.tenant_id = ?", ref.TenantID).Where("m.workspace_id = ?", ref.ID).Where("m.user_id = ?", userID).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("delete a user's memories: %w", err)
	}
	count, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	return int(count), nil
}

// ListParams selects memories of a user.
type ListParams struct {
	Page   postgres.PageParams
	UserID string
	// Kind, Category and Query select all when they are empty.
	Kind     Kind
	Category string
	Query    string
	// Status selects active and pending memories when it is empty.
	Status Status
}

// selectItems reads a page of the memories of a user, without expired ones.
func selectItems(
	ctx context.Context, db bun.IDB, ref workspaces.Ref, p ListParams, page postgres.Page, now time.Time,
) (items []Item, err error) {
	query := ofUser(db.NewSelect().Model(&items).ColumnExpr("m.*"), ref, p.UserID).
		ColumnExpr(embeddingModel).
		Where("(m.expires_at IS NULL OR m.expires_at > ?)", now)
	if p.Kind != "" {
		query = query.Where("m.kind = ?", p.Kind)
	}
	if p.Status != "" {
		query = query.Where("m.status = ?", p.Status)
	} else {
		query = query.Where("m.status <> ?", Superseded)
	}
	if p.Category != "" {
		query = query.Where("m.category = ?", foldName(p.Category))
	}
	if p.Query != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(p.Query) + "%"
		query = query.Where("(m.text ILIKE ? OR array_to_string(m.tags, ' ') ILIKE ?)", like, like)
	}
	return items, page.Apply(query).Scan(ctx)
}
