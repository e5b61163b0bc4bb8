package sessions

import (
	"errors"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// ErrLeaseLost is why a turn was stopped whose lease another node had taken.
var ErrLeaseLost = errors.New("another node took over the turn")

// ErrLost tells a client that the node that was answering is lost.
func ErrLost() *fault.Error {
	return fault.New(fault.ServiceUnavailable, "The server that answered was lost. Another answer follows.")
}

// ErrLeaseExpired tells a caller that this node's turn was stopped because its lease had expired.
func ErrLeaseExpired() error {
	return fault.Wrap(ErrLeaseLost, fault.ServiceUnavailable, "The turn was taken for lost and has been stopped. Send it again.")
}

// UpstreamFault returns upstream-failed for an error of a model. It keeps the message of a fault
// that is meant for callers.
func UpstreamFault(err error) error {
	decided := postgres.Decide(err)
	message := "The model could not answer. Try again."
	if decided.Reason == fault.UpstreamFailed || decided.Reason == fault.ServiceUnavailable {
		message = decided.Message
	}
	failed := fault.Wrap(err, fault.UpstreamFailed, "%s", message)
	failed.Meta, failed.RetryAfter = decided.Meta, decided.RetryAfter
	return failed
}
