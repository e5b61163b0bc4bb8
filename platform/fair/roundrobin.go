package fair

// Ask is how a noun is asked for due work.
type Ask struct {
	// Room is how many pieces of work fit; at least 1.
	Room int
	// After is the tenant that was served last. The tenant behind it in the order of ids comes
	// first. "" is before all.
	After string
	// Except are tenants that get nothing this time.
	Except []string
	// Share is how many pieces of work a tenant may have under way, those in Held included; 0: no
	// bound. A noun that leaves it out is bounded by Except only.
	Share int
	// Held is how many pieces of work each tenant has under way.
	Held map[string]int
}

// RoundRobinSQL returns the CTEs of a WITH RECURSIVE that list the tenants which have a row in
// table under the condition where, in the order in which they are served. The last of them is
// round_robin (tenant_id, place); place counts from 1 at the tenant after [Ask].After. The
// condition names the row w. The CTEs take After three times as their parameters.
//
// A tenant costs one probe of an index that begins with tenant_id and has where as its predicate,
// however many rows the tenant has. table and where are constants of the caller.
func RoundRobinSQL(table, where string) string {
	return `
lap (tenant_id, number, place) AS (
    SELECT ?::text, 0, 0::bigint
    UNION ALL
    -- When no tenant is left, the second lap begins before the first tenant.
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
), round_robin AS (
    -- The first lap lists the tenants after the one that was served last, the second lap the others.
    SELECT tenant_id, place
    FROM lap
    WHERE tenant_id <> ''
      AND (number = 0) = (tenant_id > ?)
)`
}

// Alternate orders items in round robin: the first item of each tenant, in the order they appear
// in, then the second of each. Items of one tenant keep their order.
func Alternate[T any](items []T, tenant func(T) string) []T {
	var order []string
	byTenant := map[string][]T{}
	for _, item := range items {
		key := tenant(item)
		if len(byTenant[key]) == 0 {
			order = append(order, key)
		}
		byTenant[key] = append(byTenant[key], item)
	}
	if len(order) < 2 {
		return items
	}
	alternating := make([]T, 0, len(items))
	for round := 0; len(alternating) < len(items); round++ {
		for _, key := range order {
			if round < len(byTenant[key]) {
				alternating = append(alternating, byTenant[key][round])
			}
		}
	}
	return alternating
}
