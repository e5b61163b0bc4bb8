package workspaces

import (
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/seal"
)

// Tenant is a customer of the installation.
type Tenant struct {
	bun.BaseModel `bun:"table:tenants,alias:t"`

	ID   TenantID `bun:"id,pk"`
	Name string   `bun:"name"`
	Plan string   `bun:"plan"`
	// PlanSince is when it got the plan. Zero is now, for a new tenant.
	PlanSince time.Time `bun:"plan_since,nullzero,default:now()"`
	// PlanByBilling says that a subscription, or the end of one, set the plan, and no person since.
	PlanByBilling bool `bun:"plan_by_billing"`
	// Timezone is the IANA time zone in which its days and months of usage begin and end.
	Timezone string `bun:"timezone"`
	// StripeCustomerID is the customer that it is at Stripe. Empty means none.
	StripeCustomerID string    `bun:"stripe_customer_id,nullzero"`
	CreatedAt        time.Time `bun:"created_at"`
	UpdatedAt        time.Time `bun:"updated_at"`
}

// VisibleTo is the tenant as a key may see it: one that is restricted to a workspace does not see
// what the tenant as a whole is at Stripe.
func (t Tenant) VisibleTo(p Principal) Tenant {
	if p.RequireWholeTenant() != nil {
		t.StripeCustomerID = ""
	}
	return t
}

// Workspace holds agents, tools, sources and endpoints of a tenant.
type Workspace struct {
	bun.BaseModel `bun:"table:workspaces,alias:w"`

	ID       ID       `bun:"id,pk"`
	TenantID TenantID `bun:"tenant_id"`
	Name     string   `bun:"name"`
	// KBUsedBytes is how many bytes sources store or have reserved.
	KBUsedBytes int64 `bun:"kb_used_bytes"`
	// TranscriptDays and AudioDays are those of Retention.
	TranscriptDays int       `bun:"transcript_days"`
	AudioDays      int       `bun:"audio_days"`
	CreatedAt      time.Time `bun:"created_at"`
	UpdatedAt      time.Time `bun:"updated_at"`
}

// Retention is how long what was said in the workspace is kept.
func (w Workspace) Retention() Retention {
	return Retention{TranscriptDays: w.TranscriptDays, AudioDays: w.AudioDays}
}

// Key is an API key. Only a hash of its secret is stored.
type Key struct {
	bun.BaseModel `bun:"table:api_keys,alias:k"`

	ID       KeyID    `bun:"id,pk"`
	TenantID TenantID `bun:"tenant_id"`
	// WorkspaceID restricts the key. Empty means all of the tenant.
	WorkspaceID ID        `bun:"workspace_id,nullzero"`
	Name        string    `bun:"name"`
	Scope       string    `bun:"scope"`
	SecretHash  []byte    `bun:"secret_hash,type:bytea"`
	SecretHint  string    `bun:"secret_hint"`
	CreatedAt   time.Time `bun:"created_at"`
	ExpiresAt   time.Time `bun:"expires_at,nullzero"`
	LastUsedAt  time.Time `bun:"last_used_at,nullzero"`
	// OldSecretHash is the hash of the secret before the last rotation. It works until
	// OldSecretExpiresAt, which is zero when it does not work, and never after ExpiresAt.
	OldSecretHash      []byte    `bun:"old_secret_hash,type:bytea"`
	OldSecretExpiresAt time.Time `bun:"old_secret_expires_at,nullzero"`
}

// at is the key as it is at now: without an old secret that does not work any more.
func (k Key) at(now time.Time) Key {
	if !now.Before(k.OldSecretExpiresAt) {
		k.OldSecretHash, k.OldSecretExpiresAt = nil, time.Time{}
	}
	return k
}

// endOldSecret makes the old secret work until then, or until the key expires.
func (k *Key) endOldSecret(then time.Time) {
	if !k.ExpiresAt.IsZero() && k.ExpiresAt.Before(then) {
		then = k.ExpiresAt
	}
	k.OldSecretExpiresAt = then
}

// expired says whether the key has expired at now.
func (k Key) expired(now time.Time) bool { return !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) }

// MintedKey is a key in the answer that made it, with its secret.
type MintedKey struct {
	Key
	Secret seal.Secret
}
