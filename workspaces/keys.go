package workspaces

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/seal"
)

// lastUsedGrain is how old last_used_at may be, so that it is written once a minute and not for
// each request.
const lastUsedGrain = time.Minute

// MaxOverlap is how long the old secret of a rotated key may work. Source: RotateApiKeyRequest.
const MaxOverlap = 7 * 24 * time.Hour

// ErrUnknownKey is the cause of auth-invalid-key when a key does not exist, or does not any more.
var ErrUnknownKey = errors.New("there is no such API key")

// Authenticate finds the principal of a bearer token.
// Errors: Unauthenticated auth-invalid-key for anything that is not a live key, because of
// ErrUnknownKey after a query that did not find it.
func (s *Service) Authenticate(ctx context.Context, token string) (Principal, error) {
	const advice = "The API key is not valid: check that it is complete, has not expired and has not been revoked."
	invalid := fault.New(fault.AuthInvalidKey, advice)
	if !idgen.CheckKey(token) {
		return Principal{}, invalid
	}
	now := s.timestamp()
	key, plan, err := selectKeyByHash(ctx, s.db, hashSecret(token), now)
	if postgres.NoRows(err) {
		return Principal{}, fault.Wrap(ErrUnknownKey, fault.AuthInvalidKey, advice)
	}
	if err != nil {
		return Principal{}, err
	}
	if key.expired(now) {
		return Principal{}, invalid
	}
	if now.Sub(key.LastUsedAt) >= lastUsedGrain {
		if err := touchKey(ctx, s.db, key.TenantID, key.ID, now); err != nil {
			return Principal{}, err
		}
	}
	scope, _ := ParseScope(key.Scope) // the CHECK of the column allows known scopes only
	return Principal{TenantID: key.TenantID, WorkspaceID: key.WorkspaceID, KeyID: key.ID, KeyName: key.Name, Scope: scope, Plan: plan}, nil
}

// mint gives a key a new secret.
func (s *Service) mint(key Key) MintedKey {
	secret := idgen.NewKey(s.random)
	key.SecretHash = hashSecret(secret)
	key.SecretHint = secret[len(secret)-4:]
	return MintedKey{Key: key, Secret: seal.Secret(secret)}
}

// CreateKeyParams is a new key. Name is required. An empty Scope means operator.
type CreateKeyParams struct {
	Name        string
	Scope       string
	WorkspaceID ID
	// ExpiresAt zero means never.
	ExpiresAt time.Time
}

// CreateKey makes a key of the tenant of the caller. Errors: Invalid invalid-request (an unknown
// scope, an expiry in the past, an admin key for one workspace), NotFound (the workspace),
// Forbidden auth-scope for a restricted caller, Precondition api-keys-full.
func (s *Service) CreateKey(ctx context.Context, p Principal, params CreateKeyParams) (MintedKey, error) {
	if err := p.RequireWholeTenant(); err != nil {
		return MintedKey{}, err
	}
	now := s.timestamp()
	if params.Scope == "" {
		params.Scope = ScopeOperator.String()
	}
	if err := checkKey(params, now); err != nil {
		return MintedKey{}, err
	}
	if params.WorkspaceID != "" {
		if _, err := s.Resolve(ctx, p, string(params.WorkspaceID)); err != nil {
			return MintedKey{}, err
		}
	}
	key := s.mint(Key{
		ID: KeyID(idgen.In(ctx, idgen.Key)), TenantID: p.TenantID, WorkspaceID: params.WorkspaceID, Name: params.Name,
		Scope: params.Scope, CreatedAt: now, ExpiresAt: params.ExpiresAt,
	})
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if err := s.admitKeyTx(ctx, tx, p.TenantID, now); err != nil {
			return err
		}
		return insert(ctx, tx, &key.Key)
	})
	if err != nil {
		if _, findErr := selectKey(ctx, s.db, p, key.ID); findErr == nil { // a repeated request (idgen.In), whose secret was never shown
			err = updateKey(ctx, s.db, key.Key, "secret_hash", "secret_hint")
		}
	}
	return key, err
}

func checkKey(params CreateKeyParams, now time.Time) error {
	scope, ok := ParseScope(params.Scope)
	if !ok {
		return fault.InvalidField("scope", "in", "scope must be read, runtime, operator or admin.")
	}
	if scope == ScopeAdmin && params.WorkspaceID != "" {
		return fault.InvalidField("scope", "conflict", "A key restricted to one workspace cannot be admin.")
	}
	return checkExpiry(params.ExpiresAt, now)
}

