package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"

	"parlance.dev/parlance/fault"
)

// Header is the request header that carries the key.
const Header = "Idempotency-Key"

// maxKeyBytes is the longest key. Source: interface of Stripe, 255 characters.
const maxKeyBytes = 255

// Request is what a key was sent with. Method and Path belong to the key: on another route the
// same words are another key. Query and Body must be the same for an answer to be replayed.
type Request struct {
	// Method, Path (escaped) and Query (raw) are as they were sent.
	Method, Path, Query string
	// Body is empty for a file, which nobody holds in memory: see Answer.Upload.
	Body []byte
	// Form is what the answer is asked as, when there is a choice.
	Form string
}

// fingerprint tells two requests of one key apart. The key, of which only a hash is stored, is in
// it as a salt: a short secret of a body cannot be guessed from a copy of the database.
func (r Request) fingerprint(key string) []byte {
	return digestOf([]byte(key), []byte(r.Query), r.Body, []byte(r.Form))
}

// digestOf is SHA-256 over the parts with their lengths, so that no two lists give the same bytes.
func digestOf(parts ...[]byte) []byte {
	digest := sha256.New()
	for _, part := range parts {
		// A hash takes all bytes and has no errors.
		_, _ = digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = digest.Write(part)
	}
	return digest.Sum(nil)
}

// Answer is what the caller got. A header that is empty was not there.
type Answer struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type,omitempty"`
	Location    string `json:"location,omitempty"`
	Body        []byte `json:"body,omitempty"`
	// Upload is what the file was that the answer is about; nil for other requests.
	Upload *Upload `json:"upload,omitempty"`
}

// Upload tells two files of one key apart.
type Upload struct {
	// Digest is over the file and what was said of it.
	Digest []byte `json:"digest"`
	// Bytes are the file's, so that a longer one is known without being read to its end.
	Bytes int64 `json:"bytes"`
}

// Reused is the refusal of a key that came with another request.
func Reused() error {
	return fault.New(fault.IdempotencyReused, "This Idempotency-Key came with another request; use a new key for each request.")
}

// LeastDoubtful is the least status after which nobody knows whether the work was done: 499 and
// 5xx.
const LeastDoubtful = 499

// Keeps says whether an answer is the final one of its request; reason is the problem's code,
// empty when the answer is none.
func Keeps(status int, reason fault.Reason) bool {
	if status < http.StatusBadRequest {
		return true
	}
	entry, known := fault.Lookup(reason)
	if !known {
		return false
	}
	switch entry.Kind {
	case fault.NotFound, fault.AlreadyExists, fault.Precondition, fault.QuotaExceeded:
		return true
	case fault.Invalid:
		return reason != fault.InvalidRequest
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
