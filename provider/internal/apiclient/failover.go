package apiclient

import (
	"errors"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
)

// AllFailed is the fault when every service that was asked in turn has failed: unavailable if all
// were unavailable, else upstream-failed. RetryAfter is the shortest of theirs. A single failure is
// returned as it is. what begins its sentence.
func AllFailed(what string, failures []error) error {
	if len(failures) == 1 {
		return failures[0]
	}
	reason := fault.ServiceUnavailable
	sentences := make([]string, 0, len(failures))
	var retryAfter time.Duration
	for _, err := range failures {
		f := fault.From(err)
		if f.Reason != fault.ServiceUnavailable {
			reason = fault.UpstreamFailed
		}
		if f.RetryAfter > 0 && (retryAfter == 0 || f.RetryAfter < retryAfter) {
			retryAfter = f.RetryAfter
		}
		sentences = append(sentences, f.Message)
	}
	all := fault.Wrap(errors.Join(failures...), reason, "%s %s", what, strings.Join(sentences, " "))
	all.RetryAfter = retryAfter
	return all
}
