package realtime

import (
	"context"
	"net/http"
	"sync"

	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/openai"
	"parlance.dev/parlance/server/realtime/websocket"
	"parlance.dev/parlance/voice"
)

// wire is what the sockets of one path and sub-protocol have in common.
type wire struct {
	// protocol is the sub-protocol, or protocolMedia.
	protocol string
	// lastEventID is the last event that the client has seen; empty: it names none.
	lastEventID string
	newDialect  func(p dialect.Params) dialect.Dialect
	// settings are those of the voice call that are known before the client says anything.
	settings voice.Configure
	// isCall says that the connection is a telephone call: a client that was lost does not come back.
	isCall bool
}

// sessionWire is the wire of a session's own URLs.
func sessionWire(r *http.Request, conn *websocket.Conn) wire {
	protocol := conn.Protocol()
	return wire{
		protocol: protocol, lastEventID: openai.SeenEvent(r.URL.Query().Get("last_event_id")),
		newDialect: func(p dialect.Params) dialect.Dialect { return newDialect(protocol, p) },
	}
}

// serve joins an upgraded connection to its conversation and returns; the socket goes on by itself.
// done is called when it is gone.
func (h *Handler) serve(r *http.Request, conn *websocket.Conn, wire wire, admission live.Admission, done func()) {
	// The request's context ends with ServeHTTP; its values go into the socket's log lines.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	began := h.deps.Now()
	telemetry.Note(ctx, telemetry.KeyTenantID, string(admission.Session.TenantID))
	telemetry.Note(ctx, telemetry.KeyWorkspaceID, string(admission.Session.WorkspaceID))
	telemetry.Note(ctx, telemetry.KeySessionID, string(admission.Session.ID))
	joined, speaks, err := h.join(ctx, wire, admission)
	if err != nil {
		defer done()
		defer cancel()
		h.deps.Log.WarnContext(ctx, "socket not joined", "channel", admission.Channel, telemetry.KeyError, err)
		end := endOfJoin(err)
		_ = conn.Close(end.code, end.reason) // the client may be gone
		conn.Discard()
		return
	}
	started := false
	defer func() { // for panics
		if !started {
			conn.CloseNow()
			joined.Leave(live.Dropped)
			joined.LeaveHandover(nil)
			cancel()
			done()
		}
	}()
	s := h.newSocket(ctx, conn, joined, wire, dialect.Params{
		Session: joined.Session(), Channel: admission.Channel, History: joined.History(), Speaks: speaks, Now: h.deps.Now,
	})
	s.openedAt = began
	started = true
	go func() { // Wait waits for done
		defer done()
		defer cancel()
		end := s.run(ctx, h.deps.Context)
		s.log.InfoContext(ctx, "socket closed", "code", end.code, telemetry.KeyReason, end.reason,
			telemetry.KeyDurationMS, h.deps.Now().Sub(began).Milliseconds())
	}()
}

func (h *Handler) newSocket(
	ctx context.Context, conn *websocket.Conn, joined conversation, wire wire, p dialect.Params,
) *socket {
	resumed := h.newResumable(ctx, joined, wire, p)
	s := &socket{
		conn: conn, wire: wire, live: joined, limits: &h.limits, now: h.deps.Now, dialect: resumed,
		log: h.deps.Log.With("channel", p.Channel), wake: make(chan struct{}, 1),
	}
	if wire.isCall {
		s.calls = h.deps.Calls
	}
	s.detach = sync.OnceFunc(func() {
		s.detached = true
		h.recordings.Go(func() { resumed.recordUntilClosed(s.log) })
	})
	return s
}

// run is the life of the socket; it returns when the connection is closed. The end of stopping ends
// the socket.
func (s *socket) run(ctx, stopping context.Context) ending {
	defer func() {
		if !s.detached {
			s.live.LeaveHandover(nil) // or the client's next socket waits for what this one hands over
		}
	}()
	defer s.live.Leave(live.Dropped) // for panics; otherwise it has left
	passing, stopPassing := context.WithCancel(ctx)
	defer stopPassing()
	s.leaveEarly = func() { s.leave(passing, stopPassing) }
	s.conn.Rate, s.conn.OnPong = newRateLimit(&s.limits.Rates, s.now).take, s.receivePong
	s.open() // before any frame or event: the dialect may be that of the client's last socket
	s.passCommands(passing)
	s.live.OnWake(s.wakeWriter)
	s.live.OnClosed(func() { s.tasks.Go(s.takeEventsToClosed) })
	defer context.AfterFunc(stopping, func() { s.finish(endRestart) })()

	var end ending
	var writer sync.WaitGroup
	writer.Go(func() {
		s.write(passing)
		// The conversation gets the client's last commands before it learns that the client is
		// gone.
		s.live.OnWake(nil)
		end = s.leave(passing, stopPassing)
		if end.silent || s.conn.Close(end.code, end.reason) != nil {
			s.conn.CloseNow()
		}
	})
	s.read(passing) // a client that does not answer the close frame is cut off
	writer.Wait()
	s.conn.Discard()
	s.live.OnClosed(func() {})
	s.tasks.Wait()
	return end
}

// open queues what goes out first.
func (s *socket) open() {
	defer s.recoverPanic()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apply(s.dialect.Open())
}
