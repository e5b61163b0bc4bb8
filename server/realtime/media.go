package realtime

import (
	"errors"
	"net/http"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/mediastream"
	"parlance.dev/parlance/server/realtime/websocket"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

const (
	// protocolMedia stands for the protocol of media sockets, which has no sub-protocol.
	protocolMedia = "mediastream"
	// maxStartBytes bounds each of the messages until then, maxStartMessages their number.
	maxStartBytes    = 8 << 10
	maxStartMessages = 2
	// maxMediaBytes bounds a message after it: carriers send 20 ms of sound in each.
	maxMediaBytes = 64 << 10
)

// nobody stands for the tenant of a socket that has not said yet which session it is for.
const nobody workspaces.TenantID = ""

// endNoStart is a carrier that does not say which call it is. The wire has no answers: carriers
// keep the code and the reason in their logs.
var endNoStart = ending{code: closePolicy, reason: "no-start"}

// ServeMedia serves the media socket of a telephone call, as a voice socket of its session. The
// session's id and token are parameters of the carrier's first message: carriers drop queries.
// After the upgrade a refusal is a close: 1008 with the reason of what is wrong, or "no-start".
// Problems: 400 invalid-request (no WebSocket), 405 method-not-allowed, 503 unavailable.
func (h *Handler) ServeMedia(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		h.deps.Problem.Write(w, r, fault.New(fault.MethodNotAllowedReason, "This is the WebSocket of a telephone carrier."))
		return
	}
	if !websocket.IsUpgrade(r) {
		h.deps.Problem.Write(w, r, errNoUpgrade(w))
		return
	}
	if err := h.reserve(nobody); err != nil {
		h.deps.Problem.Write(w, r, err)
		return
	}
	conn, err := websocket.Accept(w, r, "", websocket.Limits{
		MaxMessageBytes: min(maxMediaBytes, h.limits.MaxMessageBytes),
		ReadTimeout:     h.limits.ReadTimeout, WriteTimeout: h.limits.WriteTimeout,
	})
	if err != nil {
		h.release(nobody)
		h.deps.Log.WarnContext(r.Context(), "media socket not opened", telemetry.KeyError, err)
		return
	}
	h.admitMedia(r, conn)
}

// admitMedia reads which call a socket is for, and serves it.
func (h *Handler) admitMedia(r *http.Request, conn *websocket.Conn) {
	start, end := h.readStart(conn)
	if end != nil {
		h.refuseMedia(r, conn, *end, nil)
		return
	}
	admission, err := h.deps.Sessions.Admit(r.Context(), live.AdmitParams{
		SessionID: sessions.ID(start.SessionID), Token: start.Token, Channel: sessions.VoiceChannel,
	})
	if err != nil {
		h.refuseMedia(r, conn, endOfAdmission(err), err)
		return
	}
	tenant := admission.Session.TenantID
	if err := h.assign(tenant); err != nil {
		h.refuseMedia(r, conn, endOfAdmission(err), err)
		return
	}
	open := h.sockets.WithLabelValues(string(admission.Channel))
	open.Inc()
	h.serve(r, conn, h.mediaWire(start), admission, func() {
		open.Dec()
		h.release(tenant)
	})
}

// mediaWire is the wire of a call.
func (h *Handler) mediaWire(start mediastream.Start) wire {
	return wire{
		protocol: protocolMedia, isCall: true,
		settings: voice.Configure{Input: mediastream.Format, Output: mediastream.Format},
		newDialect: func(p dialect.Params) dialect.Dialect {
			log := h.deps.Log.With(telemetry.KeySessionID, p.Session.ID)
			return mediastream.New(mediastream.Params{Params: p, StreamSID: start.StreamSID, Note: start.Note, Log: log})
		},
	}
}

// readStart reads to the message that says which call it is, or says how the socket ends without.
func (h *Handler) readStart(conn *websocket.Conn) (mediastream.Start, *ending) {
	late := time.AfterFunc(h.limits.StartTimeout, func() { _ = conn.Close(endNoStart.code, endNoStart.reason) })
	defer late.Stop()
	for range maxStartMessages {
		message, err := conn.Read()
		if err != nil {
			end := endOfRead(err)
			return mediastream.Start{}, &end
		}
		if !message.Text || len(message.Data) > maxStartBytes {
			break
		}
		start, more, err := mediastream.ReadStart(message.Data)
		switch {
		case errors.Is(err, mediastream.ErrFormat):
			return mediastream.Start{}, &ending{code: closePolicy, reason: string(fault.InvalidRequest)}
		case err != nil:
			return mediastream.Start{}, &endNoStart
		case !more && !late.Stop():
			return mediastream.Start{}, &endNoStart // its close frame is on the way
		case !more:
			return start, nil
		}
	}
	return mediastream.Start{}, &endNoStart
}

// refuseMedia closes a socket that is not served.
func (h *Handler) refuseMedia(r *http.Request, conn *websocket.Conn, end ending, cause error) {
	defer h.release(nobody)
	h.deps.Log.WarnContext(r.Context(), "media socket refused", "code", end.code, telemetry.KeyReason, end.reason, telemetry.KeyError, cause)
	if !end.silent {
		_ = conn.Close(end.code, end.reason) // the carrier may be gone
	}
	conn.Discard()
}

// endOfAdmission is the end of a socket whose session does not let it join.
func endOfAdmission(err error) ending {
	decided := fault.From(err)
	switch decided.Kind() {
	case fault.Unavailable, fault.RateLimited:
		return endRestart
	case fault.Internal:
		return endInternal
	default:
		return ending{code: closePolicy, reason: string(decided.Reason)}
	}
}

// assign counts a socket that was reserved for nobody as one of a tenant. Errors: RateLimited
// rate-limited, when the tenant has as many as it may.
func (h *Handler) assign(tenant workspaces.TenantID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isFull(tenant) {
		return fault.New(fault.RateLimitedReason, "The tenant has as many sockets on this server as it may.")
	}
	h.uncount(nobody)
	h.tenants[tenant]++
	return nil
}
