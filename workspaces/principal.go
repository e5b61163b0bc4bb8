package workspaces

import (
	"cmp"
	"context"
	"strings"

	"parlance.dev/parlance/fault"
)

// TenantID names a tenant (ten_…).
type TenantID string

// ID names a workspace (ws_…).
type ID string

// KeyID names an API key (key_…).
type KeyID string

// PersonID names somebody who signs in at the console (per_…).
type PersonID string

// Ref is a workspace that a caller may use, with its tenant. Only Service.Resolve, and code that
// read both from one row, may make one.
type Ref struct {
	TenantID TenantID
	ID       ID
}

// Scope is what a key may do. Each scope contains the ones before it.
type Scope uint8

// The scopes. The zero value may do nothing.
const (
	ScopeNone Scope = iota
	ScopeRead
	ScopeRuntime
	ScopeOperator
	ScopeAdmin
)

var scopeNames = [...]string{"", "read", "runtime", "operator", "admin"}

// String is the name of the scope in the API.
func (s Scope) String() string { return scopeNames[s] }

// ParseScope parses the name of a scope. ok is false for other texts.
func ParseScope(name string) (scope Scope, ok bool) {
	for i, known := range scopeNames {
		if name != "" && name == known {
			return Scope(i), true
		}
	}
	return ScopeNone, false
}

// Principal is the caller: a key of a tenant, somebody who has signed in at the console, or the
// holder of the token of a session.
type Principal struct {
	TenantID TenantID
	// WorkspaceID is the only workspace that the key may use. Empty means all of the tenant.
	WorkspaceID ID
	KeyID       KeyID
	// KeyName is the display name of the key.
	KeyName string
	Scope   Scope
	// Plan is the name of the plan of the tenant when the caller was read.
	Plan string
	// SessionID is set when the caller sent the token of that session instead of a key. The caller may
	// use that session and nothing else.
	SessionID string
	// PersonID is set when the caller is a person who has signed in. There is no key then.
	PersonID PersonID
	// PersonName is what the person is called when the caller was read.
	PersonName string
	// Role is that of the person; empty for others.
	Role Role
}

// CallerID is the id of the key, the person or the session that calls. What is counted or kept for
// a caller is counted or kept under it. It is empty for the zero Principal.
func (p Principal) CallerID() string {
	return cmp.Or(string(p.KeyID), string(p.PersonID), p.SessionID)
}

// CallerName is what the key or the person that calls is called.
func (p Principal) CallerName() string { return cmp.Or(p.KeyName, p.PersonName) }

// Require refuses a principal whose scope does not contain the one needed.
// Errors: Forbidden auth-scope.
func (p Principal) Require(needed Scope) error {
	if p.Scope >= needed {
		return nil
	}
	if p.PersonID != "" {
		const advice = "This needs the scope %q; your role %q has the scope %q. An owner can give you another role."
		return fault.New(fault.AuthScope, advice, needed, p.Role, p.Scope)
	}
	return fault.New(fault.AuthScope, "This needs a key with the scope %q; the key's scope is %q.", needed, p.Scope)
}

// RequireWholeTenant refuses keys restricted to one workspace. Errors: Forbidden auth-scope.
func (p Principal) RequireWholeTenant() error {
	if p.WorkspaceID == "" {
		return nil
	}
	return fault.New(fault.AuthScope, "This needs a key for the whole tenant; the key is restricted to the workspace %s.", p.WorkspaceID)
}

// MayTouch says whether the principal may use a workspace.
func (p Principal) MayTouch(ref Ref) bool {
	return p.TenantID == ref.TenantID && (p.WorkspaceID == "" || p.WorkspaceID == ref.ID)
}

type principalKey struct{}

// WithPrincipal returns a context that carries the caller.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the caller that WithPrincipal stored. Without one it is the zero
// Principal, which owns no tenant and may do nothing.
func PrincipalFrom(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

type standingKey struct{}

// WithStanding returns a context with a function that checks whether the caller is still
// authorized.
func WithStanding(ctx context.Context, ask func(ctx context.Context) error) context.Context {
	return context.WithValue(ctx, standingKey{}, ask)
}

// Standing calls the function of WithStanding. Long-running requests call it from time to time,
// because keys are revoked and expire. Without WithStanding the caller stays authorized. Errors:
// those of the function.
func Standing(ctx context.Context) error {
	ask, ok := ctx.Value(standingKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	return ask(ctx)
}

// BearerToken is the token in the value of an Authorization header. Errors: Unauthenticated
// auth-missing when the header is missing or has another scheme.
func BearerToken(header string) (string, error) {
	scheme, token, found := strings.Cut(header, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", fault.New(fault.AuthMissing, "Send the header Authorization: Bearer <API key>.")
	}
	return strings.TrimSpace(token), nil
}
