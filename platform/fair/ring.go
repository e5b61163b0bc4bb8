package fair

import "sync"

// Ask is what a noun is asked for when there is room for more of its work.
type Ask struct {
	// Room is how many pieces of work fit; at least 1.
	Room int
	// After is the tenant that was served last: the next one in order comes first. "" is before all.
	After string
	// Except are tenants that have enough for now.
	Except []string
	// Share is how many pieces a tenant may have under way, those that Held counts included; 0: no
	// bound. A noun whose work is quick to hand over keeps to it, others may leave it to Except.
	Share int
	Held  map[string]int
}

// RingSQL is the CTEs of a WITH RECURSIVE that list, in the order of turns, the tenants with a
// row in table under the condition where (which speaks of the row as w): the last of them is
// ring (tenant_id, place), place counting from 1 at the tenant after [Ask].After. It takes After
// three times as its parameters.
//
// A tenant costs one look into an index that begins with tenant_id and has where for its
// predicate, however many rows it has. table and where are constants of the caller's.
func RingSQL(table, where string) string {
	return `
lap (tenant_id, number, place) AS (
    SELECT ?::text, 0, 0::bigint
    UNION ALL
    -- When no tenant is left the second lap begins before the first of them.
    SELECT coalesce(ahead.tenant_id, ''),
           lap.number + (ahead.tenant_id IS NULL)::integer,
           lap.place + 1
    FROM lap
    LEFT JOIN LATERAL (
        SELECT w.tenant_id
        FROM ` + table + ` AS w
        WHERE w.tenant_id > lap.tenant_id
          AND ` + where + `
        ORDER BY w.tenant_id
        LIMIT 1
    ) AS ahead ON true
    WHERE lap.number = 0 OR (lap.number = 1 AND lap.tenant_id <= ?)
), ring AS (
    -- The first lap is of those after the one that was served last, the second of the others.
    SELECT tenant_id, place
    FROM lap
    WHERE tenant_id <> ''
      AND (number = 0) = (tenant_id > ?)
)`
}

// Turn remembers which tenant was served last. The zero value is before all. Safe for concurrent use.
type Turn struct {
	mu   sync.Mutex
	last string
}

// Last is the tenant that was served last.
func (t *Turn) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Served says that the tenant was.
func (t *Turn) Served(tenant string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = tenant
}

// Alternate orders items so that the tenants take turns: the first item of each, in the order
// they appear in, then the second of each. Items of one tenant keep their order.
func Alternate[T any](items []T, tenant func(T) string) []T {
	var order []string
	lines := map[string][]T{}
	for _, item := range items {
		key := tenant(item)
		if len(lines[key]) == 0 {
			order = append(order, key)
		}
		lines[key] = append(lines[key], item)
	}
	if len(order) < 2 {
		return items
	}
	turns := make([]T, 0, len(items))
	for round := 0; len(turns) < len(items); round++ {
		for _, key := range order {
			if round < len(lines[key]) {
				turns = append(turns, lines[key][round])
			}
		}
	}
	return turns
}
