package webhooks

import (
	"crypto/rand"
	"net/http"
	"time"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/platform/seal"
)

// NewSecret makes a signing secret for messages that no endpoint gets.
func NewSecret() (seal.Secret, error) {
	secret, err := mintSecret(rand.Reader)
	return seal.Secret(secret), err
}

// SecretHint is the end of a signing secret, which may be shown.
func SecretHint(secret seal.Secret) string { return hintOf(secret.Reveal()) }

// Message is what a signed request carries when it is no delivery to an endpoint.
type Message struct {
	// EventID names the message: a receiver may take two with one id for one that was sent twice.
	EventID string
	Type    events.Type
	Body    []byte
	// At is when it is sent.
	At time.Time
}

// Sign returns the headers that a delivery of the message has.
func Sign(m Message, secret seal.Secret) http.Header {
	return headers(message{EventID: m.EventID, Type: m.Type, Body: m.Body, At: m.At}, keys{secrets: []string{secret.Reveal()}})
}
