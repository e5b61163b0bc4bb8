package voice

import (
	"context"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// LatencyFunc keeps how long the beginning of a turn's answer took. It may be called again.
type LatencyFunc func(ctx context.Context, tenant workspaces.TenantID, turn sessions.TurnID, speech sessions.SpeechMetrics) error

// noteLatency has the latency of an answer kept.
func (c *Call) noteLatency(turn sessions.TurnID, t Timing) {
	keep := c.s.deps.LatencyFunc
	if keep == nil {
		return
	}
	tenant := c.session.TenantID
	speech := sessions.SpeechMetrics{
		EndpointingMS: t.EndpointMS, TranscriptMS: t.TranscriptMS, FirstTokenMS: t.FirstTokenMS, FirstAudioMS: t.FirstAudioMS,
	}
	c.s.notes.add(func(ctx context.Context) error { return keep(ctx, tenant, turn, speech) })
}
