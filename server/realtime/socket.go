package realtime

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/crew"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/wire"
)

const (
	// flushWithin is how long a socket that ends may take to pass on what it holds.
	flushWithin = 5 * time.Second
	// batchBytes is about how much is handed to the connection at once.
	batchBytes = 64 << 10
)

// socket is one connection. It has one goroutine, since thousands of them are quiet: the reader takes
// the client's frames to the dialect and the commands that come of them to the core. While there is something
// to write the crew has the writer: it takes the core's events to the dialect and frames to the client, as many
// at once as there are.
type socket struct {
	conn   *wire.Conn
	live   *live.Live
	limits *Limits
	log    *slog.Logger
	crew   *crew.Crew

	// writer says where the writer is; writes is its work.
	writer atomic.Int32
	writes func()

	// lost goes on with the conversation behind the socket, once; stayed says that it did.
	lost   func()
	stayed bool

	// passing is held while commands are handed to the core: it keeps their order.
	passing sync.Mutex
	// pingDue says that the writer is to send a ping, pingSent when the one without a pong went out, in
	// nanoseconds since 1970; 0: there is none.
	pingDue  atomic.Bool
	pingSent atomic.Int64

	mu sync.Mutex
	// What follows is guarded by mu.

	dialect *recorder
	// over says that the core has said Closed: nobody comes back to this Live.
	over bool
	// paused says that the dialect wants the core's events to wait, pause for how long when that has not begun.
	paused bool
	pause  time.Duration
	// pauses counts them, since a later one takes the place of the one before; woken says that one is
	// over, which the dialect has not been told.
	pauses int
	woken  bool
	// alone says that the client is to have what is unwritten by itself: until the pause is over, held is what goes
	// out behind it, which counts as unwritten.
	alone bool
	held  []dialect.Frame
	// waiting are commands the core has not taken yet.
	waiting []live.Command
	// unwritten are frames the client has not taken yet, of unwrittenBytes in all.
	unwritten      []dialect.Frame
	unwrittenBytes int
	// ended says that end is how the socket ends.
	ended bool
	end   ending
	// leaving is called, in a goroutine of its own, when the socket ends while its client does not read.
	leaving func()
	// refused is when the client was last told that it sends too much.
	refused time.Time
}

