package webhooks

import (
	"crypto/rand"
	"net/http"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/seal"
)

// NewSecret makes a signing secret without an endpoint, for programs that forward events
// themselves.
func NewSecret() (seal.Secret, error) {
	secret, err := mintSecret(rand.Reader)
	return seal.Secret(secret), err
}

// LocalMessage is an event to forward without an endpoint.
type LocalMessage struct {
	EventID string
	Type    events.Type
	Body    []byte
	At      time.Time
}

// SignLocal returns the headers that a delivery of the message has.
func SignLocal(m LocalMessage, secret seal.Secret) http.Header {
	return headers(message{EventID: m.EventID, Type: m.Type, Body: m.Body, At: m.At}, keys{secrets: []string{secret.Reveal()}})
}
