package sessions

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// newEndCounter returns the counter of closed sessions; a nil registry does not export it.
func newEndCounter(registry prometheus.Registerer) *prometheus.CounterVec {
	return promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "parlance_sessions_ended_total", Help: "Sessions closed, by status and reason; reasons that callers make up are other.",
	}, []string{telemetry.KeyStatus, telemetry.KeyReason})
}

// countEnd counts the end of a session.
func countEnd(ended *prometheus.CounterVec, session Session) {
	reason := session.EndReason
	switch reason {
	case ReasonEndedByAPI, ReasonEndCall, ReasonHangUp, ReasonNoTurns, ReasonIdle, ReasonMaxDuration, ReasonDisconnected,
		ReasonExpired, ReasonInternal, ReasonBudget:
	default:
		reason = "other" // callers set any reason
	}
	ended.WithLabelValues(string(session.Status), reason).Inc()
}
