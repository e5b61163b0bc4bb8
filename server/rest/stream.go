package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/platform/stablejson"
)

const (
	streamType = "application/connect+proto"

	// A Connect stream is a row of envelopes: one byte of flags, four of length, the message.
	envelopeHeader = 5
	flagCompressed = 0b01
	flagEnd        = 0b10

	// firstSign is how long a stream may be silent before its header goes out all the same, so
	// that the caller knows that it is open.
	firstSign = time.Second
)

// stream answers a route with Server-Sent Events.
func (f *facade) stream(w http.ResponseWriter, r *http.Request, m *match) error {
	request, err := readRequest(w, r, m)
	if err != nil {
		return err
	}
	payload, err := envelope(request)
	if err != nil {
		return err
	}
	inner := innerRequest(w, r, m.route.Procedure, streamType, payload)
	ctx, cancel := context.WithCancel(inner.Context())
	defer cancel()
	out := &eventWriter{
		facade: f, out: w, request: r, message: m.route.Response, header: http.Header{},
		cancel: cancel, returning: route.Resumes(request),
	}

	ended := make(chan struct{})
	var alive sync.WaitGroup
	alive.Go(func() { out.keepAlive(ended, f.config.KeepAlive) })
	defer alive.Wait() // the response writer must not be used once we have returned
	defer close(ended)
	f.config.RPC.ServeHTTP(out, inner.WithContext(ctx))
	out.finish()
	return nil
}

// envelope is the request as the only message of a stream.
func envelope(message proto.Message) ([]byte, error) {
	out, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, envelopeHeader), message)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	binary.BigEndian.PutUint32(out[1:], uint32(len(out)-envelopeHeader))
	return out, nil
}

// eventWriter is the response writer of the inner handler: it turns envelopes into events as
// they are written. The mutex is between the handler and the keep-alive comments.
type eventWriter struct {
	facade  *facade
	request *http.Request
	message proto.Message
	header  http.Header
	status  int
	pending bytes.Buffer
	cancel  context.CancelFunc
	// returning is set for a caller that resumes the stream.
	returning bool

	mu       sync.Mutex
	out      http.ResponseWriter
	answered http.Header // what the handler's header held when it first wrote
	started  bool
	ended    bool
}

// Header is the inner answer's header.
func (e *eventWriter) Header() http.Header { return e.header }

// WriteHeader keeps the inner status: a handler that refuses before streaming sets one. It
// copies the header, which the handler may go on changing.
func (e *eventWriter) WriteHeader(status int) {
	if e.status != 0 {
		return
	}
	e.status = status
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answered = e.header.Clone()
}

// Flush does nothing: every event is flushed when it is complete.
func (e *eventWriter) Flush() {}

// Write takes a piece of the Connect stream. It fails when the caller is gone, which ends the
// handler.
func (e *eventWriter) Write(p []byte) (int, error) {
	e.WriteHeader(http.StatusOK)
	e.pending.Write(p)
	if e.status != http.StatusOK {
		return len(p), nil // an error's body; finish reads it
	}
	for {
		buffered := e.pending.Bytes()
		if len(buffered) < envelopeHeader {
			return len(p), nil
		}
		size := int(binary.BigEndian.Uint32(buffered[1:envelopeHeader]))
		if len(buffered) < envelopeHeader+size {
			return len(p), nil
		}
		whole := e.pending.Next(envelopeHeader + size)
		if err := e.envelope(whole[0], whole[envelopeHeader:]); err != nil {
			e.cancel()
			return 0, err
		}
	}
}

func (e *eventWriter) envelope(flags byte, payload []byte) error {
	switch {
	case flags&flagCompressed != 0:
		return errors.New("the handler compressed a stream that did not allow it")
	case flags&flagEnd != 0:
		return e.end(payload)
	}
	message := e.message.ProtoReflect().New()
	if err := proto.Unmarshal(payload, message.Interface()); err != nil {
		return fmt.Errorf("decoding an event: %w", err)
	}
	body, err := stablejson.Marshal(message.Interface())
	if err != nil {
		return err
	}
	return e.send(lineOf(message, "type"), cmp.Or(lineOf(message, "event_id"), lineOf(message, "cursor")), body)
}

