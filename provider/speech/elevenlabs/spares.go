package elevenlabs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/provider/speech/internal/socket"
)

const (
	// maxSpares is how many connections wait for the sentences of one voice.
	maxSpares = 4
	// maxSpareURLs is how many voices have connections that wait.
	maxSpareURLs = 64
	// spareFor is how long a connection waits, and serverWaitsSeconds how long the server is asked to
	// wait: a little longer.
	spareFor           = 60 * time.Second
	serverWaitsSeconds = "90"
)

// spares are connections that were made ahead, so that a sentence does not wait for a handshake.
// After each sentence one more is made for its voice. The URL has all that a connection is bound
// to.
type spares struct {
	// ctx ends the making of connections.
	ctx    context.Context //nolint:containedctx // the connections are nobody's call
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	idle map[string][]*spare
}

type spare struct {
	conn *websocket.Conn
	// expire closes the connection when nobody took it.
	expire *time.Timer
}

func newSpares() *spares {
	ctx, cancel := context.WithCancel(context.Background())
	return &spares{ctx: ctx, cancel: cancel, idle: map[string][]*spare{}}
}

// take returns the newest connection for a URL, or nil.
func (s *spares) take(url string) *websocket.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.idle[url]
	if len(waiting) == 0 {
		return nil
	}
	newest := waiting[len(waiting)-1]
	s.set(url, waiting[:len(waiting)-1])
	newest.expire.Stop()
	return newest.conn
}

// refill makes a connection in the background, unless there are enough. A failure is found by the
// next sentence.
func (s *spares) refill(dialer socket.Dialer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.idle[dialer.URL]
	if s.ctx.Err() != nil || len(waiting) >= maxSpares || waiting == nil && len(s.idle) >= maxSpareURLs {
		return
	}
	dialer.Once = true
	s.work.Go(func() {
		conn, err := dialer.Dial(s.ctx)
		if err == nil {
			s.add(dialer.URL, conn)
		}
	})
}

func (s *spares) add(url string, conn *websocket.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.idle[url]) >= maxSpares {
		_ = conn.CloseNow() // nothing was sent on it
		return
	}
	added := &spare{conn: conn}
	added.expire = time.AfterFunc(spareFor, func() { s.drop(url, added) })
	s.idle[url] = append(s.idle[url], added)
}

// drop closes a connection that nobody took.
func (s *spares) drop(url string, old *spare) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.idle[url], old); i >= 0 {
		s.set(url, slices.Delete(s.idle[url], i, i+1))
		_ = old.conn.CloseNow() // nothing was sent on it
	}
}

// set replaces the connections for a URL. The lock is held.
func (s *spares) set(url string, waiting []*spare) {
	if len(waiting) == 0 {
		delete(s.idle, url)
		return
	}
	s.idle[url] = waiting
}

// close closes all connections and waits for those that are being made.
func (s *spares) close() {
	s.cancel()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, waiting := range s.idle {
		for _, one := range waiting {
			one.expire.Stop()
			_ = one.conn.CloseNow() // nothing was sent on it
		}
	}
	clear(s.idle)
}
