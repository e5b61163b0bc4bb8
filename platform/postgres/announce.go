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

// announce takes shared locks. Nobody takes them exclusively, so nobody waits for them.
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

// Process is a running process of this installation that listens (see Listen).
type Process struct {
	// Backend is the number of its connection in pg_stat_activity.
	Backend int32
	// Address is where it connects from: an IP address, or "this machine".
	Address string
	// Since is when it connected.
	Since time.Time
	words []int64
}

// Says tells whether the process has announced the word. Two words may be taken for each other
// (32-bit hash): they are few.
func (p Process) Says(word string) bool {
	return slices.Contains(p.words, int64(uint32(announced(word))))
} //nolint:gosec // an oid is the same bits

// Announce says words about this process to the others for as long as it listens; see Processes. It
// is called before Listen. The words are advisory locks of its listening connections: they end with
// the process, however it ends, and leave nothing behind.
func (d *DB) Announce(words ...string) {
	for _, word := range words {
		d.words = append(d.words, announced(word))
	}
}

// Processes are those that listen on this database and have announced something; one that listens
// on two channels is there twice.
func (d *DB) Processes(ctx context.Context) ([]Process, error) {
	rows, err := d.Pool.Query(ctx, selectProcesses, int64(announceClass))
	if err != nil {
		return nil, fmt.Errorf("asking which processes run: %w", err)
	}
	defer rows.Close()
	var processes []Process
	for rows.Next() {
		var p Process
		if err := rows.Scan(&p.Backend, &p.Address, &p.Since, &p.words); err != nil {
			return nil, fmt.Errorf("reading which processes run: %w", err)
		}
		processes = append(processes, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading which processes run: %w", err)
	}
	return processes, nil
}

func announced(word string) int32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(word)) // never fails
	return int32(hash.Sum32())      //nolint:gosec // any number will do
}
