package privacy

import (
	"slices"
	"testing"

	"parlance.dev/parlance/test/pgtest"
)

// TestInventory compares the lists of inventory.go with the schema: a table that names users or
// sessions must be in one of them, and what is said to go with its session has the foreign key.
func TestInventory(t *testing.T) {
	t.Parallel()
	db := pgtest.Open(t)
	read := func(query string) (names []string) {
		if err := db.NewRaw(query).Scan(t.Context(), &names); err != nil {
			t.Fatal(err)
		}
		return names
	}
	named := read(`
SELECT DISTINCT c.table_name::text
FROM information_schema.columns AS c
JOIN information_schema.tables AS t USING (table_schema, table_name)
WHERE c.table_schema = 'public'
  AND t.table_type = 'BASE TABLE'
  AND (c.column_name ~ '(session|user)_(id|hash)$' OR c.table_name = 'sessions')`)
	cascading := read(`
SELECT conrelid::regclass::text
FROM pg_constraint
WHERE contype = 'f' AND confdeltype = 'c' AND confrelid = 'sessions'::regclass`)
	for _, table := range named {
		_, known := elsewhere[table]
		if !known && !slices.Contains(ofSessions, table) && !slices.Contains(withSessions, table) && !slices.Contains(ofUsers, table) {
			t.Errorf("nothing says what happens to the rows of %s when their user is erased", table)
		}
	}
	for _, table := range withSessions {
		if !slices.Contains(cascading, table) {
			t.Errorf("the rows of %s do not go with their session", table)
		}
	}
	for _, table := range slices.Concat(ofSessions, withSessions, ofUsers) {
		if !slices.Contains(named, table) {
			t.Errorf("there is no table %s that names users or sessions", table)
		}
	}
}
