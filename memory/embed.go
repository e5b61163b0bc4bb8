package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/workspaces"
)

const (
	// embedBatch is how many memories a sweep embeds at a time, of tenantBatch for one tenant.
	embedBatch, tenantBatch = 64, 16
	// embedPause is the wait after a failure; it doubles, up to embedMaxPause.
	embedPause, embedMaxPause = 5 * time.Second, 10 * time.Minute
	// embedClaim is how long another sweep leaves what one has taken.
	embedClaim = time.Minute
	// settled is how old a vector of another model must be before it is made anew: while servers with
	// different models are up, neither undoes the other's work.
	settled = 10 * time.Minute
	// expireBatch bounds what a sweep deletes.
	expireBatch = 500
)

// modelVector is what a memory is found by.
type modelVector struct {
	model  string
	values []float32
}

// vectorFor embeds a text that is to be remembered; nil when the embedder is away or slow, and the sweep
// has to do it. It is called outside of transactions.
func (s *Service) vectorFor(ctx context.Context, text string) *modelVector {
	bounded, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := s.embedder.Embed(bounded, []string{text}, embedding.Document)
	if err != nil || len(vectors) != 1 {
		s.log.WarnContext(ctx, "memory is embedded later", telemetry.KeyError, err)
		return nil
	}
	return &modelVector{s.embedder.Model().Name, vectors[0]}
}

// putVector stores a memory's vector, or has it made.
func putVector(ctx context.Context, tx bun.IDB, item Item, v *modelVector, now time.Time) error {
	if item.Status != Active {
		return nil
	}
	ref := workspaces.Ref{TenantID: item.TenantID, ID: item.WorkspaceID}
	if err := dropVectors(ctx, tx, ref, []ID{item.ID}); err != nil {
		return err
	}
	if v == nil {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO memory_embeddings_due (memory_id, tenant_id, workspace_id, user_id, due_at)
			VALUES (?, ?, ?, ?, ?)`, item.ID, item.TenantID, item.WorkspaceID, item.UserID, now)
		if err != nil {
			return fmt.Errorf("have a memory embedded: %w", err)
		}
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO memory_vectors (memory_id, tenant_id, workspace_id, user_id, model, code, embedding, embedded_at)
		VALUES (?, ?, ?, ?, ?, ?::bit(512), ?::halfvec, ?)`,
		item.ID, item.TenantID, item.WorkspaceID, item.UserID, v.model, codeOf(v.values).String(), pgvector.NewHalfVector(v.values).String(), now)
	if err != nil {
		return fmt.Errorf("store a memory's vector: %w", err)
	}
	return nil
}

// Sweep embeds what waits for it and deletes what has expired; harmless beside its double.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	now = now.UTC().Truncate(time.Microsecond)
	return errors.Join(s.sweepExpired(ctx, now), s.queueOthers(ctx, now), s.sweepDue(ctx, now))
}

// sweepExpired deletes memories whose time is over, user by user as everybody does who writes.
func (s *Service) sweepExpired(ctx context.Context, now time.Time) error {
	var expired []Item
	err := s.db.NewSelect().Model(&expired).Column("id", "tenant_id", "workspace_id", "user_id").
		Comment(postgres.AllTenants("the sweep of expired memories")).
		Where("m.expires_at <= ?", now).OrderExpr("m.expires_at").Limit(expireBatch).Scan(ctx)
	if err != nil {
		return fmt.Errorf("find expired memories: %w", err)
	}
	type owner struct {
		ref  workspaces.Ref
		user string
	}
	byOwner := map[owner][]ID{}
	for _, item := range expired {
		o := owner{workspaces.Ref{TenantID: item.TenantID, ID: item.WorkspaceID}, item.UserID}
		byOwner[o] = append(byOwner[o], item.ID)
	}
	var failures []error
	for o, ids := range byOwner {
		err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
			user, known, err := lockKnown(ctx, tx, o.ref, o.user)
			if err != nil || !known {
				return err
			}
			if _, err := deleteItems(ctx, tx, o.ref, &user, ids); err != nil {
				return err
			}
			return finish(ctx, tx, o.ref, user, now)
		})
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// queueOthers has vectors of another model made anew.
func (s *Service) queueOthers(ctx context.Context, now time.Time) error {
	_, err := s.db.ExecContext(ctx, postgres.RawForAllTenants("the embedding model is the installation's", `
		INSERT INTO memory_embeddings_due (memory_id, tenant_id, workspace_id, user_id, due_at)
		SELECT v.memory_id,
		       v.tenant_id,
		       v.workspace_id,
		       v.user_id,
		       ?
		FROM memory_vectors AS v
		WHERE (v.model < ? OR v.model > ?)
		  AND v.embedded_at < ?
		  AND NOT EXISTS (SELECT FROM memory_embeddings_due AS d WHERE d.memory_id = v.memory_id)
		LIMIT ?
		ON CONFLICT (memory_id) DO NOTHING`), now, s.embedder.Model().Name, s.embedder.Model().Name, now.Add(-settled), expireBatch)
	if err != nil {
		return fmt.Errorf("queue memories of another model: %w", err)
	}
	return nil
}

