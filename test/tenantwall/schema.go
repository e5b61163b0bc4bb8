package tenantwall

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// key is which of the two ids a column holds.
type key uint8

const (
	noKey key = iota
	tenantKey
	workspaceKey
)

// Schema is the tables of a database.
type Schema struct {
	// columns are the names of the columns by table.
	columns map[string]map[string]bool
}

// ReadSchema asks a database for its tables.
func ReadSchema(ctx context.Context, databaseURL string) (*Schema, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, fmt.Errorf("connect to read the tables: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // only read
	rows, err := conn.Query(ctx, "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public'")
	if err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	s := &Schema{columns: map[string]map[string]bool{}}
	var table, column string
	_, err = pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		if s.columns[table] == nil {
			s.columns[table] = map[string]bool{}
		}
		s.columns[table][column] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	return s, nil
}

// tenants is the one table whose id is the tenant's; workspaces the one whose id is the
// workspace's.
const (
	tenantsTable    = "tenants"
	workspacesTable = "workspaces"
)

// guarded reports whether the rows of a table belong to tenants.
func (s *Schema) guarded(table string) bool {
	return table == tenantsTable && s.columns[table] != nil || s.columns[table]["tenant_id"]
}

// tenantColumn is where a guarded table has its tenant.
func tenantColumn(table string) string {
	if table == tenantsTable {
		return "id"
	}
	return "tenant_id"
}

// keyOf says which id a column of a table holds. A table that is none of the database's (a CTE, a
// sub-select, a function) goes by the column's name.
func keyOf(table, column string) key {
	switch {
	case table == tenantsTable:
		if column == "id" {
			return tenantKey
		}
		return noKey
	case column == "tenant_id":
		return tenantKey
	case column == "workspace_id", table == workspacesTable && column == "id":
		return workspaceKey
	}
	return noKey
}
