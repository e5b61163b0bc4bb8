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
	// embedBatch is how many memories a sweep embeds, at most tenantBatch of one tenant.
	embedBatch, tenantBatch = 64, 16
	// embedPause is the wait after a failure. It doubles up to embedMaxPause.
	embedPause, embedMaxPause = 5 * time.Second, 10 * time.Minute
	// embedClaim is how long a sweep has claimed its memories.
	embedClaim = time.Minute
	// reembedAge is the age at which a vector of another model is replaced. During a rolling update
	// servers with different models do not replace the vectors of each other.
	reembedAge = 10 * time.Minute
	// expireBatch bounds how many memories a sweep deletes.
	expireBatch = 500
)

// embedDocument embeds the text of a memory. It returns nil when the embedder is unavailable or
// slow: then Sweep embeds it. It must not be called in a transaction.
func (s *Service) embedDocument(ctx context.Context, text string) *modelVector {
	bounded, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := s.embedder.Embed(bounded, []string{text}, embedding.Document)
	if err != nil || len(vectors) != 1 {
		s.log.WarnContext(ctx, "memory: embedded later", telemetry.KeyError, err)
		return nil
	}
	return &modelVector{s.embedder.Model().Name, vectors[0]}
}

// putVector stores the vector of a memory. For a nil vector it makes the memory due to be embedded.
func putVector(ctx context.Context, tx bun.IDB, item Item, v *modelVector, now time.Time) error {
	if item.Status != Active {
		return nil
	}
	ref := workspaces.Ref{TenantID: item.TenantID, ID: item.WorkspaceID}
	if err := deleteVectors(ctx, tx, ref, []ID{item.ID}); err != nil {
		return err
	}
	if v == nil {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO memory_embeddings_due (memory_id, tenant_id, workspace_id, user_id, due_at)
			VALUES (?, ?, ?, ?, ?)`, item.ID, item.TenantID, item.WorkspaceID, item.UserID, now)
		if err != nil {
			return fmt.Errorf("queue memory to be embedded: %w", err)
		}
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO memory_vectors (memory_id, tenant_id, workspace_id, user_id, model, code, embedding, embedded_at)
		VALUES (?, ?, ?, ?, ?, ?::bit(512), ?::halfvec, ?)`,
		item.ID, item.TenantID, item.WorkspaceID, item.UserID,
		v.model, codeOf(v.values).String(), pgvector.NewHalfVector(v.values).String(), now)
	if err != nil {
		return fmt.Errorf("insert vector of memory: %w", err)
	}
	return nil
}

// Sweep embeds memories that are due and deletes expired ones. Several nodes may run it at the same
// time.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	now = now.UTC().Truncate(time.Microsecond)
	return errors.Join(s.sweepExpired(ctx, now), s.queueOtherModels(ctx, now), s.sweepDue(ctx, now))
}

// sweepExpired deletes expired memories, in one transaction for each user.
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
			user, known, err := lockExisting(ctx, tx, o.ref, o.user)
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

// queueOtherModels makes memories with a vector of another model due to be embedded.
func (s *Service) queueOtherModels(ctx context.Context, now time.Time) error {
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
		ON CONFLICT (memory_id) DO NOTHING`),
		now, s.embedder.Model().Name, s.embedder.Model().Name, now.Add(-reembedAge), expireBatch)
	if err != nil {
		return fmt.Errorf("queue memories of another model: %w", err)
	}
	return nil
}

// dueSQL claims memories that are due, a few of each tenant, by moving due_at into the future.
const dueSQL = `
WITH due AS (
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
    FROM due
    JOIN memory_embeddings_due AS d ON d.memory_id = due.memory_id
    WHERE due.place <= ?
      AND d.due_at <= ?
    ORDER BY due.place
    LIMIT ?
    FOR UPDATE OF d SKIP LOCKED
), claimed AS (
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
       claimed.attempts
FROM claimed
JOIN memories AS m ON m.id = claimed.memory_id`

// sweepDue embeds memories that are due.
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
			_, updateErr := s.db.NewUpdate().Table("memory_embeddings_due").Set("due_at = ?", now.Add(pause)).
				Where("tenant_id = ?", one.TenantID).Where("workspace_id = ?", one.WorkspaceID).
				Where("memory_id = ?", one.ID).Exec(ctx)
			if _, refused := errors.AsType[*embedding.Refused](err); refused && updateErr == nil {
				continue // only this text was refused
			}
			return errors.Join(err, updateErr)
		}
		if err := s.storeVector(ctx, one.Item, &modelVector{s.embedder.Model().Name, vectors[0]}, now); err != nil {
			return err
		}
	}
	return nil
}

// storeVector stores the vector of a memory, unless the memory has changed since it was read.
func (s *Service) storeVector(ctx context.Context, item Item, v *modelVector, now time.Time) error {
	ref := workspaces.Ref{TenantID: item.TenantID, ID: item.WorkspaceID}
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if _, known, err := lockExisting(ctx, tx, ref, item.UserID); err != nil || !known {
			return err
		}
		there, err := selectItem(ctx, tx, ref, item.UserID, item.ID, lockForUpdate)
		if fault.IsReason(err, fault.ResourceNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if there.Status != Active {
			return deleteVectors(ctx, tx, ref, []ID{item.ID})
		}
		if there.Text != item.Text {
			return nil // the new text is due
		}
		return putVector(ctx, tx, there, v, now)
	})
}