// dueSQL takes what is due, a few of each tenant, and puts it off for as long as a try may last.
const dueSQL = `
WITH ripe AS (
    SELECT d.memory_id,
           row_number() OVER (PARTITION BY d.tenant_id ORDER BY d.due_at) AS place
    FROM (
        SELECT memory_id, tenant_id, due_at
        FROM memory_embeddings_due
        WHERE due_at <= ?
        ORDER BY due_at
        LIMIT 2000
    ) AS d
), picked AS (
    SELECT d.memory_id
    FROM ripe
    JOIN memory_embeddings_due AS d ON d.memory_id = ripe.memory_id
    WHERE ripe.place <= ?
      AND d.due_at <= ?
    ORDER BY ripe.place
    LIMIT ?
    FOR UPDATE OF d SKIP LOCKED
), taken AS (
    UPDATE memory_embeddings_due AS d
    SET due_at = ?,
        attempts = d.attempts + 1
    FROM picked
    WHERE d.memory_id = picked.memory_id
    RETURNING d.memory_id, d.attempts
)
SELECT m.id,
       m.tenant_id,
       m.workspace_id,
       m.user_id,
       m.text,
       m.status,
       m.meaning,
       taken.attempts
FROM taken
JOIN memories AS m ON m.id = taken.memory_id`

// sweepDue embeds what waits.
func (s *Service) sweepDue(ctx context.Context, now time.Time) error {
	var due []struct {
		Item     `bun:",extend"`
		Attempts int `bun:"attempts"`
	}
	err := s.db.NewRaw(postgres.RawForAllTenants("memories of all tenants are embedded", dueSQL),
		now, tenantBatch, now, embedBatch, now.Add(embedClaim)).Scan(ctx, &due)
	if err != nil {
		return fmt.Errorf("find memories to embed: %w", err)
	}
	for _, one := range due {
		bounded, cancel := context.WithTimeout(ctx, 10*embedTimeout)
		vectors, err := s.embedder.Embed(bounded, []string{one.Text}, embedding.Document)
		cancel()
		if err != nil || len(vectors) != 1 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			pause := min(embedPause<<min(one.Attempts, 10), embedMaxPause)
			_, putOff := s.db.NewUpdate().Table("memory_embeddings_due").Set("due_at = ?", now.Add(pause)).
				Where("tenant_id = ?", one.TenantID).Where("workspace_id = ?", one.WorkspaceID).Where("memory_id = ?", one.ID).Exec(ctx)
			if _, refused := errors.AsType[*embedding.Refused](err); refused && putOff == nil {
				continue // this text only
			}
			return errors.Join(err, putOff)
		}
		if err := s.storeVector(ctx, one.Item, &modelVector{s.embedder.Model().Name, vectors[0]}, now); err != nil {
			return err
		}
	}
	return nil
}

// storeVector stores a vector that was made later, unless its memory has changed meanwhile.
func (s *Service) storeVector(ctx context.Context, item Item, v *modelVector, now time.Time) error {
	ref := workspaces.Ref{TenantID: item.TenantID, ID: item.WorkspaceID}
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		// Vectors are numbered in the order in which they can be seen: see codes.go.
		if _, known, err := lockKnown(ctx, tx, ref, item.UserID); err != nil || !known {
			return err
		}
		there, err := selectItem(ctx, tx, ref, item.UserID, item.ID, "UPDATE")
		if fault.IsReason(err, fault.ResourceNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if there.Status != Active {
			return dropVectors(ctx, tx, ref, []ID{item.ID})
		}
		if there.Text != item.Text {
			return nil // it is due by itself
		}
		return putVector(ctx, tx, there, v, now)
	})
}
