package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"

	"parlance.dev/parlance/fault"
)

// Header is the request header that carries the key.
const Header = "Idempotency-Key"

// maxKeyBytes is the length of the longest key. Source: interface of Stripe, 255 characters.
const maxKeyBytes = 255

// Request is the request that a key was sent with. Method and Path are part of the key: the same
// key on another route is another key. Query and Body must be the same for an answer to be
// replayed.
type Request struct {
	// Method, Path (escaped) and Query (raw) are as they were sent.
	Method, Path, Query string
	// Body is empty for a file, which is never in memory as a whole: see Answer.Upload.
	Body []byte
	// Form is the form of the answer that the caller asked for, if there is a choice.
	Form string
}

// fingerprint tells apart two requests with the same key. It contains the key, of which only a
// hash is stored, as a salt: a short secret in a body cannot be guessed from a copy of the
// database.
func (r Request) fingerprint(key string) []byte {
	return digestOf([]byte(key), []byte(r.Query), r.Body, []byte(r.Form))
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

// Answer is what the caller got. An empty header was not set.
type Answer struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type,omitempty"`
	Location    string `json:"location,omitempty"`
	Body        []byte `json:"body,omitempty"`
	// Upload describes the file that the answer is about; nil for other requests.
	Upload *Upload `json:"upload,omitempty"`
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

// FirstUnknownStatus is the lowest status after which it is unknown whether the work was done: 499
// and 5xx.
const FirstUnknownStatus = 499

// Keeps reports whether an answer is final for its request. reason is the problem's code, empty if
// the answer is not a problem.
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
