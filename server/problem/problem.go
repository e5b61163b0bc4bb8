package problem

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

const (
	// ContentType is the media type of a problem.
	ContentType = "application/problem+json"

	requestIDHeader = "X-Request-Id"
	challengeHeader = "WWW-Authenticate"
)

// Writer writes problems. The zero value writes `type` as a path instead of a URL.
type Writer struct {
	// PublicURL is the scheme and host to put before /errors/<code>, without a slash at the end.
	PublicURL func(*http.Request) string
}

// document is the body, with the members and the order of decisions, Errors.
type document struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Detail    string  `json:"detail"`
	Code      string  `json:"code"`
	Instance  string  `json:"instance"`
	RequestID string  `json:"request_id"`
	Errors    []field `json:"errors,omitempty"`
}

type field struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// members are the names that an error's metadata may not use.
var members = []string{"type", "title", "status", "detail", "code", "instance", "request_id", "errors"}

// Write is Writer{}.Write.
func Write(w http.ResponseWriter, r *http.Request, err error) { Writer{}.Write(w, r, err) }

// Write answers r with err as a problem. For an error that is no fault, postgres.Decide decides
// what the caller may see. request_id is the X-Request-Id that w's header already has. Write sets
// Retry-After when the error has it or is unavailable, and WWW-Authenticate on 401; it keeps the
// other headers.
func (p Writer) Write(w http.ResponseWriter, r *http.Request, err error) {
	decided := postgres.Decide(err)
	header := w.Header()
	body := p.Body(r, decided, header.Get(requestIDHeader))
	header.Set("Content-Type", ContentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	if wait := retryAfter(decided); wait > 0 {
		header.Set("Retry-After", strconv.Itoa(seconds(wait)))
	}
	status := decided.Kind().Status()
	if status == http.StatusUnauthorized {
		header.Set(challengeHeader, challenge(decided))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has hung up when this fails
}

// challenge says how to authenticate: with a bearer token, and whether the one that came is
// invalid. Source: RFC 6750, 3.
func challenge(err *fault.Error) string {
	if err.Reason == fault.AuthMissing {
		return "Bearer"
	}
	return `Bearer error="invalid_token"`
}

// Body returns the JSON of err as a problem about r, for places where it is only a part of the
// answer, such as an event of a stream.
func (p Writer) Body(r *http.Request, err error, requestID string) []byte {
	decided := postgres.Decide(err)
	problem := document{
		Type:      "/errors/" + string(decided.Reason),
		Title:     decided.Reason.Title(),
		Status:    decided.Kind().Status(),
		Detail:    shortened(decided.Message, maxDetailBytes),
		Code:      string(decided.Reason),
		Instance:  shortened(r.URL.EscapedPath(), maxInstanceBytes),
		RequestID: requestID,
	}
	if p.PublicURL != nil {
		problem.Type = p.PublicURL(r) + problem.Type
	}
	for _, violation := range decided.Fields {
		problem.Errors = append(problem.Errors, field(violation))
	}
	return withMembers(encode(problem), decided.Meta)
}

// A message may repeat its subject, such as an id. A caller that sends an id of 60 KB does not get
// it back twice.
const (
	maxDetailBytes   = 8 << 10
	maxInstanceBytes = 1 << 10
)

func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// withMembers adds the metadata to a JSON object as further members, sorted by name.
func withMembers(object []byte, meta map[string]string) []byte {
	extra := maps.Clone(meta)
	maps.DeleteFunc(extra, func(name, _ string) bool { return slices.Contains(members, name) })
	if len(extra) == 0 {
		return object
	}
	joined := append(object[:len(object)-1:len(object)-1], ',')
	return append(joined, encode(extra)[1:]...)
}

// encode is json.Marshal without escapes for HTML, which are unreadable on a terminal.
func encode(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // strings, ints and maps of strings always encode
	return bytes.TrimRight(buffer.Bytes(), "\n")
}

// defaultRetryAfter is for unavailable errors without a time of their own: mostly a database that
// restarts, or a server that is being replaced.
const defaultRetryAfter = 2 * time.Second

// retryAfter returns how long the caller should wait; 0 if nothing is known.
func retryAfter(err *fault.Error) time.Duration {
	if err.RetryAfter <= 0 && err.Kind() == fault.Unavailable {
		return defaultRetryAfter
	}
	return err.RetryAfter
}

// seconds rounds up: a caller that waits for less is refused again.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
