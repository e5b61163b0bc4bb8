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
	"parlance.dev/parlance/platform/redact"
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

// answer is an endpoint's answer, or the lack of one (StatusCode 0).
type answer struct {
	verdict         verdict
	StatusCode      int
	Error           string
	RequestHeaders  map[string]string
	ResponseHeaders map[string]string
	ResponseBody    string
	Duration        time.Duration
	RetryAfter      time.Duration
	// unreachable: no connection, or no answer in time. The circuit breaker counts these.
	unreachable bool
}

// send makes one attempt. abandoned says that ctx ended first, so that it is unknown whether the
// endpoint got the request.
func (s *Service) send(ctx context.Context, target string, m message, keys keys) (a answer, abandoned bool) {
	start := s.now()
	defer func() { a.Duration = s.now().Sub(start) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(m.Body))
	if err != nil {
		return answer{verdict: verdictFinal, Error: "The URL cannot be called.", RequestHeaders: firstValues(nil)}, false
	}
	request.Header = headers(m, keys)
	telemetry.Propagate(ctx, request.Header)
	a.RequestHeaders, a.ResponseHeaders = firstValues(request.Header), firstValues(nil)
	for name := range keys.headers {
		a.RequestHeaders[name] = redact.Placeholder
	}
	echo := echoOf(keys.headers)
	response, err := s.client.Do(request)
	if err != nil {
		a.Error, a.unreachable = describe(err)
		a.Error = echo.Text(a.Error)
		return a, ctx.Err() != nil
	}
	defer func() { _ = response.Body.Close() }()
	// The status is the answer, also when the body breaks off.
	body, _ := io.ReadAll(io.LimitReader(response.Body, readBytes))
	a.StatusCode = response.StatusCode
	a.ResponseHeaders = echo.Values(firstValues(response.Header))
	a.ResponseBody = beginning(echo, body)
	a.RetryAfter = retryAfter(response.Header, s.now())
	a.verdict, a.Error = judge(response.StatusCode)
	return a, false
}

// echoOf removes the customer's headers from what an endpoint sends back.
func echoOf(own map[string]string) redact.Redactor {
	var secrets []string
	for _, value := range own {
		secrets = append(secrets, redact.Header(value)...)
	}
	return redact.New(secrets)
}

// beginning returns what is recorded of a body. Secrets are removed before it is cut, because half
// a secret would not be found.
func beginning(echo redact.Redactor, body []byte) string {
	if len(body) == readBytes {
		body = echo.Partial(body)
	}
	clean := echo.Text(string(body))
	return strings.ToValidUTF8(clean[:min(len(clean), storeBytes)], "") // the cut may go through a character
}

// judge says what a status means. Source: decisions, Webhooks.
func judge(status int) (verdict, string) {
	switch {
	case status >= 200 && status < 300:
		return verdictSucceeded, ""
	case status == http.StatusGone:
		return verdictGone, "The endpoint answered 410 Gone."
	case status < 200: // not the answer to a request: a broken proxy in front of the endpoint
		return verdictRetry, "The endpoint answered " + statusText(status) + ", which ends no request."
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
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

// describe returns a sentence on why there was no answer. It never has the address of a host name.
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

// firstValues returns the first value of each header.
func firstValues(h http.Header) map[string]string {
	first := make(map[string]string, len(h))
	for name := range h {
		first[name] = text([]byte(h.Get(name)))
	}
	return first
}

// text replaces what Postgres does not store in text: invalid UTF-8 and NUL.
func text(b []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
}
