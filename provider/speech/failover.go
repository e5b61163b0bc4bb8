package speech

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
)

// reasonOf is why a service did not do its work: the reason of its fault, or circuit-open.
func reasonOf(err error) string {
	decided := fault.From(err)
	if decided.Meta[metaWhy] == whyCircuitOpen {
		return whyCircuitOpen
	}
	return string(decided.Reason)
}

// failedOver counts and logs that another service is asked.
func failedOver(ctx context.Context, m *Metrics, log *slog.Logger, from, to string, err error) {
	m.failedOver(from, reasonOf(err))
	if log != nil {
		log.WarnContext(ctx, "speech service failed over", telemetry.KeyProvider, from, telemetry.KeyReason, reasonOf(err),
			telemetry.KeyError, fault.From(err).Message, "next", to)
	}
}

// allFailed is the fault when every service failed: unavailable if all were unavailable, else
// upstream-failed. RetryAfter is the shortest of theirs. A single failure is returned as it is.
func allFailed(what string, failures []error) error {
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
