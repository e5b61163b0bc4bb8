package fault

import (
	"net/http"

	"connectrpc.com/connect"
)

// Kind is the sort of a failure. The zero value is Internal.
type Kind uint8

// The kinds, each with one fixed Connect code and one fixed REST status (see kinds).
const (
	Internal Kind = iota
	Invalid
	UnsupportedMedia
	TooLarge
	Unauthenticated
	Forbidden
	NotFound
	NoRoute
	MethodNotAllowed
	AlreadyExists
	Precondition
	Aborted
	// Outdated: the caller changes another version than there is. The code is the one gRPC has for a
	// failed test-and-set.
	Outdated
	QuotaExceeded
	RateLimited
	Upstream
	Unavailable
	Timeout
	Canceled
	Unimplemented
)

// statusClientClosedRequest is the status of nginx for a caller that hung up; net/http has no name
// for it.
const statusClientClosedRequest = 499

// kinds maps each Kind to its wire forms. The Connect column's own HTTP status is fixed by
// that protocol, so 402, 413, 415 and 502 exist on the REST facade only.
var kinds = [...]struct {
	name      string
	code      connect.Code
	status    int
	retryable bool
}{
	Internal:         {"internal", connect.CodeInternal, http.StatusInternalServerError, true},
	Invalid:          {"invalid", connect.CodeInvalidArgument, http.StatusBadRequest, false},
	UnsupportedMedia: {"unsupported_media", connect.CodeInvalidArgument, http.StatusUnsupportedMediaType, false},
	TooLarge:         {"too_large", connect.CodeResourceExhausted, http.StatusRequestEntityTooLarge, false},
	Unauthenticated:  {"unauthenticated", connect.CodeUnauthenticated, http.StatusUnauthorized, false},
	Forbidden:        {"forbidden", connect.CodePermissionDenied, http.StatusForbidden, false},
	NotFound:         {"not_found", connect.CodeNotFound, http.StatusNotFound, false},
	NoRoute:          {"no_route", connect.CodeUnimplemented, http.StatusNotFound, false},
	MethodNotAllowed: {"method_not_allowed", connect.CodeUnimplemented, http.StatusMethodNotAllowed, false},
	AlreadyExists:    {"already_exists", connect.CodeAlreadyExists, http.StatusConflict, false},
	Precondition:     {"precondition", connect.CodeFailedPrecondition, http.StatusConflict, false},
	Aborted:          {"aborted", connect.CodeAborted, http.StatusConflict, true},
	Outdated:         {"outdated", connect.CodeAborted, http.StatusPreconditionFailed, false},
	QuotaExceeded:    {"quota_exceeded", connect.CodeResourceExhausted, http.StatusPaymentRequired, false},
	RateLimited:      {"rate_limited", connect.CodeResourceExhausted, http.StatusTooManyRequests, true},
	Upstream:         {"upstream", connect.CodeUnavailable, http.StatusBadGateway, true},
	Unavailable:      {"unavailable", connect.CodeUnavailable, http.StatusServiceUnavailable, true},
	Timeout:          {"timeout", connect.CodeDeadlineExceeded, http.StatusGatewayTimeout, true},
	Canceled:         {"canceled", connect.CodeCanceled, statusClientClosedRequest, true},
	Unimplemented:    {"unimplemented", connect.CodeUnimplemented, http.StatusNotImplemented, false},
}

// String is the kind's snake_case name, for logs and metrics.
func (k Kind) String() string { return kinds[k].name }

// Code is the Connect (and gRPC) code of the kind.
func (k Kind) Code() connect.Code { return kinds[k].code }

// Status is the HTTP status of the kind on the REST facade.
func (k Kind) Status() int { return kinds[k].status }

// Retryable reports whether the same work may succeed later without being changed; the worker
// retries such tasks and gives up on the others.
func (k Kind) Retryable() bool { return kinds[k].retryable }
