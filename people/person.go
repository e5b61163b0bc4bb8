package people

import (
	"cmp"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/workspaces"
)

// ID names a person (per_…).
type ID = workspaces.PersonID

// Person is somebody who signs in.
type Person struct {
	bun.BaseModel `bun:"table:people,alias:p"`

	ID       ID                  `bun:"id,pk"`
	TenantID workspaces.TenantID `bun:"tenant_id"`
	// Issuer and Subject say who they are; names and addresses change.
	Issuer  string `bun:"issuer"`
	Subject string `bun:"subject"`
	// Name is never empty: without one it is the e-mail address or the subject.
	Name   string   `bun:"name"`
	Email  string   `bun:"email"`
	Groups []string `bun:"groups,array"`
	// GroupRole is what the groups gave at the last sign-in. AssignedRole, unless it is empty, counts
	// in its place.
	GroupRole    workspaces.Role `bun:"group_role"`
	AssignedRole workspaces.Role `bun:"assigned_role"`
	Disabled     bool            `bun:"disabled"`
	CreatedAt    time.Time       `bun:"created_at"`
	SignedInAt   time.Time       `bun:"signed_in_at"`
	// SignIns is in how many browsers they are signed in. It is counted when a person is read.
	SignIns int `bun:"sign_ins,scanonly"`
}

// Role is what the person may do.
func (p Person) Role() workspaces.Role { return cmp.Or(p.AssignedRole, p.GroupRole) }

// isOwner reports whether the person can act as an owner.
func (p Person) isOwner() bool { return p.Role() == workspaces.RoleOwner && !p.Disabled }

// signIn is a browser in which somebody is signed in.
type signIn struct {
	bun.BaseModel `bun:"table:person_sign_ins,alias:s"`

	TokenHash  []byte              `bun:"token_hash,pk"`
	TenantID   workspaces.TenantID `bun:"tenant_id"`
	PersonID   ID                  `bun:"person_id"`
	CreatedAt  time.Time           `bun:"created_at"`
	ExpiresAt  time.Time           `bun:"expires_at"`
	LastSeenAt time.Time           `bun:"last_seen_at"`
}
