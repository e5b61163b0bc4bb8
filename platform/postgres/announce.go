package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// announceClass is the first number of the advisory locks that Announce takes ("prlA" in ASCII).
const announceClass int32 = 0x70726c41

// announce takes shared locks. They are never taken exclusively, so no process waits for them.
const announce = "SELECT pg_advisory_lock_shared($1, word) FROM unnest($2::int[]) AS word"

const selectProcesses = `
SELECT l.pid,
       coalesce(host(a.client_addr), 'this machine'),
       coalesce(a.backend_start, now()),
       array_agg(l.objid::bigint)
FROM pg_locks AS l
LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'advisory'
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid = $1::bigint::oid
  AND l.objsubid = 2
  AND l.granted
GROUP BY 1, 2, 3
ORDER BY 3, 1`

// Process is a running process of this installation that listens on Postgres (see Listen).
type Process struct {
	// Backend is the number of its connection in pg_stat_activity.
	Backend int32
	// Address is where it connects from: an IP address, or "this machine".
	Address string
	// Since is when it connected.
	Since time.Time
	words []int64
}

// HasAnnounced reports whether the process has announced the word. Words are compared by a 32-bit
// hash.
func (p Process) HasAnnounced(word string) bool {
	return slices.Contains(p.words, int64(uint32(announced(word))))
}

// Announce publishes words about this process for as long as it listens; see Processes. It is
// called before Listen. The words are advisory locks of the listening connections, so they end with
// the process, however it ends.
func (d *DB) Announce(words ...string) {
	for _, word := range words {
		d.words = append(d.words, announced(word))
	}
}

// Processes returns the processes that listen on this database and have announced something. A
// process that listens on two channels is returned twice.
func (d *DB) Processes(ctx context.Context) ([]Process, error) {
	rows, err := d.Pool.Query(ctx, selectProcesses, int64(announceClass))
	if err != nil {
		return nil, fmt.Errorf("list the running processes: %w", err)
	}
	defer rows.Close()
	var processes []Process
	for rows.Next() {
		var p Process
		if err := rows.Scan(&p.Backend, &p.Address, &p.Since, &p.words); err != nil {
			return nil, fmt.Errorf("read the running processes: %w", err)
		}
		processes = append(processes, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the running processes: %w", err)
	}
	return processes, nil
}

func announced(word string) int32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(word)) // never fails
	return int32(hash.Sum32())
}
