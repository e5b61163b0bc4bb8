package speech

import (
	"context"
	"log/slog"

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
