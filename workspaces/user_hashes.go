package workspaces

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
)

const (
	// userHashKeyBytes is the length of a tenant's key: as long as the output of SHA-256.
	userHashKeyBytes = 32
	// maxUserHashKeys bounds the opened keys in memory: that many tenants.
	maxUserHashKeys = 4096
)

// UserHashes replaces the ids of end users by keyed hashes in records that must outlive the user,
// such as the audit log and the proof of an erasure. Each tenant has a random key of its own,
// sealed in the database. Safe for concurrent use.
//
// Who has a hash cannot try user ids without the key, and the hashes of two tenants cannot be
// compared. The key is deleted with the tenant; from then on its hashes name nobody.
type UserHashes struct {
	db     *postgres.DB
	keys   *seal.Keyring
	now    func() time.Time
	opened *cache.Cache[TenantID, []byte]
}

// UserHashesDeps is what UserHashes works with. DB and Keys are required.
type UserHashesDeps struct {
	DB   *postgres.DB
	Keys *seal.Keyring
	// Now is the clock. nil means time.Now.
	Now func() time.Time
}

// NewUserHashes makes a UserHashes. It reads nothing yet.
func NewUserHashes(d UserHashesDeps) *UserHashes {
	h := &UserHashes{db: d.DB, keys: d.Keys, now: d.Now, opened: cache.New[TenantID, []byte](maxUserHashKeys)}
	if h.now == nil {
		h.now = time.Now
	}
	return h
}

// userHashKey is the row of a tenant.
type userHashKey struct {
	bun.BaseModel `bun:"table:user_hash_keys,alias:u"`

	TenantID  TenantID  `bun:"tenant_id,pk"`
	Sealed    []byte    `bun:"sealed"`
	CreatedAt time.Time `bun:"created_at"`
}

// userHashBinding binds the sealed key to its row.
func userHashBinding(tenant TenantID) seal.Binding {
	return seal.Binding{TenantID: string(tenant), Record: string(tenant), Field: "user_hash_key"}
}

// Hash returns HMAC-SHA-256 of the user id under the tenant's key, as 64 hexadecimal digits. The
// same user of the same tenant always has the same hash. An empty user id has the hash "". The
// first call for a tenant makes its key, so Hash is not for the inside of a transaction.
func (h *UserHashes) Hash(ctx context.Context, tenant TenantID, userID string) (string, error) {
	if userID == "" {
		return "", nil
	}
	key, err := h.key(ctx, tenant)
	if err != nil {
		return "", fmt.Errorf("hash a user id: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(userID))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// key returns the key of a tenant from memory or from the database, where it is made if there is
// none.
func (h *UserHashes) key(ctx context.Context, tenant TenantID) ([]byte, error) {
	if key, ok := h.opened.Get(tenant); ok {
		return key, nil
	}
	row, err := selectUserHashKey(ctx, h.db, tenant)
	if postgres.NoRows(err) {
		row, err = h.makeKey(ctx, tenant)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := h.keys.Open(ctx, row.Sealed, userHashBinding(tenant))
	if err != nil {
		return nil, fmt.Errorf("open the key: %w", err)
	}
	h.opened.Set(tenant, key)
	return key, nil
}

// makeKey stores a new key. When another process was first, its key is returned.
func (h *UserHashes) makeKey(ctx context.Context, tenant TenantID) (userHashKey, error) {
	secret := make([]byte, userHashKeyBytes)
	rand.Read(secret)
	sealed, err := h.keys.Seal(ctx, secret, userHashBinding(tenant))
	if err != nil {
		return userHashKey{}, err
	}
	row := userHashKey{TenantID: tenant, Sealed: sealed, CreatedAt: h.now().UTC().Truncate(time.Microsecond)}
	if _, err := h.db.NewInsert().Model(&row).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
		return userHashKey{}, fmt.Errorf("store the key: %w", err)
	}
	return selectUserHashKey(ctx, h.db, tenant)
}

func selectUserHashKey(ctx context.Context, db bun.IDB, tenant TenantID) (userHashKey, error) {
	var row userHashKey
	err := db.NewSelect().Model(&row).Where("u.tenant_id = ?", tenant).Scan(ctx)
	return row, err
}
