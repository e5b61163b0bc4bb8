package tenantwall

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop is a small schema.
var shop = &Schema{columns: map[string]map[string]bool{
	"tenants":    {"id": true, "name": true},
	"workspaces": {"id": true, "tenant_id": true},
	"agents":     {"id": true, "tenant_id": true, "workspace_id": true},
	"sources":    {"id": true, "tenant_id": true, "workspace_id": true, "agent_id": true},
	"tombstones": {"id": true, "tenant_id": true},
	"keys":       {"kid": true},
}}

func TestPasses(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"NoTable":        "SELECT pg_notify('a', 'b')",
		"NoTenantsTable": "SELECT * FROM keys WHERE kid = 'x'",
		"Begin":          "begin isolation level serializable",
		"Ping":           "-- ping",
		"Literal":        "SELECT * FROM agents WHERE tenant_id = 'ten_1' AND id = 'a'",
		"Parameter":      "SELECT * FROM agents AS a WHERE a.tenant_id = $1",
		"Cast":           "SELECT * FROM agents AS a WHERE (('ten_1'::text) = a.tenant_id::text)",
		"Workspace":      "SELECT * FROM agents WHERE workspace_id = 'ws_1'",
		"Bun":            `SELECT "a"."id" FROM "agents" AS "a" WHERE (a.tenant_id = 'ten_1') AND (a.id = 'x') FOR UPDATE`,
		"OrBeside":       "SELECT * FROM agents WHERE tenant_id = 'ten_1' AND (id = 'a' OR id = 'b')",
		"BetweenBefore":  "SELECT * FROM agents WHERE id BETWEEN 'a' AND 'b' AND tenant_id = 'ten_1'",
		"In":             "SELECT * FROM agents WHERE tenant_id IN ('ten_1', 'ten_2')",
		"Join": "SELECT * FROM agents a JOIN sources s ON s.tenant_id = a.tenant_id AND s.agent_id = a.id " +
			"WHERE a.tenant_id = 'ten_1'",
		"JoinUsing":  "SELECT * FROM agents JOIN sources USING (tenant_id, id) WHERE agents.tenant_id = 'ten_1'",
		"LeftJoin":   "SELECT * FROM agents a LEFT JOIN sources s ON s.workspace_id = a.workspace_id WHERE a.tenant_id = 'ten_1'",
		"Comma":      "SELECT * FROM agents a, sources s WHERE a.tenant_id = s.tenant_id AND s.tenant_id = 'ten_1'",
		"SubSelect":  "SELECT * FROM (SELECT * FROM agents WHERE tenant_id = 'ten_1') AS x WHERE x.id = 'a'",
		"Correlated": "SELECT EXISTS (SELECT FROM sources s WHERE s.tenant_id = a.tenant_id) FROM agents a WHERE a.tenant_id = 'ten_1'",
		"CTE":        "WITH agents AS (SELECT * FROM agents WHERE tenant_id = 'ten_1') SELECT * FROM agents",
		"FollowsCTE": "WITH x (tenant_id, n) AS (VALUES ('ten_1', 1)) UPDATE agents a SET name = 'x' FROM x WHERE " +
			"x.tenant_id = a.tenant_id",
		"Recursive": "WITH RECURSIVE up AS (SELECT id FROM agents WHERE tenant_id = 'ten_1' UNION ALL SELECT id " +
			"FROM up) SELECT * FROM up",
		"Union": "(SELECT id FROM agents WHERE tenant_id = 't') UNION ALL SELECT id FROM sources WHERE " +
			"tenant_id = 't' ORDER BY 1 LIMIT 1",
		"Function": "SELECT * FROM unnest('{}'::text[]) WITH ORDINALITY AS n (a, b) JOIN agents ON agents.id = " +
			"n.a AND agents.tenant_id = 'ten_1'",
		"Distinct": "SELECT * FROM agents WHERE id IS DISTINCT FROM 'x' AND tenant_id = 'ten_1'",
		"Case": "SELECT CASE WHEN id = 'a' AND name = 'b' THEN 1 END FROM agents WHERE CASE WHEN id = 'a' " +
			"OR id = 'c' THEN true ELSE false END AND tenant_id = 'ten_1'",
		"Update": "UPDATE agents SET name = 'FROM sources' WHERE tenant_id = 'ten_1' RETURNING *",
		"Delete": "DELETE FROM agents AS a USING sources AS s WHERE a.tenant_id = 'ten_1' AND s.tenant_id = a.tenant_id",
		"Insert": "INSERT INTO agents AS a (id, tenant_id) VALUES ('a', 'ten_1'), ('b', 'ten_1') RETURNING id",
		"InsertSelect": "INSERT INTO tombstones (id, tenant_id) SELECT id, tenant_id FROM agents WHERE tenant_id = " +
			"'ten_1' ON CONFLICT DO NOTHING",
		"UpsertTarget": "INSERT INTO tombstones (tenant_id, id) VALUES ('ten_1', 'a') ON CONFLICT (tenant_id, id) " +
			"DO UPDATE SET id = EXCLUDED.id",
		"UpsertExcluded": "INSERT INTO agents AS a (id, tenant_id) VALUES ('a', 'ten_1') ON CONFLICT (id) DO UPDATE " +
			"SET id = EXCLUDED.id WHERE a.tenant_id = EXCLUDED.tenant_id",
		"Tenant":             "SELECT * FROM tenants AS t WHERE t.id = 'ten_1'",
		"TenantOf":           "SELECT * FROM agents AS a JOIN tenants AS t ON t.id = a.tenant_id WHERE a.tenant_id = 'ten_1'",
		"Marked":             "/* all tenants: the sweep */ UPDATE agents SET name = ''",
		"Strings":            `SELECT E'it''s \' FROM agents', $x$ FROM agents $x$, U&'x' FROM keys -- FROM agents`,
		"ColumnNamedAsTable": "SELECT k.agents FROM keys AS k WHERE k.agents = 'x'",
		"Coalesce":           "SELECT * FROM agents AS a WHERE (coalesce(a.tenant_id, '') = '')",
		"Workspaces":         "SELECT * FROM workspaces WHERE tenant_id = 'ten_1' AND id = 'ws_1'",
		"WorkspaceOf":        "SELECT * FROM agents AS a JOIN workspaces AS w ON w.id = a.workspace_id WHERE a.tenant_id = 'ten_1'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shop.Check(sql).Problems; len(got) > 0 {
				t.Errorf("%s\n%q", sql, got)
			}
		})
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	without := func(verb, table string) []string {
		return []string{"it " + verb + " without its tenant_id or workspace_id"}
	}
	reads := without("reads agents AS a", "")
	for name, test := range map[string]struct {
		sql  string
		want []string
	}{
		"ByID":       {"SELECT * FROM agents AS a WHERE a.id = 'x'", reads},
		"Everything": {"SELECT count(*) FROM agents a", reads},
		"Or":         {"SELECT * FROM agents a WHERE tenant_id = 't' OR id = 'x'", reads},
		"OrWithin":   {"SELECT * FROM agents a WHERE (id = 'y' AND (tenant_id = 't' OR id = 'x'))", reads},
		"Not":        {"SELECT * FROM agents a WHERE NOT (tenant_id = 't')", reads},
		"Unequal":    {"SELECT * FROM agents a WHERE tenant_id <> 't'", reads},
		"Itself":     {"SELECT * FROM agents a WHERE tenant_id = tenant_id", reads},
		"Case":       {"SELECT * FROM agents a WHERE CASE WHEN id = 'a' AND tenant_id = 't' THEN true ELSE true END", reads},
		"OtherAlias": {"SELECT * FROM agents a JOIN sources s ON s.agent_id = a.id WHERE s.tenant_id = 't'", reads},
		"EachOther": {
			"SELECT * FROM agents a JOIN sources a2 ON a2.tenant_id = a.tenant_id WHERE a.id = 'x'",
			append(slices.Clone(reads), "it reads sources AS a2 without its tenant_id or workspace_id"),
		},
		"LeftJoinsLeft":   {"SELECT * FROM agents a LEFT JOIN sources s ON a.tenant_id = 't' AND s.tenant_id = 't'", reads},
		"LeftJoinFollows": {"SELECT * FROM agents a LEFT JOIN sources s ON a.tenant_id = s.tenant_id AND s.tenant_id = 't'", reads},
		"FullJoin":        {"SELECT * FROM agents a FULL JOIN keys k ON a.tenant_id = 't'", reads},
		"Comma":           {"SELECT * FROM keys, agents a", reads},
		"Parentheses":     {"SELECT * FROM (keys JOIN agents a ON true)", reads},
		"SubSelect":       {"SELECT * FROM keys WHERE kid IN (SELECT id FROM agents a)", reads},
		"SelectList":      {"SELECT (SELECT name FROM agents a LIMIT 1)", reads},
		"Correlated":      {"SELECT * FROM agents a WHERE EXISTS (SELECT FROM sources s WHERE s.tenant_id = 't' AND a.tenant_id = 't')", reads},
		"CTE":             {"WITH x AS (SELECT * FROM agents a) SELECT 1", reads},
		"SecondOfUnion":   {"SELECT id FROM agents WHERE tenant_id = 't' UNION SELECT id FROM agents a", reads},
		"Update":          {"UPDATE agents AS a SET tenant_id = 't' WHERE id = 'x'", without("updates agents AS a", "")},
		"UpdateFrom":      {"UPDATE keys SET kid = 'x' FROM agents AS a WHERE a.id = kid", reads},
		"UpdateInCTE":     {"WITH x AS (UPDATE agents AS a SET id = 'x' RETURNING *) SELECT * FROM x", without("updates agents AS a", "")},
		"Delete":          {"DELETE FROM agents WHERE id = 'x'", without("deletes from agents AS agents", "")},
		"Insert": {
			"INSERT INTO agents (id, name) VALUES ('x', 'y')",
			[]string{"it inserts into agents without tenant_id among the columns"},
		},
		"InsertBlind":  {"INSERT INTO agents VALUES ('x', 'y')", []string{"it inserts into agents without tenant_id among the columns"}},
		"InsertSelect": {"INSERT INTO keys (kid) SELECT id FROM agents a", reads},
		"Upsert": {
			"INSERT INTO agents AS a (id, tenant_id) VALUES ('x', 't') ON CONFLICT (id) DO UPDATE SET id = 'y'",
			without("may change, on conflict, agents AS a", ""),
		},
		"UpsertSetOnly": {
			"INSERT INTO agents AS a (id, tenant_id) VALUES ('x', 't') ON CONFLICT (id) DO UPDATE SET tenant_id = EXCLUDED.tenant_id",
			without("may change, on conflict, agents AS a", ""),
		},
		"Tenants":          {"SELECT * FROM tenants ORDER BY id", []string{"it reads tenants AS tenants without its id"}},
		"WorkspacesByID":   {"SELECT * FROM workspaces WHERE id = 'ws_1'", []string{"it reads workspaces AS workspaces without its tenant_id"}},
		"EmptyTenant":      {"SELECT * FROM agents a WHERE tenant_id = ''", append([]string{"the tenant's id is empty"}, reads...)},
		"EmptyWorkspace":   {"SELECT * FROM agents a WHERE workspace_id IN ('ws_1', '')", reads},
		"InsertEmpty":      {"INSERT INTO agents (id, tenant_id) VALUES ('x', '')", []string{"the tenant's id is empty"}},
		"MarkNotLeading":   {"SELECT /* all tenants: x */ 1 FROM agents a", reads},
		"MarkWithoutWords": {"/* all tenants: */ SELECT 1 FROM agents a", reads},
		"Copy":             {"COPY agents TO STDOUT", []string{"the wall cannot read what it does with agents"}},
		"Truncate":         {"TRUNCATE agents", []string{"the wall cannot read what it does with agents"}},
		"Merge": {
			"MERGE INTO agents USING keys ON true WHEN MATCHED THEN DELETE",
			[]string{"the wall cannot read what it does with agents"},
		},
		"Table":    {"SELECT * FROM keys UNION TABLE agents", []string{"the wall cannot read what it does with agents"}},
		"Unclosed": {"SELECT '", []string{"the wall cannot read it: " + errUnclosed.Error()}},
		"Two":      {"SELECT 1; SELECT * FROM agents", []string{"the wall cannot read it: " + errStatements.Error()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, shop.Check(test.sql).Problems); diff != "" {
				t.Errorf("%s (-want +got)\n%s", test.sql, diff)
			}
		})
	}
}