// lineOf returns a string field of a message without line breaks, which would end the line of the
// event.
func lineOf(message protoreflect.Message, name string) string {
	return strings.NewReplacer("\n", "", "\r", "").Replace(textField(message, name))
}

// end reads the last envelope: nothing, or an error.
func (e *eventWriter) end(payload []byte) error {
	var last struct {
		Error *wireError `json:"error"`
	}
	if err := json.Unmarshal(payload, &last); err != nil {
		return fmt.Errorf("decoding the end of the stream: %w", err)
	}
	if last.Error != nil {
		e.fail(last.Error.fault())
	}
	return nil
}

// fail answers with a problem while that is possible, and with an error event afterwards.
func (e *eventWriter) fail(err *fault.Error) {
	e.mu.Lock()
	if !e.started {
		defer e.mu.Unlock()
		e.started, e.ended = true, true
		passBack(e.out.Header(), e.answered)
		e.facade.problem.Write(e.out, e.request, err)
		return
	}
	requestID := e.out.Header().Get(requestIDHeader)
	e.mu.Unlock()
	_ = e.send("error", "", e.facade.problem.Body(e.request, err, requestID)) // nothing follows an error
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
}

// finish answers whatever the handler left open when it returned. A caller that resumes a stream
// with nothing left gets 204, after which clients of event streams do not connect again. Source:
// HTML, Server-sent events, 9.2.3.
func (e *eventWriter) finish() {
	if e.status != http.StatusOK && e.status != 0 {
		e.fail(refusal(e.status, e.pending.Bytes()))
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.returning && !e.started {
		e.started, e.ended = true, true
		passBack(e.out.Header(), e.answered)
		e.out.WriteHeader(http.StatusNoContent)
	}
	if !e.ended {
		e.start()
	}
}

// send writes one event and flushes it.
func (e *eventWriter) send(event, id string, data []byte) error {
	var lines bytes.Buffer
	if event != "" {
		fmt.Fprintf(&lines, "event: %s\n", event)
	}
	if id != "" {
		fmt.Fprintf(&lines, "id: %s\n", id)
	}
	fmt.Fprintf(&lines, "data: %s\n\n", data)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.write(lines.Bytes())
}

// write needs the mutex.
func (e *eventWriter) write(p []byte) error {
	if e.ended {
		return errors.New("the stream has ended")
	}
	e.start()
	if _, err := e.out.Write(p); err != nil {
		return fmt.Errorf("writing to the caller: %w", err)
	}
	if err := http.NewResponseController(e.out).Flush(); err != nil {
		return fmt.Errorf("flushing to the caller: %w", err)
	}
	return nil
}

// start sends the header, once. It needs the mutex.
func (e *eventWriter) start() {
	if e.started {
		return
	}
	e.started = true
	header := e.out.Header()
	passBack(header, e.answered)
	header.Set("Content-Type", eventStreamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	// A server's write time-out is for answers that end; not every writer has one to lift.
	_ = http.NewResponseController(e.out).SetWriteDeadline(time.Time{})
	e.out.WriteHeader(http.StatusOK)
}

// keepAlive writes a comment after a second and then at every interval, until ended is closed.
// A caller that is gone is noticed here when the handler sends nothing.
func (e *eventWriter) keepAlive(ended <-chan struct{}, every time.Duration) {
	timer := time.NewTimer(min(firstSign, every))
	defer timer.Stop()
	for {
		select {
		case <-ended:
			return
		case <-timer.C:
		}
		e.mu.Lock()
		err := e.write([]byte(": keep-alive\n\n"))
		e.mu.Unlock()
		if err != nil {
			e.cancel()
			return
		}
		timer.Reset(every)
	}
}
