package realtime

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/conversation"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
)

// flushWithin is how long a socket that ends may take to pass on what it holds.
const flushWithin = 5 * time.Second

// socket is one connection. Its goroutines only pass messages; run owns everything else.
type socket struct {
	conn   *websocket.Conn
	live   *conversation.Live
	limits Limits

	frames   chan frame
	events   chan conversation.Event
	commands chan conversation.Command
	outgoing chan []byte
	// broken holds the ends that read, write and ping come to, one each at most, hence three.
	broken chan ending

	// What follows is run's own.

	dialect *recorder
	// pause ends a pause that the dialect asked for; nil when there is none.
	pause <-chan time.Time
	// over says that the core has said Closed: nobody comes back to this Live.
	over bool
	// waiting are commands the core has not taken yet. No frame is read while there are any, so
	// a client cannot make them pile up.
	waiting []conversation.Command
	// unwritten are frames the client has not taken yet, of unwrittenBytes in all.
	unwritten      []dialect.Frame
	unwrittenBytes int
}

// frame is a message of the client.
type frame struct {
	data []byte
	text bool
}

// serve joins an upgraded connection to its conversation until either ends.
func (h *Handler) serve(r *http.Request, conn *websocket.Conn, admission conversation.Admission) {
	defer func() { _ = conn.CloseNow() }() // it is closed already but for a panic
	conn.SetReadLimit(-1)                  // ours closes with a reason of its own
	// The request's context ends with ServeHTTP only; its values go into the logs.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	began := h.deps.Now()
	telemetry.Note(ctx, telemetry.KeyTenantID, string(admission.Session.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(admission.Session.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySessionID, string(admission.Session.ID))
	log := h.deps.Log.With("channel", admission.Channel)
	live, err := h.deps.Sessions.Join(ctx, admission)
	if err != nil {
		end := endOfJoin(err)
		log.WarnContext(ctx, "socket not joined", telemetry.KeyError, err)
		_ = conn.Close(end.code, end.reason) // the client may be gone
		return
	}
	defer live.Leave(conversation.Dropped) // for panics; otherwise it has left
	stays := false
	defer func() {
		if !stays {
			live.Bequeath(nil) // or the next socket waits for it
		}
	}()
	spoken := h.record(ctx, live, conn.Subprotocol(), r.URL.Query().Get("last_event_id"), dialect.Params{
		Session: live.Session(), Channel: admission.Channel, History: live.History(),
	})
	s := newSocket(conn, live, spoken, h.limits)
	end := s.serve(ctx, cancel, h.deps.Context.Done(), log)
	if stays = s.staysBehind(end); stays {
		h.behind.Go(func() { spoken.goOn(log) }) // ends with the core's Closed
	}
	log.InfoContext(ctx, "socket closed", "code", int(end.code), telemetry.KeyReason, end.reason, telemetry.KeyDurationMS, h.deps.Now().Sub(began).Milliseconds())
}

func newSocket(conn *websocket.Conn, live *conversation.Live, spoken *recorder, limits Limits) *socket {
	return &socket{
		conn: conn, live: live, limits: limits, dialect: spoken,
		frames: make(chan frame), events: make(chan conversation.Event), commands: make(chan conversation.Command),
		outgoing: make(chan []byte), broken: make(chan ending, 3),
	}
}

// serve starts the goroutines, runs, and ends them again.
func (s *socket) serve(ctx context.Context, cancel context.CancelFunc, stopping <-chan struct{}, log *slog.Logger) ending {
	var reading, passing, writing sync.WaitGroup
	doing, stopDoing := context.WithCancel(ctx)
	defer func() {
		cancel() // and doing with it
		stopDoing()
		reading.Wait()
		passing.Wait()
		writing.Wait()
	}()
	reading.Go(func() { s.read(ctx) })
	reading.Go(func() { s.listen(ctx) })
	reading.Go(func() { s.ping(ctx) })
	passing.Go(func() { s.pass(doing) })
	writing.Go(func() { s.write(ctx) })
	end := s.run(stopping, log)

	// What the client said before it went is said; then the core learns that it went.
	late := time.AfterFunc(flushWithin, stopDoing)
	s.passWaiting(doing)
	close(s.commands)
	passing.Wait()
	late.Stop()
	if s.staysBehind(end) {
		s.live.Detach()
	}
	s.live.Leave(end.leaving)

	if end.silent {
		cancel() // ends a write that goes nowhere
	}
	close(s.outgoing)
	if !end.hurried {
		writing.Wait() // one frame at most is being written: run has seen to the others
	}
	if !end.silent {
		_ = s.conn.Close(end.code, end.reason) // a client that does not answer is cut off
	}
	return end
}

// run is the socket's life. It returns how that ended, with everything written that could be.
func (s *socket) run(stopping <-chan struct{}, log *slog.Logger) ending {
	end, ended := s.take(s.dialect.Open(), log)
	pings, stopPings := s.pings()
	defer stopPings()
	var late <-chan time.Time
	for {
		if ended && late == nil {
			if end.silent || end.hurried {
				return end
			}
			timer := time.NewTimer(flushWithin)
			defer timer.Stop()
			late, stopping = timer.C, nil
		}
		if ended && len(s.unwritten) == 0 {
			return end
		}
		frames, commands, command := s.input(ended)
		outgoing, data := s.output()
		var came ending
		isEnd := false
		select {
		case f := <-frames:
			came, isEnd = s.take(s.dialect.Frame(f.data, f.text), log)
		case e := <-s.happening(ended):
			came, isEnd = s.happened(e, log)
		case <-s.pause:
			s.pause = nil
		case <-pings:
			came, isEnd = s.take(s.dialect.dialect.(dialect.Pinger).Ping(), log) //nolint:errcheck // only Pingers have pings
		case commands <- command:
			s.waiting = s.waiting[1:]
		case outgoing <- data:
			s.unwritten, s.unwrittenBytes = s.unwritten[1:], s.unwrittenBytes-len(data)
		case came = <-s.broken:
			if ended {
				end.silent = end.silent || came.silent
				return end
			}
			isEnd = true
		case <-stopping:
			came, isEnd = endRestart, true
		case <-late:
			return end
		}
		if isEnd && !ended {
			end, ended = came, true
			s.farewell(end)
			if s.over {
				s.dialect.bequeath()
			}
		}
	}
}

// staysBehind says that the connection is lost and the conversation is not: what goes out is recorded
// for the client that comes back.
func (s *socket) staysBehind(end ending) bool {
	return end.leaving == conversation.Dropped && !s.over && end != endInternal
}

// happening is where the core's next event comes from.
func (s *socket) happening(ended bool) <-chan conversation.Event {
	if ended || s.pause != nil {
		return nil
	}
	return s.events
}

// pings ticks for a dialect that has pings of its own.
func (s *socket) pings() (<-chan time.Time, func()) {
	if _, ok := s.dialect.dialect.(dialect.Pinger); !ok {
		return nil, func() {}
	}
	ticker := time.NewTicker(s.limits.PingEvery)
	return ticker.C, ticker.Stop
}

// farewell queues what the protocol says before the close frame.
func (s *socket) farewell(end ending) {
	if !end.silent && !end.hurried {
		s.queue(s.dialect.Close(int(end.code), end.reason).Frames)
	}
}

// input is where the next frame comes from, or the next command goes to.
func (s *socket) input(ended bool) (<-chan frame, chan<- conversation.Command, conversation.Command) {
	switch {
	case len(s.waiting) > 0:
		return nil, s.commands, s.waiting[0]
	case ended:
		return nil, nil, nil
	}
	return s.frames, nil, nil
}

// output is where the next frame goes to.
func (s *socket) output() (chan<- []byte, []byte) {
	if len(s.unwritten) == 0 {
		return nil, nil
	}
	return s.outgoing, s.unwritten[0].Data
}

// happened takes an event of the core.
func (s *socket) happened(e conversation.Event, log *slog.Logger) (ending, bool) {
	switch e := e.(type) {
	case conversation.Closed:
		s.over = true
		return endOfSession(e), true
	case conversation.Released:
		return endOfSession(conversation.Closed{Code: e.Code, Reason: e.Reason}), true
	}
	return s.take(s.dialect.Event(e), log)
}

// take queues what came of a step. A client that lets more than the limit pile up is cut off.
func (s *socket) take(step dialect.Step, log *slog.Logger) (ending, bool) {
	if step.Err != nil {
		log.Error("frame not encoded", telemetry.KeyError, step.Err)
		return endInternal, true
	}
	s.waiting = append(s.waiting, step.Commands...)
	s.queue(step.Frames)
	if step.Pause > 0 {
		s.pause = time.After(step.Pause)
	}
	if s.unwrittenBytes > s.limits.MaxUnwrittenBytes {
		return endSlow, true
	}
	return ending{}, false
}

func (s *socket) queue(frames []dialect.Frame) {
	for _, one := range frames {
		s.unwritten = append(s.unwritten, one)
		s.unwrittenBytes += len(one.Data)
	}
}

// read passes the client's frames on until the connection ends.
func (s *socket) read(ctx context.Context) {
	for {
		kind, message, err := s.conn.Reader(ctx)
		if err != nil {
			s.broken <- endOfRead(err)
			return
		}
		data, err := io.ReadAll(io.LimitReader(message, s.limits.MaxFrameBytes+1))
		if err != nil {
			s.broken <- endOfRead(err)
			return
		}
		if int64(len(data)) > s.limits.MaxFrameBytes {
			s.broken <- endTooLarge
			return
		}
		select {
		case s.frames <- frame{data: data, text: kind == websocket.MessageText}:
		case <-ctx.Done():
			return
		}
	}
}

// listen passes the core's events on until Closed.
func (s *socket) listen(ctx context.Context) {
	for {
		e, err := s.live.Next(ctx)
		if err != nil {
			return // io.EOF behind Closed, or the socket is gone
		}
		select {
		case s.events <- e:
		case <-ctx.Done():
			s.live.Unread(e) // the socket may be lost and the conversation go on
			return
		}
	}
}

// pass hands commands to the core, which may take a moment over each.
func (s *socket) pass(ctx context.Context) {
	for {
		select {
		case command, more := <-s.commands:
			if !more {
				return
			}
			_ = s.live.Do(ctx, command) // session-closed: Closed is on its way
		case <-ctx.Done():
			return
		}
	}
}

// passWaiting hands over the commands that are left.
func (s *socket) passWaiting(ctx context.Context) {
	for _, command := range s.waiting {
		select {
		case s.commands <- command:
		case <-ctx.Done():
			return
		}
	}
}

// write writes frames until there are no more, or one cannot be written.
func (s *socket) write(ctx context.Context) {
	for {
		var data []byte
		more := false
		select {
		case data, more = <-s.outgoing:
		case <-ctx.Done():
		}
		if !more {
			return
		}
		writing, cancel := context.WithTimeout(ctx, s.limits.WriteWithin)
		err := s.conn.Write(writing, websocket.MessageText, data)
		cancel()
		if err == nil {
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) {
			s.broken <- ending{code: endSlow.code, reason: endSlow.reason, leaving: endSlow.leaving, silent: true} // the connection is closed already
		}
		return // the reader tells how it ended
	}
}

// ping keeps proxies from closing the connection, and finds out when it is lost.
func (s *socket) ping(ctx context.Context) {
	ticker := time.NewTicker(s.limits.PingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		waiting, cancel := context.WithTimeout(ctx, s.limits.PongWithin)
		err := s.conn.Ping(waiting)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				s.broken <- endLost
			}
			return
		}
	}
}
