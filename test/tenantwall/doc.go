// Package tenantwall is the second wall between tenants, for tests: it reads every statement that a
// pool sends and fails the test when one touches a tenant's table without saying whose rows.
//
// The first wall is the code: each store function carries the tenant's and the workspace's id into
// its statement. The second shows that none forgot. It is on in every database of package pgtest,
// and so in server and worker of package harness; it costs production nothing.
//
// A tenant's table is one with a column tenant_id, as information_schema has it, so that a new one
// is covered without being named; and tenants itself, whose id it is. Where such a table is read,
// changed or deleted from, one of these must hold for it, on every path of the condition:
//
//   - tenant_id or workspace_id equals a value (in workspaces, tenant_id; in tenants, id);
//   - or it equals that column of another table of the statement for which it holds, of a CTE, or
//     of a sub-select.
//
// An INSERT lists tenant_id, and where it may change a row that is there (ON CONFLICT … DO UPDATE)
// tenant_id is in the conflict's target or the condition compares it, or workspace_id, with
// EXCLUDED. A value that is given must not be empty and, in a request, must be the caller's tenant.
//
// What rightly serves all tenants says so at the statement, with its reason: postgres.AllTenants.
// marks.txt lists these; a test keeps it true. Statements of tests themselves are not judged.
package tenantwall
