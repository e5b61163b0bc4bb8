package mcp

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Defaults of the pool.
const (
	defaultIdle = 5 * time.Minute
	maxSessions = 256
)

// Endpoint is a server and the headers of its requests.
type Endpoint struct {
	// URL is the address of the server, http or https.
	URL string
	// Headers are sent with each request. They cannot replace headers of the protocol.
	Headers map[string]string
	// MaxAnswerBytes bounds the text of an answer. A message may be larger, because it also has
	// structure and images.
	MaxAnswerBytes int
}

// maxMessage bounds a message that is read. A message must be read to its end, so an answer that is
// longer than MaxAnswerBytes can only be cut when its message is within this bound.
func (e Endpoint) maxMessage() int64 { return 16<<20 + 2*int64(e.MaxAnswerBytes) }

// Options configures a Client. HTTP is required.
type Options struct {
	// HTTP connects. Its Transport must guard where to. It must have no Timeout, because streams stay
	// open.
	HTTP *http.Client
	// Idle is how long a session is kept without a call. 0 means 5 min.
	Idle time.Duration
	// Changed is called with the key of a session when its server says that its tools have changed. It
	// may be nil.
	Changed func(key string)
	// Version is the version of this program, for servers.
	Version string
}

// Client calls servers and keeps sessions with them. Safe for concurrent use.
type Client struct {
	http    *http.Client
	idle    time.Duration
	changed func(key string)
	version string

	life    context.Context //nolint:containedctx // of sessions that are being opened; ends with the client
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	slots  map[string]*slot
	closed bool
	// releases counts the calls that have ended.
	releases int64
}

// slot is a session of the pool, or one that is being opened.
type slot struct {
	key    string
	ready  chan struct{} // closed when opened or failed
	s      *session
	failed *Error
	users  int
	used   int64       // the number of its last release
	timer  *time.Timer // runs while the session is unused
	// discarded says that the session is not in the pool any more, and ends with its last user.
	discarded bool
}

// New makes a client. Close it.
func New(o Options) *Client {
	c := &Client{http: o.HTTP, idle: o.Idle, changed: o.Changed, version: o.Version, slots: map[string]*slot{}}
	if c.idle == 0 {
		c.idle = defaultIdle
	}
	if c.changed == nil {
		c.changed = func(string) {}
	}
	if c.version == "" {
		c.version = "0"
	}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// Close ends all sessions and waits for them, which takes some seconds at most.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	var open []*slot
	for key, slot := range c.slots {
		open = append(open, slot)
		delete(c.slots, key)
	}
	c.mu.Unlock()
	c.end() // ends sessions that are being opened
	var ending sync.WaitGroup
	for _, slot := range open {
		ending.Go(func() { c.retire(slot) })
	}
	ending.Wait()
	c.running.Wait()
}

// Sessions is how many sessions are open or being opened.
func (c *Client) Sessions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.slots)
}

// acquire returns the session of a key. The first caller opens it, and concurrent callers wait for
// that.
func (c *Client) acquire(ctx context.Context, key string, e Endpoint) (*slot, *Error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &Error{Kind: Canceled}
	}
	at := c.slots[key]
	if at == nil {
		at = &slot{key: key, ready: make(chan struct{})}
		c.evict()
		c.slots[key] = at
		c.running.Go(func() { c.fill(ctx, at, e) })
	}
	at.users++
	if at.timer != nil {
		at.timer.Stop()
		at.timer = nil
	}
	c.mu.Unlock()
	select {
	case <-at.ready:
	case <-ctx.Done():
		c.release(at)
		return nil, classify(ctx, ctx.Err(), &exchange{})
	}
	if at.failed != nil {
		c.release(at)
		return nil, at.failed
	}
	return at, nil
}

// fill opens a session. Its timeout does not depend on the first caller, because others may wait
// for it.
func (c *Client) fill(ctx context.Context, at *slot, e Endpoint) {
	opening, cancel := context.WithTimeout(context.WithoutCancel(ctx), initializeTimeout)
	defer cancel()
	stop := context.AfterFunc(c.life, cancel)
	defer stop()
	s, failed := c.open(opening, e, func() { c.changed(at.key) })
	at.s, at.failed = s, failed
	close(at.ready)
	if failed != nil {
		c.discard(at)
		return
	}
	c.running.Go(func() {
		_ = s.Wait() // the calls return why it ended
		c.discard(at)
	})
}

// evict ends the session that has been idle longest if the pool is full. c.mu is held.
func (c *Client) evict() {
	if len(c.slots) < maxSessions {
		return
	}
	var oldest *slot
	for _, other := range c.slots {
		if other.users == 0 && (oldest == nil || other.used < oldest.used) {
			oldest = other
		}
	}
	if oldest != nil {
		delete(c.slots, oldest.key)
		c.running.Go(func() { c.retire(oldest) })
	}
}

// release returns a session to the pool. It ends when it is not used for a while.
func (c *Client) release(at *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at.users--
	c.releases++
	at.used = c.releases
	if at.users > 0 || c.closed {
		return
	}
	if c.slots[at.key] == at {
		at.timer = time.AfterFunc(c.idle, func() { c.expire(at) })
	} else if at.discarded {
		c.running.Go(func() { c.retire(at) })
	}
}

func (c *Client) expire(at *slot) {
	c.mu.Lock()
	if at.users > 0 || c.slots[at.key] != at || c.closed {
		c.mu.Unlock()
		return
	}
	delete(c.slots, at.key)
	c.running.Add(1)
	c.mu.Unlock()
	defer c.running.Done()
	c.retire(at)
}

// discard removes an unusable session from the pool, so that the next call opens another. It ends
// after its last call, which may still get an answer.
func (c *Client) discard(at *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots[at.key] != at {
		return
	}
	delete(c.slots, at.key)
	at.discarded = true
	if at.users == 0 && !c.closed {
		c.running.Go(func() { c.retire(at) })
	}
}

// retire ends the session of a slot that is not in the pool any more.
func (c *Client) retire(at *slot) {
	<-at.ready // opening has a timeout, and ends with the client
	if at.s != nil {
		at.s.close()
	}
}
