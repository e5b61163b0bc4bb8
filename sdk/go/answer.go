package parlance

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// maxAnswerBytes limits the answer to an upload, and what is read of a refusal.
const maxAnswerBytes = 1 << 20

// transport makes the requests of the generated clients. What it returns is an answer of a Parlance
// service; every other answer, as of a proxy in between, is an *Error.
type transport struct{ http *http.Client }

// Do implements connect.HTTPClient.
func (t transport) Do(req *http.Request) (*http.Response, error) {
	resp, err := t.http.Do(req) //nolint:gosec // the caller says which service it calls
	if err != nil || isAnswer(req, resp) {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	text, err := readText(resp)
	if err != nil && req.Context().Err() != nil { // else the status says enough
		return nil, err
	}
	var refusal struct {
		Code    connect.Code // fails for one that Connect does not have
		Message string
	}
	if mediaType(resp.Header) != "application/json" || json.Unmarshal(text, &refusal) != nil || refusal.Code == 0 {
		return nil, problemOf(resp, text)
	}
	switch mediaType(req.Header) {
	case "", "application/proto", "application/json":
		resp.Body = io.NopCloser(bytes.NewReader(text))
		return resp, nil
	}
	// The package connect does not read such a refusal of a stream.
	return nil, &Error{
		Reason: reasonOf(refusal.Code), Message: refusal.Message, RequestID: resp.Header.Get(requestIDHeader),
		RetryAfter: retryAfter(resp.Header), Code: refusal.Code, HTTPStatus: resp.StatusCode, answered: true,
	}
}

// isAnswer reports whether an answer is of the kind that the request asks for. The refusals of
// Connect are not.
func isAnswer(req *http.Request, resp *http.Response) bool {
	asked, got := mediaType(req.Header), mediaType(resp.Header)
	switch {
	case resp.StatusCode != http.StatusOK:
		return false
	case asked == "": // a call by HTTP GET
		return got == "application/proto" || got == "application/json"
	case strings.HasPrefix(asked, "application/grpc"): // the encoding may be left out
		return strings.HasPrefix(got, "application/grpc")
	}
	return got == asked
}

// mediaType is the Content-Type without its parameters.
func mediaType(header http.Header) string {
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readText reads a refusal, and unpacks it: the package connect asks for gzip.
func readText(resp *http.Response) ([]byte, error) {
	body := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("unpack the answer: %w", err)
		}
		resp.Header.Del("Content-Encoding")
		body = unpacked
	}
	return io.ReadAll(io.LimitReader(body, maxAnswerBytes))
}

// problemOf is the error of an answer that is not the one that was asked for: a problem of RFC
// 9457, which the service answers, or the answer of a proxy or of another service.
func problemOf(resp *http.Response, answer []byte) *Error {
	out := &Error{
		Code: codeOf(resp.StatusCode), HTTPStatus: resp.StatusCode, RetryAfter: retryAfter(resp.Header), answered: true,
		RequestID: resp.Header.Get(requestIDHeader),
	}
	var problem struct {
		Code, Detail, Title string
		Errors              []struct{ Field, Code, Message string }
	}
	err := json.Unmarshal(answer, &problem) // fails for one that the package websocket has cut off
	if mediaType(resp.Header) == "application/problem+json" && (problem.Code != "" || err != nil) {
		out.Reason = cmp.Or(Reason(problem.Code), reasonOf(out.Code))
		out.Message = cmp.Or(problem.Detail, problem.Title, resp.Status)
		for _, field := range problem.Errors {
			out.Fields = append(out.Fields, FieldError(field))
		}
		return out
	}
	out.foreign, out.Reason = true, foreignReason(resp.StatusCode)
	kind := mediaType(resp.Header)
	if _, _, err := mime.ParseMediaType(kind); err != nil {
		kind = "of no type"
	}
	out.Message = foreignMessage(resp.StatusCode, kind)
	return out
}

func foreignMessage(status int, kind string) string {
	return fmt.Sprintf("The answer (HTTP %d, %s) is not that of a Parlance service: "+
		"look at the base URL and what is in between.", status, kind)
}

// foreignReason is the reason of an answer that is not the service's.
func foreignReason(status int) Reason {
	switch status {
	case http.StatusUnauthorized:
		return ReasonAuthInvalidKey
	case http.StatusForbidden:
		return ReasonAuthScope
	case http.StatusNotFound:
		return ReasonNotFound
	case http.StatusRequestTimeout:
		return ReasonDeadlineExceeded
	case http.StatusRequestEntityTooLarge:
		return ReasonBodyTooLarge
	case http.StatusUnsupportedMediaType:
		return ReasonUnsupportedMediaType
	case http.StatusTooManyRequests:
		return ReasonRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ReasonUnavailable
	}
	return ReasonNotParlance
}

// mayMend reports whether time may mend what a proxy answers.
func mayMend(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// codeOf is the Connect code nearest to an HTTP status.
func codeOf(status int) connect.Code {
	switch status {
	case http.StatusUnauthorized:
		return connect.CodeUnauthenticated
	case http.StatusForbidden:
		return connect.CodePermissionDenied
	case http.StatusNotFound:
		return connect.CodeNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return connect.CodeAborted
	case http.StatusPaymentRequired, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return connect.CodeResourceExhausted
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		return connect.CodeUnimplemented
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return connect.CodeDeadlineExceeded
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return connect.CodeUnavailable
	case http.StatusInternalServerError:
		return connect.CodeInternal
	}
	if status < http.StatusBadRequest { // a redirect, or a page
		return connect.CodeUnknown
	}
	return connect.CodeInvalidArgument
}

// retryAfter reads Retry-After: seconds, also with a fraction, or a date. 0 without one.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err == nil && seconds >= 0 && seconds <= math.MaxInt32:
		return time.Duration(seconds * float64(time.Second))
	case err == nil, errors.Is(err, strconv.ErrRange):
		return 0
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, time.Until(date)) //nolint:forbidigo // it is compared with the clock of another machine anyway
}
