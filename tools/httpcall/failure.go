package httpcall

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/tools/failure"
)

// Failure says why the call failed. It is nil for a call that succeeded. caller is the context of
// the caller, ctx that of the call, which ends after timeout. The text of the error is never used:
// it has the URL, which may have a secret.
func (a Answer) Failure(caller, ctx context.Context, timeout time.Duration) *failure.Error {
	switch err := a.err; {
	case err == nil:
		return StatusFailure(a.Status)
	case caller.Err() != nil:
		return failure.New(failure.Canceled, "The call was cancelled before the tool answered; whether it took effect is not known.")
	case ctx.Err() != nil:
		return failure.New(failure.Timeout, "The tool did not answer within %d seconds; whether it took effect is not known. "+
			"Tell the user, and do not repeat the call unless they ask.", int(timeout.Seconds()))
	case errors.Is(err, publicnet.ErrNotPublic):
		return failure.New(failure.NotPublic, "The tool's host has an address that is not public, so it was not called. "+
			"Tell the user that this is not possible right now.")
	case errors.Is(err, publicnet.ErrURL):
		return failure.New(failure.RequestInvalid, "The tool's URL cannot be called with these values. "+
			"Check the arguments, or tell the user that this is not possible right now.")
	case isUnknownHost(err):
		return failure.New(failure.Unresolvable,
			"The tool's host name does not resolve. Tell the user that this is not possible right now.")
	case a.connections > 0 && !Idempotent(a.method):
		return failure.New(failure.ConnectionFailed, "The connection to the tool broke before its answer was complete (%s); "+
			"whether it took effect is not known. Tell the user, and do not repeat the call unless they ask.", a.connectionDetail())
	default:
		return failure.New(failure.ConnectionFailed, "The tool could not be reached (%s). "+
			"Tell the user that this is not possible right now; it may work later.", a.connectionDetail())
	}
}

// connectionDetail describes a connection failure for an operator, without addresses.
func (a Answer) connectionDetail() string {
	if errno, ok := errors.AsType[syscall.Errno](a.err); ok {
		return errno.Error()
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](a.err); ok {
		return "its certificate is not valid: " + certificate.Err.Error()
	}
	var timeout net.Error
	switch {
	case errors.As(a.err, &timeout) && timeout.Timeout():
		return "the connection timed out"
	case a.Status != 0:
		return "the answer broke off"
	case errors.Is(a.err, io.EOF), errors.Is(a.err, io.ErrUnexpectedEOF):
		return "the connection was closed without an answer"
	}
	return "the connection failed"
}

// StatusFailure says why an answer with a status is a failure. It is nil for 2xx.
func StatusFailure(status int) *failure.Error {
	text := strconv.Itoa(status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return failure.New(failure.HTTPStatus, "The tool answered %s; redirects are not followed. "+
			"Tell the user that this is not possible right now.", text)
	case status == http.StatusTooManyRequests || status >= 500:
		return failure.New(failure.HTTPStatus, "The tool answered %s. "+
			"Tell the user that this is not possible right now; it may work later.", text)
	default:
		return failure.New(failure.HTTPStatus, "The tool answered %s. Read its answer: if the arguments were wrong, "+
			"correct them and call the tool again; otherwise tell the user.", text)
	}
}

// isConnectionFailure says whether a failure may be temporary.
func isConnectionFailure(err error) bool {
	if errors.Is(err, publicnet.ErrNotPublic) || errors.Is(err, publicnet.ErrURL) || isUnknownHost(err) {
		return false
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	return !badCertificate
}

func isUnknownHost(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return ok && dns.IsNotFound
}
