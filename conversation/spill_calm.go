package conversation

import (
	"sync"
	"time"

	"parlance.dev/parlance/platform/postgres"
)

// calmTime is how long sweeps wait when Postgres is back: nodes say first that their sockets are there, renew
// their leases, and write the turns that they have kept.
const calmTime = 15 * time.Second

// calm is what the sweeps of this process know of an outage. What stood still for its length was not silent.
type calm struct {
	mu    sync.Mutex
	away  bool
	until time.Time
}

// noted takes how a sweep went.
func (c *calm) noted(err error) {
	if !postgres.IsAway(err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = true
}

// over says whether sweeps may go on; the first one behind an outage begins the wait.
func (c *calm) over(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		c.away, c.until = false, now.Add(calmTime)
	}
	return !now.Before(c.until)
}