// serve joins an upgraded connection to its conversation, which then goes on by itself. done is called
// when the socket is gone.
func (h *Handler) serve(r *http.Request, conn *wire.Conn, admission live.Admission, done func()) {
	// The request's context ends with ServeHTTP; its values go into the logs.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	began := h.deps.Now()
	telemetry.Note(ctx, telemetry.KeyTenantID, string(admission.Session.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(admission.Session.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySessionID, string(admission.Session.ID))
	log := h.deps.Log.With("channel", admission.Channel)
	joined, err := h.deps.Sessions.Join(ctx, admission)
	if err != nil {
		defer done()
		defer cancel()
		end := endOfJoin(err)
		log.WarnContext(ctx, "socket not joined", telemetry.KeyError, err)
		_ = conn.Close(end.code, end.reason) // the client may be gone
		conn.Linger()
		return
	}
	open := false
	defer func() { // for panics
		if !open {
			conn.CloseNow()
			joined.Leave(live.Dropped)
			joined.Bequeath(nil)
			cancel()
			done()
		}
	}()
	spoken := h.record(ctx, joined, conn.Protocol(), r.URL.Query().Get("last_event_id"), dialect.Params{
		Session: joined.Session(), Channel: admission.Channel, History: joined.History(), Now: h.deps.Now,
	})
	s := &socket{conn: conn, live: joined, limits: &h.limits, log: log, crew: &h.crew, dialect: spoken}
	s.lost = sync.OnceFunc(func() {
		s.stayed = true
		h.behind.Go(func() { spoken.goOn(log) }) // ends with the core's Closed
	})
	open = true
	go func() { // ends with the connection, which Wait waits for
		defer done()
		defer cancel()
		defer func() {
			if !s.stayed {
				joined.Bequeath(nil) // or the next socket waits for it
			}
		}()
		defer joined.Leave(live.Dropped) // for panics; otherwise it has left
		end := s.serve(ctx, &h.beats)
		log.InfoContext(ctx, "socket closed", "code", end.code, telemetry.KeyReason, end.reason, telemetry.KeyDurationMS, h.deps.Now().Sub(began).Milliseconds())
	}()
}

// serve is the life of the socket.
func (s *socket) serve(ctx context.Context, b *beats) ending {
	doing, stopDoing := context.WithCancel(ctx)
	defer stopDoing()
	s.leaving = func() { s.leave(doing, stopDoing) }
	s.conn.Meter, s.conn.Pong = newMeter(&s.limits.Rates, time.Now), func() { s.pingSent.Store(0) }
	s.open() // before a frame or an event is taken: the dialect may be that of the socket before
	gone := make(chan ending, 1)
	s.writes = func() {
		if !s.write(doing) {
			return
		}
		// What the client said before it went is said; then the core learns that it went.
		s.live.OnWake(nil)
		end := s.leave(doing, stopDoing)
		if end.silent || s.conn.Close(end.code, end.reason) != nil {
			s.conn.CloseNow()
		}
		gone <- end
	}
	s.pass(doing)
	s.live.OnWake(s.wake)
	s.live.OnClosed(func() { go s.hearClosed() })
	b.add(s)
	defer b.remove(s)
	s.read(doing) // a client that does not answer the close frame is cut off
	end := <-gone
	s.conn.Linger()
	return end
}

// leave tells the core that the socket is gone, behind what the client said before.
func (s *socket) leave(ctx context.Context, stop context.CancelFunc) ending {
	late := time.AfterFunc(flushWithin, stop)
	s.pass(ctx)
	late.Stop()
	s.mu.Lock()
	end := s.end
	stays := s.staysBehind(end)
	s.mu.Unlock()
	if stays {
		s.live.Detach()
		s.lost() // nothing here hears the core's events any more
	}
	s.live.Leave(end.leaving)
	return end
}

// staysBehind says that the connection is lost and the conversation is not: what goes out is recorded
// for the client that comes back. mu is held, or the socket gone.
func (s *socket) staysBehind(end ending) bool {
	return end.leaving == live.Dropped && !s.over && end.code != endInternal.code
}

// open queues what goes out first.
func (s *socket) open() {
	defer s.guard()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(s.dialect.Open())
}

// read takes the client's frames until the connection ends.
func (s *socket) read(ctx context.Context) {
	defer s.guard()
	for {
		m, err := s.conn.Read()
		if err != nil {
			s.finish(endOfRead(err))
			return
		}
		answers := s.frame(m)
		if s.conn.Ready() { // what was said in one breath is passed together; a buffer holds little
			continue
		}
		if answers {
			s.wake()
		}
		s.pass(ctx) // no frame is read meanwhile, so a client cannot make commands pile up
	}
}

// frame takes a client's frame, and says whether there is something to write.
func (s *socket) frame(m wire.Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended: // only the close frame is waited for
	case m.Refused:
		s.refuse()
	default:
		s.take(s.dialect.Frame(m.Data, m.Text))
	}
	return s.ended || len(s.unwritten) > 0
}

// refuse tells the client that it sends too much, once a second. mu is held.
func (s *socket) refuse() {
	if now := time.Now(); now.Sub(s.refused) >= time.Second {
		s.refused = now
		s.take(s.dialect.Event(live.Failed{Err: fault.New(fault.RateLimitedReason,
			"Too much came at once, and some of it was left out. A socket takes %.0f frames and %.0f KiB a second in the long run; it is closed when this goes on.",
			s.limits.Rates.FramesPerSecond, s.limits.Rates.BytesPerSecond/1024)}))
	}
}

// pass hands the commands that wait to the core, which may take a moment over each.
func (s *socket) pass(ctx context.Context) {
	s.passing.Lock()
	defer s.passing.Unlock()
	for {
		s.mu.Lock()
		waiting := s.waiting
		s.waiting = nil
		s.mu.Unlock()
		if len(waiting) == 0 {
			return
		}
		for len(waiting) > 0 {
			var command live.Command
			command, waiting = nextCommand(waiting)
			_ = s.live.Do(ctx, command) // session-closed: Closed is on its way
		}
	}
}

// nextCommand takes the first of some commands; something said and the wish for an answer are one.
func nextCommand(waiting []live.Command) (live.Command, []live.Command) {
	said, says := waiting[0].(live.UserMessage)
	if says && len(waiting) > 1 {
		if wish, wishes := waiting[1].(live.Respond); wishes {
			return live.Ask{Said: said, Wish: wish}, waiting[2:]
		}
	}
	return waiting[0], waiting[1:]
}

// take queues what came of a step. A client that lets more than the limit pile up is cut off. mu is held.
func (s *socket) take(step dialect.Step) {
	if step.Err != nil {
		s.log.Error("frame not encoded", telemetry.KeyError, step.Err)
		s.finishLocked(endInternal)
		return
	}
	s.waiting = append(s.waiting, step.Commands...)
	s.queue(step.Frames[:step.Alone])
	s.alone = s.alone || step.Alone > 0
	s.queue(step.Frames[step.Alone:])
	if step.Pause > 0 {
		s.pauses++
		s.paused, s.pause = true, step.Pause
		s.beginPause()
	}
	if s.unwrittenBytes > s.limits.MaxUnwrittenBytes {
		s.finishLocked(endSlow)
	}
}

// beginPause has the pause begin that is wanted, once what goes out alone is written. mu is held.
func (s *socket) beginPause() {
	if s.pause == 0 || s.alone && len(s.unwritten) > 0 {
		return
	}
	number := s.pauses
	time.AfterFunc(s.pause, func() { s.goOn(number) })
	s.pause = 0
}

// goOn ends a pause, unless another has taken its place.
func (s *socket) goOn(number int) {
	s.mu.Lock()
	if number == s.pauses {
		s.paused, s.woken = false, true
		s.letGo()
	}
	s.mu.Unlock()
	s.wake()
}

// letGo has what was held go out. mu is held.
func (s *socket) letGo() {
	s.unwritten = append(s.unwritten, s.held...)
	s.alone, s.held = false, nil
}

func (s *socket) queue(frames []dialect.Frame) {
	for _, one := range frames {
		if s.unwrittenBytes += len(one.Data); s.alone {
			s.held = append(s.held, one)
		} else {
			s.unwritten = append(s.unwritten, one)
		}
	}
}

// finish ends the socket; the first end counts.
func (s *socket) finish(end ending) {
	s.mu.Lock()
	s.finishLocked(end)
	s.mu.Unlock()
	s.wake()
}

// finishLocked is finish with mu held. What the protocol says before the close frame is queued.
func (s *socket) finishLocked(end ending) {
	if s.ended {
		s.end.silent = s.end.silent || end.silent
		return
	}
	s.ended, s.end = true, end
	if end.hurried {
		go s.leaving() // the writer is busy; it ends when that does
	}
	if end.silent || end.hurried {
		return
	}
	s.letGo()
	s.queue(s.dialect.Close(end.code, end.reason).Frames)
	time.AfterFunc(flushWithin, func() {
		s.mu.Lock()
		s.end.hurried = true
		s.mu.Unlock()
		s.wake()
	})
}

// guard ends the socket instead of the process when one of its goroutines panics.
func (s *socket) guard() {
	if cause := recover(); cause != nil {
		s.log.Error("socket panicked", telemetry.KeyError, cause, telemetry.KeyStack, string(debug.Stack()))
		s.finish(endInternal)
	}
}
