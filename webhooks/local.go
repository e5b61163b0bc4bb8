package webhooks

import (
	"crypto/rand"
	"net/http"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/seal"
)

// NewSecret makes a signing secret that belongs to no endpoint, for who forwards events by himself.
func NewSecret() (seal.Secret, error) {
	secret, err := mintSecret(rand.Reader)
	return seal.Secret(secret), err
}

// LocalMessage is an event that is forwarded without an endpoint.
type LocalMessage struct {
	EventID string
	Type    events.Type
	Body    []byte
	At      time.Time
}

// SignLocal makes the headers that a delivery of the message would have.
func SignLocal(m LocalMessage, secret seal.Secret) http.Header {
	return headers(message(m), keys{secrets: []string{secret.Reveal()}})
}
