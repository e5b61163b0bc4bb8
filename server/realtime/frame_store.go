package realtime

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/platform/ticker"
	"parlance.dev/parlance/sessions"
)

// The frames of one socket are a Redis stream, several in an entry. The streams of a channel's
// sockets are a list, newest first. Both expire soon after the time in which a client may come
// back. Redis may lose data at any moment: frames that were not written leave a gap, and frames
// before a gap are not sent again.
const (
	flushInterval    = 80 * time.Millisecond
	redisTimeout     = 2 * time.Second
	streamLifetime   = sessions.DropGrace + 30*time.Second
	maxStreamEntries = 1024 // about
	// maxStreams is how many of a channel's newest sockets are looked at.
	maxStreams = 4
	// maxPendingBytes bounds what waits for Redis of one socket.
	maxPendingBytes = 1 << 20
	// maxStreamsPerPipeline bounds one round trip of a flush.
	maxStreamsPerPipeline = 512

	fieldFrames = "f"
	fieldGap    = "gap"
	fieldEnd    = "end"
)

// frameStore keeps in Redis what sockets were sent. It writes what this node's sockets were sent,
// all together every flushInterval, and reads what other nodes' were.
type frameStore struct {
	redis goredis.UniversalClient
	log   *slog.Logger
	now   func() time.Time

	mu    sync.Mutex
	dirty []*frameStream // guarded by mu

	stop    context.CancelFunc
	writing sync.WaitGroup
}

func newFrameStore(redis goredis.UniversalClient, log *slog.Logger, now func() time.Time) *frameStore {
	ctx, stop := context.WithCancel(context.Background())
	s := &frameStore{redis: redis, log: log, now: now, stop: stop}
	s.writing.Go(func() { ticker.Every(ctx, flushInterval, s.flush) })
	return s
}

// close writes what is left.
func (s *frameStore) close() {
	s.stop()
	s.writing.Wait()
	s.flush()
}

// The braces keep a session's keys together in a cluster.
func listKey(id sessions.ID, channel sessions.Channel) string {
	return "parlance:frames:{" + string(id) + "}:" + string(channel)
}

func streamKey(id sessions.ID, channel sessions.Channel, number int64) string {
	return listKey(id, channel) + ":" + strconv.FormatInt(number, 10)
}

// frameStream takes the frames of one socket of this node.
type frameStream struct {
	store  *frameStore
	list   string
	stream string
	number int64

	mu sync.Mutex
	// pending is the frames to be written, as JSON objects behind each other. queued is set when
	// the store knows of the stream, gap when frames were lost, ended when none follows.
	pending            bytes.Buffer
	queued, gap, ended bool

	// listed is set when the stream is in the list; expires is when the keys' lifetime is set
	// again. Only a flush uses them.
	listed  bool
	expires time.Time
}

// stream makes the stream of a socket; number orders the session's sockets.
func (s *frameStore) stream(
	id sessions.ID, channel sessions.Channel, number int64,
) *frameStream {
	return &frameStream{
		store: s, list: listKey(id, channel), stream: streamKey(id, channel, number), number: number,
	}
}

// add queues a frame.
func (f *frameStream) add(frame sentFrame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending.Len() > maxPendingBytes {
		f.pending = bytes.Buffer{}
		f.gap = true
	}
	f.gap = f.gap || encodeFrame(&f.pending, frame) != nil
	f.queue()
}

// storedFrame is a sentFrame in Redis.
type storedFrame struct {
	ID         string          `json:"id,omitempty"`
	Marks      frameMark       `json:"marks,omitempty"`
	ResponseID string          `json:"response_id,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"` // all frames are JSON
}

func encodeFrame(to *bytes.Buffer, frame sentFrame) error {
	encoder := json.NewEncoder(to)
	encoder.SetEscapeHTML(false) // the data is to be read as it was sent
	return encoder.Encode(storedFrame{
		ID: frame.ID, Marks: frame.marks, ResponseID: frame.responseID, Data: frame.Data,
	})
}

// end marks the end of the frames.
func (f *frameStream) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.queue()
}

// queue puts the stream into the next flush. mu is held.
func (f *frameStream) queue() {
	if f.queued {
		return
	}
	f.queued = true
	f.store.mu.Lock()
	f.store.dirty = append(f.store.dirty, f)
	f.store.mu.Unlock()
}

// flush writes what all streams have.
func (s *frameStore) flush() {
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = nil
	s.mu.Unlock()
	for len(dirty) > 0 {
		n := min(len(dirty), maxStreamsPerPipeline)
		s.flushStreams(dirty[:n])
		dirty = dirty[n:]
	}
}

func (s *frameStore) flushStreams(streams []*frameStream) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	pipe := s.redis.Pipeline()
	for _, stream := range streams {
		stream.flush(ctx, pipe, s.now())
	}
	if pipe.Len() == 0 {
		return
	}
	if _, err := pipe.Exec(ctx); err != nil {
		s.log.Warn("frames not written to Redis: clients that come back on another node get whole items",
			telemetry.KeyError, err)
		for _, stream := range streams {
			stream.noteLoss()
		}
	}
}

// flush adds to the pipeline what the stream has.
func (f *frameStream) flush(ctx context.Context, pipe goredis.Pipeliner, now time.Time) {
	f.mu.Lock()
	var values []any
	if f.pending.Len() > 0 {
		values = append(values, fieldFrames, f.pending.Bytes())
	}
	if f.gap {
		values = append(values, fieldGap, "1")
	}
	if f.ended {
		values = append(values, fieldEnd, "1")
	}
	f.pending = bytes.Buffer{} // the pipeline keeps the bytes
	f.queued, f.gap = false, false
	f.mu.Unlock()
	if len(values) == 0 {
		return
	}
	pipe.XAdd(ctx, &goredis.XAddArgs{
		Stream: f.stream, MaxLen: maxStreamEntries, Approx: true, Values: values,
	})
	if !f.listed {
		f.listed = true
		pipe.LPush(ctx, f.list, f.number)
		pipe.LTrim(ctx, f.list, 0, maxStreams-1)
	}
	if now.After(f.expires) {
		f.expires = now.Add(streamLifetime / 4)
		pipe.PExpire(ctx, f.list, streamLifetime+streamLifetime/4)
		pipe.PExpire(ctx, f.stream, streamLifetime+streamLifetime/4)
	}
}

// noteLoss notes that what was flushed last is not in Redis.
func (f *frameStream) noteLoss() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gap, f.listed, f.expires = true, false, time.Time{}
	if f.ended { // other nodes wait for the end
		f.queue()
	}
}
