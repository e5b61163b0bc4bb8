package signing

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
)

const (
	// signingKeyLife is how long a key signs before the next one replaces it.
	signingKeyLife = 30 * 24 * time.Hour
	// retiredKeyLife is how long a retired key still verifies. It is longer than any token and any
	// session, which may last longer than its token.
	retiredKeyLife = 3 * 24 * time.Hour
	// keyCheck is how often the newest key is read again, so that every node notices a rotation.
	keyCheck = time.Minute
)

// signingKey is a key pair that signs tokens.
type signingKey struct {
	bun.BaseModel `bun:"table:signing_keys,alias:k"`

	KID       string            `bun:"kid,pk"`
	PublicKey ed25519.PublicKey `bun:"public_key,type:bytea"`
	// Sealed is the private key's seed, sealed.
	Sealed    []byte    `bun:"private_key,type:bytea"`
	CreatedAt time.Time `bun:"created_at"`
	RetiredAt time.Time `bun:"retired_at,nullzero"`
}

// Keys creates, caches and rotates the signing keys. The database decides; the cache saves a read
// for each token. Safe for concurrent use.
type Keys struct {
	db     *postgres.DB
	seal   *seal.Keyring
	random io.Reader

	mu        sync.Mutex
	public    map[string]signingKey
	current   signingKey
	private   ed25519.PrivateKey
	checkedAt time.Time
}

// New returns the keys of a database. random is the source of new ones.
func New(db *postgres.DB, keyring *seal.Keyring, random io.Reader) *Keys {
	return &Keys{db: db, seal: keyring, random: random}
}

// Signer returns the key to sign with now. It creates the first key, and replaces a key that is
// older than signingKeyLife.
func (k *Keys) Signer(ctx context.Context, now time.Time) (kid string, key ed25519.PrivateKey, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.private != nil && now.Sub(k.checkedAt) < keyCheck && now.Sub(k.current.CreatedAt) < signingKeyLife {
		return k.current.KID, k.private, nil
	}
	current, found, err := newestKey(ctx, k.db)
	if err != nil {
		return "", nil, err
	}
	if !found || now.Sub(current.CreatedAt) >= signingKeyLife {
		if current, err = k.rotate(ctx, now, signingKeyLife); err != nil {
			return "", nil, err
		}
	}
	seed, err := k.seal.Open(ctx, current.Sealed, keyBinding(current.KID))
	if err != nil {
		return "", nil, fmt.Errorf("opening signing key %s: %w", current.KID, err)
	}
	k.current, k.private, k.checkedAt = current, ed25519.NewKeyFromSeed(seed), now
	k.public = nil // read the keys again: one may be deleted
	return current.KID, k.private, nil
}

// Verifier returns the public key with this id. ok is false when there is no such key or it is too
// old.
func (k *Keys) Verifier(ctx context.Context, kid string, now time.Time) (key ed25519.PublicKey, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.public[kid]
	if !ok || now.Sub(k.checkedAt) >= keyCheck {
		known, ok, err = findKey(ctx, k.db, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("k.kid = ?", kid) })
		if err != nil || !ok { // unknown ids are not cached: there could be any number of them
			return nil, false, err
		}
		if k.public == nil {
			k.public = map[string]signingKey{}
		}
		k.public[kid] = known
	}
	if !known.RetiredAt.IsZero() && now.Sub(known.RetiredAt) > retiredKeyLife {
		return nil, false, nil
	}
	return known.PublicKey, true, nil
}

// rotate retires the keys in use and creates the next one, unless the newest key is younger than
// minAge: of the nodes that rotate at the same time, one creates the key.
func (k *Keys) rotate(ctx context.Context, now time.Time, minAge time.Duration) (signingKey, error) {
	public, private, err := ed25519.GenerateKey(k.random)
	if err != nil {
		return signingKey{}, fmt.Errorf("creating a signing key: %w", err)
	}
	next := signingKey{KID: hex.EncodeToString(public[:8]), PublicKey: public, CreatedAt: now}
	if next.Sealed, err = k.seal.Seal(ctx, private.Seed(), keyBinding(next.KID)); err != nil {
		return signingKey{}, fmt.Errorf("sealing a signing key: %w", err)
	}
	chosen := next
	err = postgres.InTx(ctx, k.db, func(ctx context.Context, tx bun.Tx) error {
		chosen = next
		if err := postgres.LockTx(ctx, tx, "signing keys"); err != nil {
			return err
		}
		newest, found, err := newestKey(ctx, tx)
		if err != nil {
			return err
		}
		if found && minAge > 0 && now.Sub(newest.CreatedAt) < minAge {
			chosen = newest
			return nil
		}
		_, err = tx.NewUpdate().Model((*signingKey)(nil)).Set("retired_at = ?", now).Where("k.retired_at IS NULL").Exec(ctx)
		if err != nil {
			return fmt.Errorf("retiring signing keys: %w", err)
		}
		if _, err := tx.NewInsert().Model(&next).Exec(ctx); err != nil {
			return fmt.Errorf("storing signing key: %w", err)
		}
		return nil
	})
	return chosen, err
}

// Rotate creates a new signing key; every node uses it within keyCheck. Earlier tokens
// stay valid unless revoke deletes their keys. After a revocation no client can join or reconnect
// with an earlier token. Tokens that a node signs before it has read the new key are not valid
// either.
func Rotate(
	ctx context.Context, db *postgres.DB, keyring *seal.Keyring, random io.Reader, now time.Time, revoke bool,
) (kid string, err error) {
	keys := New(db, keyring, random)
	next, err := keys.rotate(ctx, now, 0)
	if err != nil || !revoke {
		return next.KID, err
	}
	if _, err := db.NewDelete().Model((*signingKey)(nil)).Where("k.kid <> ?", next.KID).Exec(ctx); err != nil {
		return "", fmt.Errorf("deleting signing keys: %w", err)
	}
	return next.KID, nil
}

// keyBinding binds a sealed private key to its row.
func keyBinding(kid string) seal.Binding {
	return seal.Binding{Record: "signing_keys " + kid, Field: "private_key"}
}

// newestKey reads the newest key that is not retired.
func newestKey(ctx context.Context, db bun.IDB) (key signingKey, found bool, err error) {
	return findKey(ctx, db, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("k.retired_at IS NULL").OrderExpr("k.created_at DESC, k.kid DESC").Limit(1)
	})
}

// findKey reads the key that narrow selects.
func findKey(
	ctx context.Context, db bun.IDB, narrow func(*bun.SelectQuery) *bun.SelectQuery,
) (key signingKey, found bool, err error) {
	err = db.NewSelect().Model(&key).Apply(narrow).Scan(ctx)
	if postgres.NoRows(err) {
		return signingKey{}, false, nil
	}
	if err != nil {
		return signingKey{}, false, fmt.Errorf("reading a signing key: %w", err)
	}
	return key, true, nil
}
