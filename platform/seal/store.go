package seal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
)

// wrappedKey is a data key as it is stored.
type wrappedKey struct {
	bun.BaseModel `bun:"table:data_keys,alias:d"`

	ID uuid.UUID `bun:"id,pk,type:uuid"`
	// TenantID is empty (NULL) for the installation's own key.
	TenantID    string    `bun:"tenant_id,nullzero"`
	MasterKeyID string    `bun:"master_key_id"`
	Wrapped     []byte    `bun:"wrapped"`
	CreatedAt   time.Time `bun:"created_at"`
	// RetiredAt is when the key sealed last; zero for the one that seals.
	RetiredAt time.Time `bun:"retired_at,nullzero"`
}

// place binds a wrapped key to its row and tenant, and to the master key that wraps it.
func (w wrappedKey) place() []byte {
	return associated("data key", w.ID.String(), w.TenantID, w.MasterKeyID)
}

// ofTenant is the predicate every statement about one tenant's keys has.
const ofTenant = "coalesce(d.tenant_id, '') = ?"

// selectCurrent is the tenant's data key that seals.
func selectCurrent(ctx context.Context, db bun.IDB, tenantID string) (row wrappedKey, found bool, err error) {
	err = db.NewSelect().Model(&row).Where(ofTenant, tenantID).Where("d.retired_at IS NULL").Scan(ctx)
	if postgres.NoRows(err) {
		return wrappedKey{TenantID: tenantID}, false, nil
	}
	if err != nil {
		return wrappedKey{}, false, fmt.Errorf("reading the data key that seals: %w", err)
	}
	return row, true, nil
}

// selectDataKey is one data key of the tenant; another tenant's does not open anything here.
func selectDataKey(ctx context.Context, db bun.IDB, tenantID string, id uuid.UUID) (wrappedKey, error) {
	var row wrappedKey
	err := db.NewSelect().Model(&row).Where(ofTenant, tenantID).Where("d.id = ?", id).Scan(ctx)
	if postgres.NoRows(err) {
		return wrappedKey{}, ErrOpen
	}
	if err != nil {
		return wrappedKey{}, fmt.Errorf("reading data key %s: %w", id, err)
	}
	return row, nil
}

// replaceCurrent retires old, unless it is the zero row, and makes next the key that seals. When
// another process was first, its key is returned and next forgotten.
func replaceCurrent(ctx context.Context, db bun.IDB, old, next wrappedKey) (wrappedKey, error) {
	chosen := next
	err := postgres.InTx(ctx, db, func(ctx context.Context, tx bun.Tx) error {
		chosen = next
		_, err := tx.NewUpdate().Model((*wrappedKey)(nil)).Set("retired_at = ?", next.CreatedAt).
			Where(ofTenant, next.TenantID).Where("d.id = ?", old.ID).Where("d.retired_at IS NULL").Exec(ctx)
		if err != nil {
			return fmt.Errorf("retiring a data key: %w", err)
		}
		if _, err := tx.NewInsert().Model(&next).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
			return fmt.Errorf("storing a data key: %w", err)
		}
		current, found, err := selectCurrent(ctx, tx, next.TenantID)
		if err != nil {
			return err
		}
		if !found { // another transaction has made one and is not committed
			return errors.New("storing a data key: another one is being made")
		}
		chosen = current
		return nil
	})
	return chosen, err
}

// countByMaster is how many data keys each master key wraps, of all tenants: the operator's view.
func countByMaster(ctx context.Context, db bun.IDB) (map[string]int, error) {
	var rows []struct {
		MasterKeyID string `bun:"master_key_id"`
		Count       int    `bun:"count"`
	}
	err := db.NewRaw(postgres.RawForAllTenants("a master key wraps the data keys of all", `
		SELECT
			master_key_id,
			count(*) AS count
		FROM data_keys
		GROUP BY master_key_id`)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("counting data keys: %w", err)
	}
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.MasterKeyID] = row.Count
	}
	return counts, nil
}

// selectNotWrappedBy is the next data keys, of all tenants, that another master key wraps.
func selectNotWrappedBy(ctx context.Context, db bun.IDB, masterKeyID string, after uuid.UUID, limit int64) ([]wrappedKey, error) {
	var rows []wrappedKey
	err := db.NewSelect().Model(&rows).Where("d.master_key_id <> ?", masterKeyID).Where("d.id > ?", after).
		OrderExpr("d.id").Limit(limit).
		Comment(postgres.AllTenants("a master key wraps the data keys of all")).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading data keys to wrap again: %w", err)
	}
	return rows, nil
}

// updateWrapping stores row's new wrapping unless somebody changed it since; two commands at
// once do the same work twice and no harm.
func updateWrapping(ctx context.Context, db bun.IDB, row wrappedKey, before string) error {
	_, err := db.NewUpdate().Model((*wrappedKey)(nil)).
		Set("wrapped = ?", row.Wrapped).Set("master_key_id = ?", row.MasterKeyID).
		Where(ofTenant, row.TenantID).Where("d.id = ?", row.ID).Where("d.master_key_id = ?", before).Exec(ctx)
	if err != nil {
		return fmt.Errorf("storing data key %s wrapped again: %w", row.ID, err)
	}
	return nil
}
