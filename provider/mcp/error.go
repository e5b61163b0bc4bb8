package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parlance.dev/parlance/platform/publicnet"
)

// Kind is what went wrong.
type Kind string

// The kinds.
const (
	// Unreachable: there was no connection, or it broke.
	Unreachable Kind = "unreachable"
	// NotPublic: the host has an address that must not be called.
	NotPublic Kind = "not_public"
	// Unresolvable: the host name does not resolve.
	Unresolvable Kind = "unresolvable"
	// Status: an answer with an HTTP status other than 2xx.
	Status Kind = "status"
	// Timeout: no answer in time.
	Timeout Kind = "timeout"
	// Canceled: the caller gave up.
	Canceled Kind = "canceled"
	// TooLarge: the server sent more than is read.
	TooLarge Kind = "too_large"
	// Refused: the server answered with a JSON-RPC error.
	Refused Kind = "refused"
	// OtherOrigin: the server names an endpoint of another origin, which is not called.
	OtherOrigin Kind = "other_origin"
	// Protocol: the answer is not that of an MCP server.
	Protocol Kind = "protocol"
)

// Error is why a request failed. Its text has no URL and no header. Only Message comes from the
// server.
type Error struct {
	Kind Kind
	// Status is the HTTP status of the answer, 0 without one.
	Status int
	// Message is the text of a server that refused, at most maxMessageChars.
	Message string
	// Sent says that bytes of the request may have reached the server.
	Sent bool

	lost bool // the server does not know the session
}

const maxMessageChars = 1000

// Error implements error.
func (e *Error) Error() string {
	text := map[Kind]string{
		Unreachable:  "the server could not be reached",
		NotPublic:    "the server's host has an address that is not public",
		Unresolvable: "the server's host name does not resolve",
		Timeout:      "the server did not answer in time",
		Canceled:     "the caller gave up",
		TooLarge:     "the server's answer is too large",
		Refused:      "the server refused",
		OtherOrigin:  "the server announces an endpoint of another origin (scheme, host or port) than its URL, which is not called",
		Protocol:     "what answers does not speak MCP as it should",
		Status:       "the server answered " + strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))),
	}[e.Kind]
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

var (
	errTimeout     = errors.New("the time is over")
	errTooLarge    = errors.New("the answer is too large")
	errOtherOrigin = errors.New("the server names an endpoint of another origin")
)

// refusal is the JSON-RPC error of a server, or nil. The SDK also uses this type, with a code of
// its own, for requests that never reached the server.
func refusal(err error) *jsonrpc.Error {
	switch e := err.(type) { //nolint:errorlint // this function walks the tree of errors
	case nil:
		return nil
	case *jsonrpc.Error:
		if e.Code == codeRejected {
			return nil
		}
		return e
	case interface{ Unwrap() error }:
		return refusal(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if found := refusal(inner); found != nil {
				return found
			}
		}
	}
	return nil
}

// codeRejected is the code of the SDK for a request that its transport did not deliver.
const codeRejected = -32005

// classify converts an error of the SDK.
func classify(ctx context.Context, err error, x *exchange) *Error {
	out := &Error{Kind: Protocol, Status: int(x.status.Load()), Sent: x.connected.Load(), lost: x.lost.Load()}
	unsent := x.last()
	err = errors.Join(err, unsent) // the SDK does not wrap everything
	refused := refusal(err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	var timeout net.Error
	switch {
	case errors.Is(context.Cause(ctx), errTimeout), errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		out.Kind = Timeout
	case ctx.Err() != nil:
		out.Kind = Canceled
	case x.tooLarge.Load(), errors.Is(err, errTooLarge), strings.Contains(err.Error(), "SSE event exceeded"):
		out.Kind = TooLarge
	case errors.Is(err, publicnet.ErrNotPublic):
		out.Kind = NotPublic
	case errors.Is(err, errOtherOrigin):
		out.Kind = OtherOrigin
	case errors.Is(err, publicnet.ErrURL):
		out.Kind = Protocol
	case isDNS && dns.IsNotFound:
		out.Kind = Unresolvable
	case refused != nil:
		out.Kind, out.Message = Refused, cut(plain(refused.Message), maxMessageChars)
	case out.Status >= 300:
		out.Kind = Status
	case errors.As(err, &timeout) && timeout.Timeout(), unsent != nil, errors.Is(err, sdk.ErrConnectionClosed),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "without response"):
		out.Kind = Unreachable
	}
	return out
}
