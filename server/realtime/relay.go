package realtime

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/sessions"
)

// Frames of one socket stand in a Redis stream, several in an entry, and the streams of a channel's
// sockets in a list, newest first. Both are gone soon after nobody may come back any more. Redis may
// be lost at any moment: what was not written then leaves a gap behind it, and nothing before a gap is
// sent again.
const (
	relayEvery   = 80 * time.Millisecond
	relayTimeout = 2 * time.Second
	relayLife    = sessions.DropGrace + 30*time.Second
	// relayEntries bounds a stream, about; relaySockets the sockets that are looked at.
	relayEntries = 1024
	relaySockets = 4
	// relayPending bounds what waits for Redis of one socket.
	relayPending = 1 << 20

	fieldFrames = "f"
	fieldGap    = "gap"
	fieldEnd    = "end"
)

// relay writes the journals of this node's sockets to Redis, all at once, and reads those of others.
type relay struct {
	redis goredis.UniversalClient
	log   *slog.Logger

	mu      sync.Mutex
	dirty   []*sink
	wake    chan struct{}
	writing sync.WaitGroup
	stop    context.CancelFunc
}

func newRelay(redis goredis.UniversalClient, log *slog.Logger) *relay {
	ctx, stop := context.WithCancel(context.Background())
	r := &relay{redis: redis, log: log, wake: make(chan struct{}, 1), stop: stop}
	r.writing.Go(func() { r.write(ctx) })
	return r
}

// close writes what is left and ends the relay.
func (r *relay) close() {
	r.stop()
	r.writing.Wait()
}

// sink takes the frames of one socket.
type sink struct {
	relay  *relay
	list   string
	stream string
	number int64

	mu      sync.Mutex
	pending *[]byte // of pendings; nil: nothing waits
	queued  bool
	gap     bool
	ended   bool
	// What follows is the writer's own.
	listed  bool
	expires time.Time
}

func (r *relay) sink(id sessions.ID, channel sessions.LiveChannel, number int64) *sink {
	return &sink{relay: r, list: listKey(id, channel), stream: streamKey(id, channel, number), number: number}
}

// The braces keep a session's keys together in a cluster.
func listKey(id sessions.ID, channel sessions.LiveChannel) string {
	return "parlance:frames:{" + string(id) + "}:" + string(channel)
}

func streamKey(id sessions.ID, channel sessions.LiveChannel, number int64) string {
	return listKey(id, channel) + ":" + strconv.FormatInt(number, 10)
}

func (s *sink) add(k kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.pending == nil:
		s.pending = pendings.Get().(*[]byte) //nolint:errcheck,forcetypeassert // the pool's own
	case len(*s.pending) > relayPending:
		*s.pending, s.gap = nil, true
	}
	*s.pending = appendKept(*s.pending, k)
	s.queue()
}

// end says that nothing follows.
func (s *sink) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.queue()
}

// queue has the writer look at the sink; mu is held.
func (s *sink) queue() {
	if s.queued {
		return
	}
	s.queued = true
	s.relay.mu.Lock()
	s.relay.dirty = append(s.relay.dirty, s)
	s.relay.mu.Unlock()
	select {
	case s.relay.wake <- struct{}{}:
	default: // it is awake
	}
}

// write writes what there is, every relayEvery, until ctx ends and nothing is left.
func (r *relay) write(ctx context.Context) {
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			r.flush()
			return
		}
		timer := time.NewTimer(relayEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		r.flush()
	}
}

// flushAtOnce bounds the sinks of one pipeline.
const flushAtOnce = 512

func (r *relay) flush() {
	r.mu.Lock()
	dirty := r.dirty
	r.dirty = nil
	r.mu.Unlock()
	for len(dirty) > 0 {
		n := min(len(dirty), flushAtOnce)
		r.flushSome(dirty[:n])
		dirty = dirty[n:]
	}
}

func (r *relay) flushSome(sinks []*sink) {
	ctx, cancel := context.WithTimeout(context.Background(), relayTimeout)
	defer cancel()
	pipe := r.redis.Pipeline()
	now := time.Now() //nolint:forbidigo // the age of a key of Redis, which has a clock of its own
	taken := make([]*[]byte, 0, len(sinks))
	for _, s := range sinks {
		if one := s.flush(ctx, pipe, now); one != nil {
			taken = append(taken, one)
		}
	}
	if pipe.Len() == 0 {
		return
	}
	_, err := pipe.Exec(ctx)
	for _, one := range taken {
		giveBack(one)
	}
	if err != nil {
		r.log.Warn("frames not written to Redis: clients that come back elsewhere get whole items", telemetry.KeyError, err)
		for _, s := range sinks {
			s.lost()
		}
	}
}

// pendings are buffers of sinks; they grow to what a socket is sent within relayEvery.
var pendings = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledPending is the largest that is kept.
const maxPooledPending = 64 << 10

func giveBack(pending *[]byte) {
	if cap(*pending) <= maxPooledPending {
		*pending = (*pending)[:0]
		pendings.Put(pending)
	}
}

// flush queues what waits. The buffer that it returns is to be given back once that is sent; nil: there is none.
func (s *sink) flush(ctx context.Context, pipe goredis.Pipeliner, now time.Time) (taken *[]byte) {
	s.mu.Lock()
	values := make([]any, 0, 6)
	if s.pending != nil && len(*s.pending) > 0 {
		values = append(values, fieldFrames, *s.pending)
	}
	if s.gap {
		values = append(values, fieldGap, "1")
	}
	if s.ended {
		values = append(values, fieldEnd, "1")
	}
	taken = s.pending
	s.pending, s.queued, s.gap = nil, false, false
	s.mu.Unlock()
	if len(values) == 0 {
		return taken
	}
	pipe.XAdd(ctx, &goredis.XAddArgs{Stream: s.stream, MaxLen: relayEntries, Approx: true, Values: values})
	if !s.listed {
		s.listed = true
		pipe.LPush(ctx, s.list, s.number)
		pipe.LTrim(ctx, s.list, 0, relaySockets-1)
	}
	if now.After(s.expires) {
		s.expires = now.Add(relayLife / 4)
		pipe.PExpire(ctx, s.list, relayLife+relayLife/4)
		pipe.PExpire(ctx, s.stream, relayLife+relayLife/4)
	}
	return taken
}

// lost notes that what was taken from the sink is not in Redis.
func (s *sink) lost() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gap, s.listed, s.expires = true, false, time.Time{}
	if s.ended { // it is what the others wait for
		s.queue()
	}
}