func checkExpiry(expiresAt, now time.Time) error {
	if !expiresAt.IsZero() && !expiresAt.After(now) {
		return fault.InvalidField("expires_at", "past", "expires_at must be in the future.")
	}
	return nil
}

// ListKeys lists the tenant's keys, newest first.
func (s *Service) ListKeys(ctx context.Context, p Principal, params postgres.PageParams) ([]Key, string, error) {
	params.Order = postgres.NewestFirst
	params.Filters = []string{string(p.TenantID)}
	keys, next, err := listKeys(ctx, s.db, p, params)
	now := s.timestamp()
	for i := range keys {
		keys[i] = keys[i].at(now)
	}
	return keys, next, err
}

// Key returns one key. Errors: NotFound.
func (s *Service) Key(ctx context.Context, p Principal, id KeyID) (Key, error) {
	key, err := selectKey(ctx, s.db, p, id)
	return key.at(s.timestamp()), err
}

// UpdateKeyParams changes the fields that are not nil. A zero ExpiresAt means never.
type UpdateKeyParams struct {
	Name      *string
	ExpiresAt *time.Time
}

// UpdateKey changes the name or the expiry. Errors: NotFound, Invalid invalid-request, Precondition
// api-keys-full when the key had expired.
func (s *Service) UpdateKey(ctx context.Context, p Principal, id KeyID, params UpdateKeyParams) (Key, error) {
	if params.Name != nil && strings.TrimSpace(*params.Name) == "" {
		return Key{}, errNoName()
	}
	now := s.timestamp()
	if params.ExpiresAt != nil {
		if err := checkExpiry(*params.ExpiresAt, now); err != nil {
			return Key{}, err
		}
	}
	var key Key
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if key, err = lockKey(ctx, tx, p, id); err != nil {
			return err
		}
		key = key.at(now)
		if params.Name != nil {
			key.Name = *params.Name
		}
		if params.ExpiresAt != nil {
			if key.expired(now) {
				if err := s.admitKeyTx(ctx, tx, p.TenantID, now); err != nil {
					return err
				}
			}
			key.ExpiresAt = *params.ExpiresAt
			key.endOldSecret(key.OldSecretExpiresAt)
		}
		return updateKey(ctx, tx, key, "name", "expires_at", "old_secret_expires_at")
	})
	return key, err
}

// RotateKey gives a key a new secret. The old one works for overlap more, at most MaxOverlap and
// not after the key expires. With overlap 0 no earlier secret works any more. Errors: NotFound,
// Invalid invalid-request (the overlap), Precondition api-key-overlap while two secrets work and
// overlap is not 0.
func (s *Service) RotateKey(ctx context.Context, p Principal, id KeyID, overlap time.Duration) (MintedKey, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return MintedKey{}, fault.InvalidField("overlap_seconds", "range", "overlap_seconds must be 0 to %d.", int(MaxOverlap.Seconds()))
	}
	now := s.timestamp()
	var minted MintedKey
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		key, err := lockKey(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if err := key.keepOldSecret(now, overlap); err != nil {
			return err
		}
		minted = s.mint(key)
		return updateKey(ctx, tx, minted.Key, "secret_hash", "secret_hint", "old_secret_hash", "old_secret_expires_at")
	})
	return minted, err
}

// keepOldSecret makes the secret of the key its old one, which works for overlap from now. A key
// has one old secret, so that a second overlap is refused: the one that runs would end earlier
// than its rotation said.
func (k *Key) keepOldSecret(now time.Time, overlap time.Duration) error {
	if overlap > 0 && now.Before(k.OldSecretExpiresAt) {
		return fault.New(fault.APIKeyOverlap, "The secret before the last rotation still works until %s. "+
			"Wait for that time, or rotate with overlap_seconds 0, which ends both secrets at once.", k.OldSecretExpiresAt.Format(time.RFC3339))
	}
	k.OldSecretHash = k.SecretHash
	k.endOldSecret(now.Add(overlap))
	*k = k.at(now)
	return nil
}

// DeleteKey revokes a key. Repeating it is not an error. Errors: NotFound.
func (s *Service) DeleteKey(ctx context.Context, p Principal, id KeyID) error {
	now := s.timestamp()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		deleted, err := deleteKey(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if deleted {
			return s.Bury(ctx, tx, p.TenantID, string(id), now)
		}
		return s.Gone(ctx, tx, p.TenantID, "API key", string(id))
	})
}