func TestTenants(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string][]string{
		"SELECT * FROM agents a JOIN sources s ON s.tenant_id = 'ten_2' WHERE 'ten_1' = a.tenant_id":             {"ten_2", "ten_1"},
		"INSERT INTO agents (id, tenant_id) VALUES ('x', 'ten_1'), (DEFAULT, 'ten_2')":                           {"ten_1", "ten_2"},
		"INSERT INTO tombstones (id, tenant_id) SELECT id, tenant_id FROM agents a WHERE tenant_id IN ('ten_1')": {"ten_1"},
		"SELECT * FROM tenants WHERE id = 'ten_1'":                                                               {"ten_1"},
		"SELECT * FROM agents WHERE tenant_id = $1":                                                              nil,
	} {
		if diff := cmp.Diff(want, shop.Check(sql).Tenants); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sql, diff)
		}
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	const sql = "SELECT * FROM agents AS a WHERE a.id = $2 AND (a.tenant_id = $1::text)"
	if diff := cmp.Diff([]string{"ten_1"}, shop.Check(sql, "ten_1", "a").Tenants); diff != "" {
		t.Errorf("tenants (-want +got)\n%s", diff)
	}
	want := []string{"the tenant's id is empty", "it reads agents AS a without its tenant_id or workspace_id"}
	if diff := cmp.Diff(want, shop.Check(sql, "", "a").Problems); diff != "" {
		t.Errorf("of nobody (-want +got)\n%s", diff)
	}
	if got := shop.Check(sql, 1); len(got.Problems)+len(got.Tenants) > 0 {
		t.Errorf("no text: %+v", got)
	}
}

// FuzzCheck: whatever it is, the wall comes to a verdict.
func FuzzCheck(f *testing.F) {
	for _, sql := range []string{
		"SELECT * FROM agents a WHERE a.id = 'x'", "WITH x AS (", "INSERT INTO agents",
		"((((", "UPDATE", "$", "DELETE FROM", "WITH", "SELECT * FROM a JOIN", "INSERT INTO agents (id) ON CONFLICT", "explain",
	} {
		f.Add(sql)
	}
	f.Fuzz(func(_ *testing.T, sql string) { shop.Check(sql) })
}
