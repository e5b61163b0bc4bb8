package mcp

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Bounds of the sessions that are kept for later calls.
const (
	defaultIdle = 5 * time.Minute
	maxIdle     = 256
	// maxIdleOfKey is how many are kept for one key. More are opened while more calls run at once.
	maxIdleOfKey = 8
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

// Client calls servers and keeps sessions with them. A session carries one call at a time: what is
// wrong with an answer often breaks the session, and so would break the calls of other
// conversations. Safe for concurrent use.
type Client struct {
	http    *http.Client
	idle    time.Duration
	changed func(key string)
	version string

	life    context.Context //nolint:containedctx // of sessions that are being opened; ends with the client
	end     context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// sessions are those that have not ended.
	sessions map[*session]struct{}
	// unused are the sessions without a call by their keys, the last used last.
	unused map[string][]*session
	// unusedCount is how many they are.
	unusedCount int
	// releases counts the calls that have ended.
	releases int64
	closed   bool
}

// New makes a client. Close it.
func New(o Options) *Client {
	c := &Client{
		http: o.HTTP, idle: o.Idle, changed: o.Changed, version: o.Version,
		sessions: map[*session]struct{}{}, unused: map[string][]*session{},
	}
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
	open := slices.Collect(maps.Keys(c.sessions))
	c.mu.Unlock()
	c.end() // ends sessions that are being opened
	var ending sync.WaitGroup
	for _, s := range open {
		ending.Go(s.close)
	}
	ending.Wait()
	c.running.Wait()
}

// Sessions is how many sessions are open.
func (c *Client) Sessions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sessions)
}

// acquire returns an unused session of a key, or opens one.
func (c *Client) acquire(ctx context.Context, key string, e Endpoint) (*session, *Error) {
	c.mu.Lock()
	if list := c.unused[key]; len(list) > 0 && !c.closed {
		s := list[len(list)-1]
		c.use(s)
		c.mu.Unlock()
		return s, nil
	}
	c.mu.Unlock()
	opening, cancel := context.WithTimeout(ctx, initializeTimeout)
	defer cancel()
	stop := context.AfterFunc(c.life, cancel)
	defer stop()
	s, failed := c.open(opening, e, func() {
		if key != "" { // that of Inspect, whose list nobody keeps
			c.changed(key)
		}
	})
	if failed != nil {
		return nil, failed
	}
	s.key = key
	if !c.add(s) {
		s.close()
		return nil, &Error{Kind: Canceled}
	}
	return s, nil
}

// add notes a session that was opened. It is false when the client was closed meanwhile.
func (c *Client) add(s *session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.sessions[s] = struct{}{}
	c.running.Go(func() {
		_ = s.Wait() // the calls return why it ended
		c.mu.Lock()
		defer c.mu.Unlock()
		c.retire(s)
	})
	return true
}

// release returns a session after a call. It ends if the call shows that it is unusable. When the
// server has forgotten it, or was not reached, the other unused ones end too: they are no better.
func (c *Client) release(s *session, failed *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.sessions[s]; !open || c.closed {
		return
	}
	if failed != nil && (failed.lost || failed.Kind == Unreachable) {
		for _, other := range slices.Clone(c.unused[s.key]) {
			c.retire(other)
		}
	}
	if failed != nil && failed.fatal() || len(c.unused[s.key]) >= maxIdleOfKey {
		c.retire(s)
		return
	}
	if c.unusedCount >= maxIdle {
		c.retire(c.oldest())
	}
	c.unused[s.key] = append(c.unused[s.key], s)
	c.unusedCount++
	c.releases++
	s.released = c.releases
	s.timer = time.AfterFunc(c.idle, func() { c.expire(s) })
}

// oldest is the session that has been unused longest. c.mu is held.
func (c *Client) oldest() *session {
	var oldest *session
	for _, list := range c.unused {
		if oldest == nil || list[0].released < oldest.released {
			oldest = list[0]
		}
	}
	return oldest
}

func (c *Client) expire(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.unused[s.key], s) {
		c.retire(s)
	}
}

// use takes a session out of the unused ones. c.mu is held.
func (c *Client) use(s *session) {
	at := slices.Index(c.unused[s.key], s)
	if at < 0 {
		return
	}
	s.timer.Stop()
	c.unusedCount--
	if c.unused[s.key] = slices.Delete(c.unused[s.key], at, at+1); len(c.unused[s.key]) == 0 {
		delete(c.unused, s.key)
	}
}

// retire ends a session. c.mu is held.
func (c *Client) retire(s *session) {
	if _, open := c.sessions[s]; !open {
		return
	}
	c.use(s)
	delete(c.sessions, s)
	if !c.closed { // otherwise Close ends it
		c.running.Go(s.close)
	}
}
