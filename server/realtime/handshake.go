package realtime

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/realtime/convai"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/openai"
	"parlance.dev/parlance/server/realtime/websocket"
	"parlance.dev/parlance/sessions"
)

// The sub-protocols. Source: realtime.md; browsers' SDKs send them.
const (
	protocolOpenAI     = "realtime"
	protocolElevenLabs = "convai"
	// protocolToken and protocolBearer are prefixes with which the SDKs of OpenAI and of ElevenLabs
	// send a token as if it were a sub-protocol. Such a sub-protocol is never chosen.
	protocolToken  = "openai-insecure-api-key."
	protocolBearer = "bearer."
)

// admit does everything before the upgrade. It checks the token before the upgrade's headers, so
// that a plain GET with a bad token says what is wrong with the token.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (live.Admission, error) {
	channel, id, ok := parsePath(r.URL.Path)
	if !ok {
		return live.Admission{}, fault.New(fault.RouteNotFound,
			"No WebSocket at %s. Use ws_url or chat_url of a session.", r.URL.Path)
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		return live.Admission{}, fault.New(fault.MethodNotAllowedReason,
			"This is a WebSocket URL; it takes GET with an upgrade only.")
	}
	token, upgrade := tokenOf(r), websocket.IsUpgrade(r)
	if token == "" && !upgrade {
		return live.Admission{}, errNoUpgrade(w)
	}
	admission, err := h.deps.Sessions.Admit(r.Context(), live.AdmitParams{
		SessionID: id, Token: token, Channel: channel,
	})
	if err != nil {
		return live.Admission{}, err
	}
	if !upgrade {
		return live.Admission{}, errNoUpgrade(w)
	}
	if err := checkOrigin(r, admission.Session.Config.Widget); err != nil {
		return live.Admission{}, err
	}
	// Clients of this protocol may change the greeting before it is said.
	admission.HoldGreeting = chosenProtocol(r) == protocolElevenLabs
	return admission, nil
}

// checkOrigin refuses browsers on pages that may not talk with the agent. Pages of this server may:
// they are the console. Clients that are no browsers send no Origin. Errors: Forbidden
// origin-not-allowed.
func checkOrigin(r *http.Request, widget agents.Widget) error {
	origins := r.Header.Values("Origin")
	origin := strings.Join(origins, ", ")
	if origin == "" || widget.IsZero() || len(origins) == 1 && (widget.Allows(origin) || isOwnOrigin(r, origin)) {
		return nil
	}
	return fault.New(fault.OriginNotAllowed, "The agent cannot be talked to from pages of %s. "+
		"Add the origin to widget.allowed_origins of the agent and begin a new session.", strconv.Quote(origin))
}

// isOwnOrigin reports whether an origin is that of the URL by which this server was called. A name
// counts only if it is configured: a foreign name can be made to lead here.
func isOwnOrigin(r *http.Request, origin string) bool {
	base, configured := interceptor.BaseURL(r.Context()), interceptor.HasPublicURL(r.Context())
	own, err := url.Parse(base)
	if err != nil || own.Host == "" || agents.Origin(own.Scheme+"://"+own.Host) != agents.Origin(origin) {
		return false
	}
	_, noAddress := netip.ParseAddr(own.Hostname())
	return configured || noAddress == nil || own.Hostname() == "localhost"
}

func errNoUpgrade(w http.ResponseWriter) error {
	w.Header().Set("Upgrade", "websocket")
	// Tells a client of another version what to use. Source: RFC 6455, 4.4.
	w.Header().Set("Sec-WebSocket-Version", "13")
	return fault.New(fault.InvalidRequest, "This is a WebSocket URL. Open it with a WebSocket client"+
		" over HTTP/1.1 (wss:// or ws://), not with a plain request.")
}

// parsePath takes the channel and the session from a path, which may end in /realtime.
func parsePath(path string) (sessions.Channel, sessions.ID, bool) {
	rest, ok := strings.CutPrefix(path, Prefix)
	if !ok {
		return "", "", false
	}
	rest = strings.TrimSuffix(rest, "/realtime")
	name, id, _ := strings.Cut(rest, "/")
	channel := sessions.Channel(name)
	known := channel == sessions.VoiceChannel || channel == sessions.ChatChannel
	return channel, sessions.ID(id), known && id != "" && !strings.Contains(id, "/")
}

// chosenProtocol is the first known sub-protocol of the client's offer, or empty. It alone chooses
// the dialect; without one the dialect is OpenAI's.
func chosenProtocol(r *http.Request) string {
	for _, offered := range websocket.OfferedProtocols(r) {
		if offered == protocolOpenAI || offered == protocolElevenLabs {
			return offered
		}
	}
	return ""
}

// newDialect makes the dialect of a sub-protocol.
func newDialect(protocol string, p dialect.Params) dialect.Dialect {
	if protocol == protocolElevenLabs {
		return convai.New(p)
	}
	return openai.New(p)
}

// tokenOf is the session's token. The URL's decides. Without one the bearer counts, then the
// sub-protocol: SDKs insist on sending some value of their own in both.
func tokenOf(r *http.Request) string {
	if token := r.URL.Query().Get("token"); token != "" {
		return token
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") && token != "" {
		return strings.TrimSpace(token)
	}
	for _, protocol := range websocket.OfferedProtocols(r) {
		for _, prefix := range []string{protocolToken, protocolBearer} {
			if token, ok := strings.CutPrefix(protocol, prefix); ok {
				return token
			}
		}
	}
	return ""
}
