package seal

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"parlance.dev/parlance/platform/cache"
	"parlance.dev/parlance/platform/postgres"
)

const (
	// DataKeyLife is how long a data key seals before the next one takes over; it opens for ever.
	// With random nonces a key is safe for 2^32 values (NIST SP 800-38D): 1,600 a second for 30
	// days.
	DataKeyLife = 30 * 24 * time.Hour
	// cacheTime is how long an unwrapped data key is used before it is read and unwrapped again.
	cacheTime = 5 * time.Minute
	// graceTime is how long it is used at most while a key-management service does not answer.
	graceTime = time.Hour
	// maxCached bounds the unwrapped keys in memory: that many tenants within cacheTime.
	maxCached = 4096
	// loadTimeout bounds reading and unwrapping one data key; many callers may wait for it.
	loadTimeout = 15 * time.Second
)

// Deps is what a Keyring works with. DB and at least one master key are required.
type Deps struct {
	DB      *postgres.DB
	Masters Masters
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Keyring seals and opens values with the tenants' data keys. Safe for concurrent use.
type Keyring struct {
	db      *postgres.DB
	masters Masters
	now     func() time.Time

	loading singleflight.Group
	cached  *cache.Cache[cacheKey, *dataKey]
}

// cacheKey is a data key of a tenant; the zero id stands for the one that seals now.
type cacheKey struct {
	tenantID string
	id       uuid.UUID
}

// dataKey is an unwrapped data key.
type dataKey struct {
	id        uuid.UUID
	aead      cipher.AEAD
	createdAt time.Time
	readAt    time.Time
}

// New makes a keyring; it reads nothing yet (see Check).
func New(d Deps) (*Keyring, error) {
	if d.DB == nil || len(d.Masters) == 0 {
		return nil, errors.New("seal: a database and a master key are needed")
	}
	k := &Keyring{db: d.DB, masters: d.Masters, now: d.Now, cached: cache.New[cacheKey, *dataKey](maxCached)}
	if k.now == nil {
		k.now = time.Now
	}
	return k, nil
}

// moment is now as Postgres keeps it.
func (k *Keyring) moment() time.Time { return k.now().UTC().Truncate(time.Microsecond) }

// Seal encrypts plaintext for one place, under the data key of its tenant; the blob is Overhead
// bytes longer. Each call gives another blob. It may read and write the database, so it is not
// for the inside of a transaction.
func (k *Keyring) Seal(ctx context.Context, plaintext []byte, place Binding) ([]byte, error) {
	key, err := k.key(ctx, cacheKey{tenantID: place.TenantID})
	if err != nil {
		return nil, fmt.Errorf("finding the data key to seal with: %w", err)
	}
	return sealWith(key, plaintext, place), nil
}

// Open gives back what was sealed for the same place. It may read the database.
// Errors: ErrOpen, ErrOldFormat, ErrUnknownKey (none holds anything of the value), and that the
// data key cannot be read now.
func (k *Keyring) Open(ctx context.Context, blob []byte, place Binding) ([]byte, error) {
	id, err := blobKey(blob)
	if err != nil {
		return nil, err
	}
	key, err := k.key(ctx, cacheKey{tenantID: place.TenantID, id: id})
	if err != nil {
		return nil, err
	}
	return openWith(key, blob, place)
}

// key finds a data key in memory, or reads it.
func (k *Keyring) key(ctx context.Context, at cacheKey) (*dataKey, error) {
	now := k.moment()
	known, _ := k.cached.Get(at) // nil when there is none
	if known != nil && now.Sub(known.readAt) < cacheTime && (at.id != uuid.Nil || now.Sub(known.createdAt) < DataKeyLife) {
		return known, nil
	}
	// Whoever asks first reads for all; its hang-up must not fail the others.
	loaded := k.loading.DoChan(at.tenantID+" "+at.id.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		return k.load(ctx, at)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-loaded:
		key, ok := result.Val.(*dataKey)
		switch {
		case result.Err == nil && ok:
			return key, nil
		case known != nil && !decided(result.Err) && now.Sub(known.readAt) < graceTime:
			return known, nil
		}
		return nil, result.Err
	}
}

// decided reports whether an error is about the data key, and not about a service that did not
// answer.
func decided(err error) bool {
	return errors.Is(err, ErrOpen) || errors.Is(err, ErrUnknownKey)
}

// load reads and unwraps a data key; for sealing it makes the tenant's next one when it is time.
func (k *Keyring) load(ctx context.Context, at cacheKey) (*dataKey, error) {
	var row wrappedKey
	var err error
	if at.id == uuid.Nil {
		row, err = k.currentRow(ctx, at.tenantID)
	} else {
		row, err = selectDataKey(ctx, k.db, at.tenantID, at.id)
	}
	if err != nil {
		return nil, err
	}
	secret, err := k.unwrap(ctx, row)
	if err != nil {
		return nil, err
	}
	gcm, err := NewAEAD(secret)
	if err != nil {
		return nil, err
	}
	key := &dataKey{id: row.ID, aead: gcm, createdAt: row.CreatedAt, readAt: k.moment()}
	k.cached.Set(at, key)
	return key, nil
}

// currentRow is the tenant's data key that seals now, made if there is none or its time is over.
func (k *Keyring) currentRow(ctx context.Context, tenantID string) (wrappedKey, error) {
	now := k.moment()
	row, found, err := selectCurrent(ctx, k.db, tenantID)
	if err != nil || found && now.Sub(row.CreatedAt) < DataKeyLife {
		return row, err
	}
	next, err := k.newRow(ctx, tenantID, now)
	if err != nil {
		return wrappedKey{}, err
	}
	return replaceCurrent(ctx, k.db, row, next)
}

// newRow makes a data key under a master key that everybody opens.
func (k *Keyring) newRow(ctx context.Context, tenantID string, now time.Time) (wrappedKey, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return wrappedKey{}, fmt.Errorf("naming a data key: %w", err)
	}
	secret := make([]byte, keyBytes)
	rand.Read(secret)
	row := wrappedKey{ID: id, TenantID: tenantID, CreatedAt: now}
	master, err := k.wrapper(ctx)
	if err != nil {
		return wrappedKey{}, err
	}
	return row, wrap(ctx, master, &row, secret)
}

// wrap puts a data key into its row under a master key.
func wrap(ctx context.Context, master MasterKey, row *wrappedKey, secret []byte) (err error) {
	row.MasterKeyID = master.ID()
	if row.Wrapped, err = master.Wrap(ctx, secret, row.place()); err != nil {
		return fmt.Errorf("wrapping a data key with master key %s: %w", row.MasterKeyID, err)
	}
	return nil
}

// unwrap is the data key of a row. Errors: ErrUnknownKey, ErrOpen, that the key cannot be asked.
func (k *Keyring) unwrap(ctx context.Context, row wrappedKey) ([]byte, error) {
	master, ok := k.masters.Find(row.MasterKeyID)
	if !ok {
		return nil, fmt.Errorf("%w: data key %s is wrapped with %s", ErrUnknownKey, row.ID, row.MasterKeyID)
	}
	secret, err := master.Unwrap(ctx, row.Wrapped, row.place())
	if err == nil && len(secret) != keyBytes {
		err = ErrOpen
	}
	if err != nil {
		return nil, fmt.Errorf("unwrapping data key %s with master key %s: %w", row.ID, row.MasterKeyID, err)
	}
	return secret, nil
}
