package sessions

import (
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
)

// upstream is the fault for a model that could not answer.
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
