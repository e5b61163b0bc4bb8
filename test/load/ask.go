package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"parlance.dev/parlance/test/audit"
)

// The pauses between two tries grow from firstPause to longestPause.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// ask is a request.
type ask struct {
	method, path string
	// body is sent as JSON, a string as it is; nil: none.
	body        any
	contentType string
	accept      string
	// key, when set, goes along as Idempotency-Key; without one only safe methods are repeated.
	key string
}

// reply is what came at last.
type reply struct {
	// status 0: nothing that settles it.
	status   int
	body     []byte
	requests int
}

// at looks into the JSON of the answer; numbers and truths come as text.
func (r reply) at(name string) string {
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.UseNumber()
	if decoder.Decode(&members) != nil || members[name] == nil {
		return ""
	}
	return fmt.Sprint(members[name])
}

func (r reply) ok() bool { return r.status >= 200 && r.status < 300 }

// settles says whether an answer is the last word about a request.
func (r reply) settles() bool {
	switch {
	case r.status == 0, r.status >= 500, r.status == http.StatusTooManyRequests:
		return false
	case r.status == http.StatusConflict:
		code := r.at("code")
		return code != "idempotency-key-in-flight" && code != "conflict"
	}
	return true
}

// send asks until there is an answer that settles it, ctx ends, or asking again could do it twice.
func (c *customer) send(ctx context.Context, a ask) reply {
	wait := firstPause
	var last reply
	for tries := 1; ; tries++ {
		last = c.once(ctx, a)
		last.requests = tries
		if last.settles() {
			break
		}
		c.Journal.Count(fmt.Sprintf("request without an answer that settles it: %d %s", last.status, last.at("code")))
		if last.status == http.StatusInternalServerError {
			c.Journal.Complain("%s %s was answered 500: %s", a.method, a.path, last.body)
		}
		last.status = 0
		if ctx.Err() != nil || a.key == "" && a.method != http.MethodGet {
			return last
		}
		pause(ctx, wait)
		wait = min(2*wait, longestPause)
	}
	if a.key != "" && c.chance(20) {
		c.repeat(ctx, a, last)
	}
	return last
}

// repeat asks a second time under the key: the answer must be the first one's.
func (c *customer) repeat(ctx context.Context, a ask, first reply) {
	again := c.once(ctx, a)
	if !again.settles() {
		return
	}
	c.Journal.Count("request repeated under its key")
	if again.status != first.status || !bytes.Equal(again.body, first.body) {
		c.Journal.Complain("%s %s under one key: first %d %s, then %d %s", a.method, a.path, first.status, first.body, again.status, again.body)
	}
}

// once makes one request; status 0 when no whole answer came.
func (c *customer) once(ctx context.Context, a ask) reply {
	request, err := c.request(ctx, a)
	if err != nil {
		c.Journal.Complain("%s %s: %v", a.method, a.path, err)
		return reply{status: http.StatusBadRequest}
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return reply{}
	}
	defer func() { _ = answer.Body.Close() }() // read to its end
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return reply{}
	}
	return reply{status: answer.StatusCode, body: body}
}

func (c *customer) request(ctx context.Context, a ask) (*http.Request, error) {
	var body io.Reader
	switch given := a.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(given)
	default:
		encoded, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, a.method, c.URL+a.path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.tenant.Key)
	for name, value := range map[string]string{"Content-Type": a.contentType, "Accept": a.accept, "Idempotency-Key": a.key} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if body != nil && a.contentType == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// in is a path in the customer's workspace.
func (c *customer) in(format string, args ...any) string {
	return "/v1/workspaces/" + c.tenant.WorkspaceID + fmt.Sprintf(format, args...)
}

// change makes a keyed request and notes it. id is known beforehand, but for creations; fields
// are read from the answer by their names there.
func (c *customer) change(ctx context.Context, e audit.Entry, a ask, fields ...string) reply {
	if a.key == "" {
		c.made++
		a.key = fmt.Sprintf("key-%s-%d", c.name, c.made)
	}
	got := c.send(ctx, a)
	e.Keyed = true
	c.note(e, got, fields...)
	return got
}

// note writes an answer down.
func (c *customer) note(e audit.Entry, got reply, fields ...string) {
	e.Status, e.Requests, e.At = got.status, got.requests, time.Now()
	if e.Fields == nil {
		e.Fields = map[string]string{}
	}
	if e.Verb == audit.Create && e.ID == "" && got.ok() {
		e.ID = got.at("id")
	}
	for _, name := range fields {
		e.Fields[name] = got.at(name)
	}
	c.Journal.Note(e)
	if got.status >= 400 {
		c.Journal.Complain("%s %s %s %q was refused after %d requests: %d %s", e.Noun, e.Verb, e.ID, e.Mark, e.Requests, got.status, got.body)
	}
}

// look reads what was answered before: it must be there at once.
func (c *customer) look(ctx context.Context, path, id string) {
	if id == "" || !c.chance(30) {
		return
	}
	got := c.send(ctx, ask{method: http.MethodGet, path: path})
	c.Journal.Count("read back")
	if got.status != 0 && (got.status != http.StatusOK || got.at("id") != id) {
		c.Journal.Complain("GET %s after its creation: %d %s", path, got.status, got.body)
	}
}
