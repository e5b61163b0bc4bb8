package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/telemetry"
)

// Source of these numbers: decisions, Webhooks; design, Events, outbox, queue.
const (
	readBytes  = 16 << 10
	storeBytes = 4 << 10
	errorBytes = 500
)

// verdict is what an answer means.
type verdict uint8

const (
	verdictRetry verdict = iota
	verdictSucceeded
	verdictFinal
	// verdictGone is a final failure which disables the endpoint.
	verdictGone
)

// answer is what came back from an endpoint, or that nothing did (StatusCode 0).
type answer struct {
	verdict         verdict
	StatusCode      int
	Error           string
	RequestHeaders  map[string]string
	ResponseHeaders map[string]string
	ResponseBody    string
	Duration        time.Duration
	RetryAfter      time.Duration
	// unreachable: no connection, or no answer in time. What the breaker counts.
	unreachable bool
}

// send makes one attempt. abandoned says that ctx ended first, so that nobody knows whether
// the endpoint got the request.
func (s *Service) send(ctx context.Context, target string, m message, keys keys) (a answer, abandoned bool) {
	start := s.now()
	defer func() { a.Duration = s.now().Sub(start) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(m.Body))
	if err != nil {
		return answer{verdict: verdictFinal, Error: "The URL cannot be called.", RequestHeaders: flat(nil)}, false
	}
	request.Header = headers(m, keys)
	telemetry.Propagate(ctx, request.Header)
	a.RequestHeaders, a.ResponseHeaders = flat(request.Header), flat(nil)
	// What the customer keeps secret is written down nowhere, also when the endpoint echoes it.
	defer func() { a.hide(keys.headers) }()
	response, err := s.client.Do(request)
	if err != nil {
		a.Error, a.unreachable = describe(err)
		return a, ctx.Err() != nil
	}
	defer func() { _ = response.Body.Close() }() // what matters has been read
	// The status is the answer; a body that breaks off takes nothing from it.
	body, _ := io.ReadAll(io.LimitReader(response.Body, readBytes))
	a.StatusCode = response.StatusCode
	a.ResponseHeaders = flat(response.Header)
	a.ResponseBody = text(body[:min(len(body), storeBytes)])
	a.RetryAfter = retryAfter(response.Header, s.now())
	a.verdict, a.Error = judge(response.StatusCode)
	return a, false
}

// hidden stands where the value of a customer's header was.
const hidden = "REDACTED"

// minHidden is how long a value must be to be looked for in an answer: "1" is no secret.
const minHidden = 6

// hide takes the values of the customer's own headers out of what is written down.
func (a *answer) hide(own map[string]string) {
	for name, value := range own {
		a.RequestHeaders[name] = hidden
		if len(value) < minHidden {
			continue
		}
		a.ResponseBody = strings.ReplaceAll(a.ResponseBody, value, hidden)
		a.Error = strings.ReplaceAll(a.Error, value, hidden)
		for header, text := range a.ResponseHeaders {
			a.ResponseHeaders[header] = strings.ReplaceAll(text, value, hidden)
		}
	}
}

// judge says what a status means. Source: decisions, Webhooks.
func judge(status int) (verdict, string) {
	switch {
	case status >= 200 && status < 300:
		return verdictSucceeded, ""
	case status == http.StatusGone:
		return verdictGone, "The endpoint answered 410 Gone."
	case status < 200: // no answer of HTTP: something stands before the endpoint that does not speak it
		return verdictRetry, "The endpoint answered " + statusText(status) + ", which ends no request."
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		return verdictRetry, "The endpoint answered " + statusText(status) + "."
	case status >= 300 && status < 400:
		return verdictFinal, "The endpoint answered " + statusText(status) + "; redirects are not followed."
	default:
		return verdictFinal, "The endpoint answered " + statusText(status) + "."
	}
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// describe says in words why there was no answer. It never names the address behind a name.
func describe(err error) (words string, unreachable bool) {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	timeout, isNet := errors.AsType[net.Error](err)
	_, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, publicnet.ErrNotPublic):
		return "The host does not resolve to a public address.", false
	case isDNS:
		return "The host name does not resolve.", false
	case errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		return "The endpoint did not answer in time.", true
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The endpoint refused the connection.", true
	case errors.Is(err, publicnet.ErrUnserved):
		return "The endpoint took the request several times and ended it each time without processing it.", false
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "The endpoint closed the connection without an answer.", false
	}
	words = "The request failed: " + text([]byte(err.Error()))
	return words[:min(len(words), errorBytes)], false
}

// flat keeps the first value of each header.
func flat(h http.Header) map[string]string {
	first := make(map[string]string, len(h))
	for name := range h {
		first[name] = text([]byte(h.Get(name)))
	}
	return first
}

// text makes bytes fit for Postgres: valid UTF-8 without NUL. A character cut at the end goes.
func text(b []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}
