package interceptor

import (
	"bytes"
	"encoding/json"
	"net/http"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/idempotency"
)

// eventsForm marks the requests whose answer WrapEvents keeps.
const eventsForm = "text/event-stream"

// WrapEvents is Wrap for an answer that is sent while it is made. A caller that hangs up does not
// end the work, and gets the whole stream when it repeats the request. It is
// rest.Config.OnceEvents.
func (o *Once) WrapEvents(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
	claim, err := o.begin(r, body, eventsForm)
	if err != nil {
		o.refuse(w, r, err)
		return
	}
	if claim.Answer != nil {
		replay(w, *claim.Answer)
		return
	}
	o.work(&streamedAnswer{ResponseWriter: w}, r, claim, next)
}

// streamedAnswer sends an answer and keeps a copy of it.
type streamedAnswer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
	// gone is set when the caller no longer reads.
	gone bool
}

// WriteHeader keeps the first status.
func (a *streamedAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write keeps everything but comments, which only keep a connection open. It never fails: the work
// goes on without its caller.
func (a *streamedAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !bytes.HasPrefix(p, []byte(":")) {
		a.body.Write(p)
	}
	if !a.gone {
		_, err := a.ResponseWriter.Write(p)
		a.gone = err != nil
	}
	return len(p), nil
}

// FlushError implements what http.ResponseController calls.
func (a *streamedAnswer) FlushError() error {
	if !a.gone {
		a.gone = http.NewResponseController(a.ResponseWriter).Flush() != nil
	}
	return nil
}

// Unwrap lets http.ResponseController reach the connection.
func (a *streamedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// outcome judges a stream that ended with an error by that error, whatever its status.
func (a *streamedAnswer) outcome() (idempotency.Answer, bool) {
	a.WriteHeader(http.StatusOK)
	answer := idempotency.Answer{Status: a.status, ContentType: a.Header().Get("Content-Type"), Body: a.body.Bytes()}
	status, reason := a.status, reasonIn(a.status, answer.Body)
	if failed, ok := lastError(answer.Body); ok {
		status, reason = failed.Status, failed.Code
	}
	return answer, idempotency.Keeps(status, reason)
}

type failure struct {
	Status int          `json:"status"`
	Code   fault.Reason `json:"code"`
}

// lastError returns the problem that a stream ends with. Data contains no line breaks, so a line
// that looks like the line of an event is one.
func lastError(stream []byte) (failed failure, ok bool) {
	const mark = "\nevent: error\ndata: "
	lines := append([]byte("\n"), stream...)
	at := bytes.LastIndex(lines, []byte(mark))
	if at < 0 {
		return failure{}, false
	}
	data, _, _ := bytes.Cut(lines[at+len(mark):], []byte("\n"))
	err := json.Unmarshal(data, &failed)
	return failed, err == nil && failed.Status >= http.StatusBadRequest
}
