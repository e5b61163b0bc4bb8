package idempotency

import (
	"crypto/sha256"
	"encoding/binary"

	"parlance.dev/parlance/fault"
)

// Header is the request header that carries the key.
const Header = "Idempotency-Key"

// maxKeyBytes is the length of the longest key. Source: interface of Stripe, 255 characters.
const maxKeyBytes = 255

// Request is the request that a key was sent with. Operation is part of the key: the same key for
// another operation is another key. The others must be the same for an answer to be replayed.
type Request struct {
	// Operation is the procedure with the ids that are in the path over REST:
	// "/parlance.v1.SessionService/EndSession ses_…".
	Operation string
	// Form is the form of the answer that the caller asked for, if there is a choice.
	Form string
	// Body is the message. It is empty for a file, which is never in memory as a whole: see
	// Answer.Upload.
	Body []byte
	// Precondition is the If-Match of the request.
	Precondition string
	// SessionID and UserID are whom the request is about; empty: nobody. With them the answer is
	// found when the session or the user is erased.
	SessionID string
	UserID    string
}

// fingerprint tells apart two requests with the same key. It contains the key, of which only a
// hash is stored, as a salt: a short secret in a body cannot be guessed from a copy of the
// database.
func (r Request) fingerprint(key string) []byte {
	return digestOf([]byte(key), r.Body, []byte(r.Form), []byte(r.Precondition))
}

// digestOf returns SHA-256 over the parts with their lengths, so that no two lists give the same
// bytes.
func digestOf(parts ...[]byte) []byte {
	digest := sha256.New()
	for _, part := range parts {
		// A hash never returns an error.
		_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = digest.Write(part)
	}
	return digest.Sum(nil)
}

// Answer is what the caller got: the messages, then the refusal if there was one.
type Answer struct {
	// Messages are one message, or those of a stream, as protobuf.
	Messages [][]byte     `json:"messages,omitempty"`
	Refusal  *fault.Error `json:"refusal,omitempty"`
	// Upload describes the file that the answer is about; nil for other requests.
	Upload *Upload `json:"upload,omitempty"`
	// SessionID is the session that the request made; it is stored beside the answer.
	SessionID string `json:"-"`
}

// Upload tells apart two files with the same key.
type Upload struct {
	// Digest covers the file and its metadata.
	Digest []byte `json:"digest"`
	// Bytes is the size of the file, so that a longer one is recognised without being read to its
	// end.
	Bytes int64 `json:"bytes"`
}

// Reused returns the error of a key that came with another request.
func Reused() error {
	return fault.New(fault.IdempotencyReused, "This Idempotency-Key came with another request; use a new key for each request.")
}

// OutcomeUnknown reports whether it is unknown after a refusal whether the work was done: it was
// interrupted, or failed at the end.
func OutcomeUnknown(refusal *fault.Error) bool {
	switch refusal.Kind() {
	case fault.Canceled, fault.Timeout, fault.Upstream, fault.Unavailable, fault.Unimplemented, fault.Internal:
		return true
	default:
		return false
	}
}

// Keeps reports whether a refusal is final for its request. What time mends is not: a quota, a
// name that is taken, a state such as "not ready", a rate, an outage, a host that cannot be
// resolved.
func Keeps(refusal *fault.Error) bool {
	switch refusal.Kind() {
	case fault.NotFound:
		return true
	case fault.Invalid:
		return refusal.Reason != fault.InvalidRequest && refusal.Reason != fault.WebhookURLUnresolvable
	default:
		return false
	}
}

// checkKey errors: Invalid invalid-request on Idempotency-Key.
func checkKey(key string) error {
	if key == "" || len(key) > maxKeyBytes {
		return fault.InvalidField(Header, "length", "Idempotency-Key has 1 to %d characters.", maxKeyBytes)
	}
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return fault.InvalidField(Header, "characters", "Idempotency-Key is made of printable ASCII characters.")
		}
	}
	return nil
}
