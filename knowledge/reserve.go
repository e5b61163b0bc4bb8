package knowledge

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// holdFor is how long a hold counts unless its upload says that it goes on: longer than a
	// caller may be silent (interceptor's stallTime) and a bucket takes to end a large file.
	holdFor = 2 * time.Minute
	// holdAgain is how often it does.
	holdAgain = 30 * time.Second
	// What an upload of unknown length has stored runs ahead of its hold by an eighth of it, within
	// these bounds.
	minAhead = 256 << 10
	maxAhead = 4 << 20
)

// hold is the room in the plan that an upload under way has. It is never more than the upload is
// known to need, so that one at the edge of the plan is refused only for bytes that really come.
type hold struct {
	service *Service
	ref     workspaces.Ref
	plan    workspaces.Plan
	// key is the blob's.
	key   string
	bytes int64
	again time.Time
}

// take counts the bytes against the plan until they are stored, or anew for another while, unless
// what is stored and what others hold leaves no room. It also notes the blob as nobody's the first
// time. Who is refused holds nothing from that moment: else two could be refused for each other's
// sake, of which one would have fitted.
// Errors: QuotaExceeded quota-exceeded-kb-storage.
func (h *hold) take(ctx context.Context, bytes int64) error {
	now := h.service.moment()
	fits := false
	err := postgres.InTx(ctx, h.service.db, func(ctx context.Context, tx bun.Tx) error {
		free, err := freeBytes(ctx, tx, h.ref, h.plan.KBStorageBytes, h.key, now)
		if err != nil {
			return err
		}
		if fits = bytes <= free; !fits {
			return dropHold(ctx, tx, h.ref, h.key)
		}
		if err := upsertHold(ctx, tx, h.ref, h.key, bytes, now.Add(holdFor)); err != nil {
			return err
		}
		if h.again.IsZero() {
			return noteStray(ctx, tx, h.key, now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !fits {
		return h.service.errNoRoom(h.plan)
	}
	h.bytes, h.again = bytes, now.Add(holdAgain)
	return nil
}

// reader is r, whose bytes are held for as they come.
func (h *hold) reader(ctx context.Context, r io.Reader) io.Reader {
	return &heldReader{ctx: ctx, hold: h, r: r}
}

type heldReader struct {
	ctx  context.Context //nolint:containedctx // lives for one Put, whose reader takes no context
	hold *hold
	r    io.Reader
	read int64
}

// Read implements io.Reader.
func (r *heldReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.read += int64(n)
	ahead := min(max(r.read/8, minAhead), maxAhead)
	if r.read-r.hold.bytes > ahead || r.hold.service.moment().After(r.hold.again) {
		if err := r.hold.take(r.ctx, max(r.read, r.hold.bytes)); err != nil {
			return n, err
		}
	}
	return n, err
}

// freeBytes is what the plan leaves to the upload of a key beside what is stored and what other
// uploads hold; below zero after a change to a smaller plan. It locks the workspace's row until tx
// ends, so that uploads and deletions of one workspace are decided one by one.
func freeBytes(ctx context.Context, tx bun.IDB, ref workspaces.Ref, limit int64, key string, now time.Time) (int64, error) {
	var used, held int64
	err := tx.NewRaw(`
		SELECT kb_used_bytes
		FROM workspaces
		WHERE tenant_id = ?
		  AND id = ?
		FOR NO KEY UPDATE`, ref.TenantID, ref.ID).Scan(ctx, &used)
	if postgres.NoRows(err) {
		return 0, fault.NoSuch("workspace", string(ref.ID))
	}
	if err != nil {
		return 0, fmt.Errorf("look at the storage in use: %w", err)
	}
	// A statement of its own: it sees what was committed while the first waited for the lock.
	err = tx.NewRaw(`
		SELECT coalesce(sum(bytes), 0)
		FROM upload_holds
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND key <> ?
		  AND held_until > ?`, ref.TenantID, ref.ID, key, now).Scan(ctx, &held)
	if err != nil {
		return 0, fmt.Errorf("look at the storage held: %w", err)
	}
	return limit - used - held, nil
}

func upsertHold(ctx context.Context, tx bun.IDB, ref workspaces.Ref, key string, bytes int64, until time.Time) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO upload_holds (key, tenant_id, workspace_id, bytes, held_until)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE
		SET bytes = excluded.bytes, held_until = excluded.held_until
		WHERE upload_holds.tenant_id = excluded.tenant_id
		  AND upload_holds.workspace_id = excluded.workspace_id`, key, ref.TenantID, ref.ID, bytes, until)
	if err != nil {
		return fmt.Errorf("hold storage: %w", err)
	}
	return nil
}

// dropHold gives room back; a hold that is gone is none to drop.
func dropHold(ctx context.Context, db bun.IDB, ref workspaces.Ref, key string) error {
	_, err := db.ExecContext(ctx, `
		DELETE FROM upload_holds
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND key = ?`, ref.TenantID, ref.ID, key)
	if err != nil {
		return fmt.Errorf("give held storage back: %w", err)
	}
	return nil
}

// dropOverdueHolds forgets the holds of uploads that died with their servers.
func dropOverdueHolds(ctx context.Context, db bun.IDB, now time.Time) error {
	_, err := db.NewRaw(postgres.RawForAllTenants("the sweep of holds whose time is over", `
		DELETE FROM upload_holds
		WHERE held_until <= ?`), now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget overdue holds: %w", err)
	}
	return nil
}

func (s *Service) errNoRoom(plan workspaces.Plan) error {
	refusal := fault.New(fault.QuotaKBStorage,
		"The plan %q holds %d bytes of sources a workspace, and this would exceed it.", plan.Name, plan.KBStorageBytes)
	refusal.Meta = map[string]string{"limit_bytes": strconv.FormatInt(plan.KBStorageBytes, 10)}
	return workspaces.Refuse(refusal, plan, s.workspaces.PlanWithMore(plan, func(p workspaces.Plan) int64 { return p.KBStorageBytes }))
}
