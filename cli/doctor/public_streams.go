package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"parlance.dev/parlance/server/probe"
)

const (
	// uploadBytes is more than the default limits of proxies: 1 MB (nginx) and 10 MB.
	uploadBytes = 12 << 20
	// uploadPause is a pause in the middle of the upload. The server does not see it behind a proxy
	// that buffers.
	uploadPause = 700 * time.Millisecond
	healthCheck = "/grpc.health.v1.Health/Check"
)

// trySocket opens a WebSocket and waits for an echo.
func (v *visit) trySocket(ctx context.Context, r *report) {
	const advice = "Let the proxy speak HTTP/1.1 to the server and pass Upgrade and Connection (nginx: " +
		"proxy_http_version 1.1 and both headers; see deploy/)."
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	// A time-out of the client would also apply to the open socket.
	client := &http.Client{Transport: v.client.Transport, CheckRedirect: v.client.CheckRedirect}
	conn, answer, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(v.base, "http")+probe.Path, &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: http.Header{probe.Header: {v.nonce}},
	})
	if err != nil {
		status := "got no answer"
		if answer != nil {
			status = "answered " + answer.Status
		}
		r.fail("websocket", advice, "a WebSocket could not be opened: it %s", status)
		return
	}
	defer func() { _ = conn.CloseNow() }() // the server closes it after the echo
	if err = conn.Write(ctx, websocket.MessageText, []byte(v.nonce)); err == nil {
		var echo []byte
		if _, echo, err = conn.Read(ctx); err == nil && string(echo) == v.nonce {
			r.ok("websocket", "a WebSocket was opened and echoed")
			return
		}
	}
	r.fail("websocket", advice, "a WebSocket was opened, and its messages do not pass: %v", err)
}

// tryStream checks whether two parts of an event stream arrive separately.
func (v *visit) tryStream(ctx context.Context, r *report) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+probe.Path, http.NoBody)
	if err != nil {
		r.fail("stream", "See the message.", "%v", err)
		return
	}
	request.Header.Set(probe.Header, v.nonce)
	request.Header.Set("Accept", "text/event-stream")
	answer, err := v.client.Do(request)
	if err != nil {
		r.fail("stream", "See the proxy's log.", "an event stream got no answer: %v", err)
		return
	}
	defer func() { _ = answer.Body.Close() }() // read to its end unless it failed
	var first, last time.Time
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "data:") {
			continue
		}
		last = v.Now()
		if first.IsZero() {
			first = last
		}
	}
	const advice = "Switch off buffering of answers (nginx: proxy_buffering off; Caddy: flush_interval -1), and compression of event streams."
	switch {
	case first.IsZero():
		r.fail("stream", advice, "an event stream arrived empty (%s)", answer.Status)
	case last.Sub(first) < probe.Pause/2:
		r.warn("stream", advice, "the proxy holds event streams back: pieces sent 1 s apart arrived together")
	default:
		r.ok("stream", "event streams arrive piece by piece")
	}
}

// tryUpload sends more than proxies accept by default, with a pause that the server should see.
func (v *visit) tryUpload(ctx context.Context, r *report) {
	half := make([]byte, uploadBytes/2)
	body := io.MultiReader(bytes.NewReader(half), &pause{ctx: ctx}, bytes.NewReader(half))
	answer, read, err := v.do(ctx, http.MethodPost, probe.Path, body)
	const size = "Raise the proxy's limit of bodies (nginx: client_max_body_size 0): Parlance has its own, by plan."
	var seen probe.Seen
	switch {
	case err != nil:
		r.fail("upload", size, "an upload of %d MiB was cut off: %v", uploadBytes>>20, err)
	case answer.StatusCode == http.StatusRequestEntityTooLarge:
		r.fail("upload", size, "the proxy refuses a body of %d MiB (%s)", uploadBytes>>20, answer.Status)
	case answer.StatusCode != http.StatusOK || json.Unmarshal(read, &seen) != nil || seen.BodyBytes != uploadBytes:
		r.fail("upload", size, "an upload of %d MiB was answered %s, and %d bytes arrived", uploadBytes>>20, answer.Status, seen.BodyBytes)
	case seen.PauseMS < uploadPause.Milliseconds()/2:
		r.warn("upload", "Let uploads pass as they come (nginx: proxy_request_buffering off).",
			"the proxy keeps whole uploads on its disk before it passes them on")
	default:
		r.ok("upload", "%d MiB pass, as they come", uploadBytes>>20)
	}
}

// pause is a reader that waits and then ends.
type pause struct {
	ctx context.Context //nolint:containedctx // io.Reader has no context
}

// Read implements io.Reader.
func (p *pause) Read([]byte) (int, error) {
	timer := time.NewTimer(uploadPause)
	defer timer.Stop()
	select {
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	case <-timer.C:
		return 0, io.EOF
	}
}

// tryGRPC requests the server's health over gRPC without a library: an empty message, and the
// status in the trailer.
func (v *visit) tryGRPC(ctx context.Context, r *report) {
	const advice = "Only clients of gRPC need it; REST, Connect and gRPC-Web do not. Let the proxy speak HTTP/2 on both " +
		"sides (nginx: http2 and grpc_pass; Caddy: h2c; see deploy/)."
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, v.base+healthCheck, bytes.NewReader(make([]byte, 5)))
	if err != nil {
		r.fail("grpc", "See the message.", "%v", err)
		return
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	answer, err := v.multiplexed.Do(request)
	if err != nil {
		r.warn("grpc", advice, "HTTP/2 is not spoken: %v", err)
		return
	}
	defer func() { _ = answer.Body.Close() }() // read to its end below
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswerBytes))
	status := answer.Trailer.Get("Grpc-Status")
	if status == "" {
		status = answer.Header.Get("Grpc-Status")
	}
	if err != nil || answer.StatusCode != http.StatusOK || status != "0" {
		r.warn("grpc", advice, "a call by gRPC was answered %s, grpc-status %q", answer.Status, status)
		return
	}
	r.ok("grpc", "gRPC passes")
}

// tryMetrics warns when anybody can read the metrics.
func (v *visit) tryMetrics(ctx context.Context, r *report) {
	answer, body, err := v.do(ctx, http.MethodGet, "/metrics", nil)
	if err == nil && answer.StatusCode == http.StatusOK && bytes.Contains(body, []byte("# HELP")) {
		r.warn("metrics", "Give PARLANCE_METRICS_LISTEN an address of its own, or let the proxy answer 404.", "everybody can read /metrics")
		return
	}
	r.ok("metrics", "/metrics is not open to everybody")
}
