package people

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/workspaces"
)

// Roles says which groups give which roles.
type Roles struct {
	byGroup map[string]workspaces.Role
	// other is the role of those who are in none of the groups.
	other workspaces.Role
}

// ParseRoles reads "admins=owner,support=operator", and the role of those who are in none of the
// groups; empty: none.
func ParseRoles(groups []string, other string) (Roles, error) {
	r := Roles{byGroup: map[string]workspaces.Role{}, other: cmp.Or(workspaces.Role(other), workspaces.RoleNone)}
	if !slices.Contains(workspaces.Roles, r.other) {
		return Roles{}, fmt.Errorf("%q is not one of the roles %s", other, names())
	}
	for _, part := range groups {
		at := strings.LastIndex(part, "=") // a group may be cn=admins,… at some issuers
		if at < 1 {
			return Roles{}, fmt.Errorf("has %q, which is not group=role", part)
		}
		group, role := strings.TrimSpace(part[:at]), workspaces.Role(strings.TrimSpace(part[at+1:]))
		if !slices.Contains(workspaces.Roles, role) || role == workspaces.RoleNone {
			return Roles{}, fmt.Errorf("has %q, whose role is not one of owner, operator, analyst and billing", part)
		}
		if before, twice := r.byGroup[group]; twice && before != role {
			return Roles{}, fmt.Errorf("gives the group %q two roles", group)
		}
		r.byGroup[group] = role
	}
	return r, nil
}

func names() string {
	texts := make([]string, len(workspaces.Roles))
	for i, role := range workspaces.Roles {
		texts[i] = string(role)
	}
	return strings.Join(texts, ", ")
}

// Of returns the role that groups give: of several the one that may do the most.
func (r Roles) Of(groups []string) workspaces.Role {
	given := []workspaces.Role{}
	for _, group := range groups {
		if role, has := r.byGroup[group]; has {
			given = append(given, role)
		}
	}
	for _, role := range workspaces.Roles {
		if slices.Contains(given, role) {
			return role
		}
	}
	return cmp.Or(r.other, workspaces.RoleNone)
}
