package realtime

import (
	"context"
	"sync"
	"time"

	"parlance.dev/parlance/server/realtime/dialect"
)

// beats pings all sockets from one goroutine, and ends those that do not answer: it keeps proxies from
// closing quiet connections, and finds out which are lost. It ends them all when the server is being stopped.
type beats struct {
	limits   *Limits
	stopping context.Context //nolint:containedctx // the handler's life

	mu sync.Mutex
	// sockets are those that are open, with when the next ping is due; while there are any, run runs.
	sockets map[*socket]time.Time
	stop    chan struct{}
}

// ticks is how many times in the shorter of its times the sockets are looked at.
const ticks = 4

func (b *beats) add(s *socket) {
	b.mu.Lock()
	if len(b.sockets) == 0 {
		b.sockets, b.stop = map[*socket]time.Time{}, make(chan struct{})
		go b.run(b.stop)
	}
	b.sockets[s] = time.Now().Add(b.limits.PingEvery)
	b.mu.Unlock()
	if b.stopping.Err() != nil { // run may have told the others already
		s.finish(endRestart)
	}
}

func (b *beats) remove(s *socket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sockets, s)
	if len(b.sockets) == 0 {
		close(b.stop)
	}
}

func (b *beats) run(stop <-chan struct{}) {
	ticker := time.NewTicker(min(b.limits.PingEvery, b.limits.PongWithin) / ticks)
	defer ticker.Stop()
	stopping := b.stopping.Done()
	for {
		select {
		case <-stop:
			return
		case <-stopping:
			stopping = nil
			b.each(func(s *socket, _ time.Time) { s.finish(endRestart) })
		case now := <-ticker.C:
			b.each(func(s *socket, due time.Time) { b.look(s, due, now) })
		}
	}
}

// each calls f for every socket without holding mu.
func (b *beats) each(f func(s *socket, due time.Time)) {
	b.mu.Lock()
	type beat struct {
		s   *socket
		due time.Time
	}
	all := make([]beat, 0, len(b.sockets))
	for s, due := range b.sockets {
		all = append(all, beat{s, due})
	}
	b.mu.Unlock()
	for _, one := range all {
		f(one.s, one.due)
	}
}

// look ends a socket whose pong is late, and has one pinged that is due.
func (b *beats) look(s *socket, due, now time.Time) {
	if sent := s.pingSent.Load(); sent != 0 && now.UnixNano()-sent > int64(b.limits.PongWithin) {
		s.finish(endLost)
		return
	}
	if now.Before(due) {
		return
	}
	b.mu.Lock()
	if _, open := b.sockets[s]; open {
		b.sockets[s] = now.Add(b.limits.PingEvery)
	}
	b.mu.Unlock()
	s.beat()
}

// beat has the writer ping the client, in the dialect's way too.
func (s *socket) beat() {
	s.mu.Lock()
	if pinger, own := s.dialect.dialect.(dialect.Pinger); own && !s.ended {
		s.take(pinger.Ping())
	}
	s.mu.Unlock()
	s.pingDue.Store(true)
	s.wake()
}
