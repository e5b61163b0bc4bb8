package realtime

import (
	"net/http"
	"strings"

	"parlance.dev/parlance/server/realtime/convai"
	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/server/realtime/openai"
	"parlance.dev/parlance/server/realtime/wire"
)

// The sub-protocols. Source: realtime.md; the SDKs send them from browsers.
const (
	protocolOpenAI     = "realtime"
	protocolElevenLabs = "convai"
	// protocolToken and protocolBearer carry a token as if it were a sub-protocol (the openai SDKs
	// and ElevenLabs'); they are never selected.
	protocolToken  = "openai-insecure-api-key."
	protocolBearer = "bearer."
)

// selected is the sub-protocol that is spoken, as what wire.Accept takes: the first offered
// that we know. Nothing else chooses the dialect; without one it is OpenAI's.
func selected(r *http.Request) []string {
	for _, one := range wire.Offered(r) {
		if one == protocolOpenAI || one == protocolElevenLabs {
			return []string{one}
		}
	}
	return nil
}

// speak is the dialect of a sub-protocol.
func speak(protocol string, p dialect.Params) dialect.Dialect {
	if protocol == protocolElevenLabs {
		return convai.New(p)
	}
	return openai.New(p)
}

// tokenOf is the session's token: the URL's decides, and only without one the bearer, then the
// sub-protocol, are looked at, for the SDKs force some value of their own into both.
func tokenOf(r *http.Request) string {
	if token := r.URL.Query().Get("token"); token != "" {
		return token
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "bearer") && token != "" {
		return strings.TrimSpace(token)
	}
	for _, protocol := range wire.Offered(r) {
		for _, prefix := range []string{protocolToken, protocolBearer} {
			if token, ok := strings.CutPrefix(protocol, prefix); ok {
				return token
			}
		}
	}
	return ""
}
