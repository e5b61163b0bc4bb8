package sessions

import (
	"github.com/prometheus/client_golang/prometheus"

	"parlance.dev/parlance/platform/telemetry"
)

// otherReason is the label of all reasons that callers set.
const otherReason = "other"

// endCounter counts the sessions that were closed.
type endCounter struct{ ended *prometheus.CounterVec }

// newEndCounter registers the counter; with a nil registry it is not exported.
func newEndCounter(registry prometheus.Registerer) endCounter {
	c := endCounter{ended: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_sessions_ended_total", Help: "Sessions closed, by status and reason; reasons that callers make up are other.",
	}, []string{telemetry.KeyStatus, telemetry.KeyReason})}
	if registry != nil {
		registry.MustRegister(c.ended)
	}
	return c
}

// closed counts the end of a session.
func (c endCounter) closed(session Session) {
	reason := session.EndReason
	switch reason {
	case ReasonEndedByAPI, ReasonEndCall, ReasonHangUp, ReasonNoTurns, ReasonIdle, ReasonMaxDuration, ReasonDisconnected,
		ReasonExpired, ReasonInternal:
	default:
		reason = otherReason
	}
	c.ended.WithLabelValues(string(session.Status), reason).Inc()
}
