package postgres

// AllTenants is the comment of a statement that rightly reads or changes rows of more than one
// tenant, or does not know the tenant yet, with its reason: q.Comment(postgres.AllTenants("…")).
// Tests fail for every other statement that touches a tenant's table without a tenant's or
// workspace's id. The reason is a constant, never a caller's words.
func AllTenants(reason string) string { return "all tenants: " + reason }

// RawForAllTenants is a raw statement with the comment of AllTenants: Bun leaves the Comment of a
// raw query out when it runs it.
func RawForAllTenants(reason, statement string) string {
	return "/* " + AllTenants(reason) + " */ " + statement
}
