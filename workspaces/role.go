package workspaces

// Role is what a person who has signed in may do.
type Role string

// The roles.
const (
	// RoleOwner may do everything.
	RoleOwner Role = "owner"
	// RoleOperator may do everything inside workspaces.
	RoleOperator Role = "operator"
	// RoleAnalyst may read. Personal data is masked in what they read.
	RoleAnalyst Role = "analyst"
	// RoleBilling may call the methods about usage, the plan and payments, and no others.
	RoleBilling Role = "billing"
	// RoleNone may do nothing.
	RoleNone Role = "none"
)

// Roles are all roles, the one that may do the most first.
var Roles = []Role{RoleOwner, RoleOperator, RoleAnalyst, RoleBilling, RoleNone}

// Scope is the scope that a role has. That of RoleBilling does not say all: a method's policy says
// whether they may call it.
func (r Role) Scope() Scope {
	switch r {
	case RoleOwner:
		return ScopeAdmin
	case RoleOperator:
		return ScopeOperator
	case RoleAnalyst, RoleBilling:
		return ScopeRead
	case RoleNone:
	}
	return ScopeNone
}
