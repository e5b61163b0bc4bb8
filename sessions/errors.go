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

// modelFailed says nothing of the model's server.
const modelFailed = "The model could not answer. Try again."

// planRefused says nothing of the plan.
const planRefused = "The agent cannot answer now. Tell whoever runs it."

// ForEndUser is an error as an end user sees it, who has a session's token or socket. What it says
// of the model's server (provider, credential, address) and of the tenant's plan is for the
// operator, who finds it in the turn, the receipt and the log.
func ForEndUser(err *fault.Error) *fault.Error {
	if err == nil {
		return nil
	}
	message := modelFailed
	switch err.Reason {
	case fault.UpstreamFailed:
	case fault.PlanModelNotEnabled, fault.QuotaUsage:
		message = planRefused
	default:
		return err
	}
	neutral := fault.Wrap(err, err.Reason, "%s", message)
	neutral.RetryAfter = err.RetryAfter
	return neutral
}

// UpstreamFault returns upstream-failed for an error of a model. It keeps the message of a fault
// that is meant for callers, and the refusal of a model that the plan does not have.
func UpstreamFault(err error) error {
	decided := postgres.Decide(err)
	if decided.Reason == fault.PlanModelNotEnabled {
		return decided
	}
	message := modelFailed
	if decided.Reason == fault.UpstreamFailed || decided.Reason == fault.ServiceUnavailable {
		message = decided.Message
	}
	failed := fault.Wrap(err, fault.UpstreamFailed, "%s", message)
	failed.Meta, failed.RetryAfter = decided.Meta, decided.RetryAfter
	return failed
}
