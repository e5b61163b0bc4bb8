package speech

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// Metrics measures calls of transcribers and synthesizers. All of a process share it. The methods
// of a nil Metrics do nothing.
type Metrics struct {
	transcripts *prometheus.HistogramVec
	heard       *prometheus.CounterVec
	firstAudio  *prometheus.HistogramVec
	spoken      *prometheus.CounterVec
	speeches    *prometheus.CounterVec
	failovers   *prometheus.CounterVec
	opens       *prometheus.CounterVec
}

// NewMetrics makes and registers the metrics. The label provider is the Name of the transcriber or
// synthesizer.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	seconds := []float64{0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2, 3, 5, 10}
	registered := promauto.With(registry)
	provider, result, reason := telemetry.KeyProvider, telemetry.KeyResult, telemetry.KeyReason
	return &Metrics{
		transcripts: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_speech_transcript_seconds",
			Help:    "From the end of an utterance to its transcript; result is ok or the error's reason.",
			Buckets: seconds,
		}, []string{provider, result}),
		heard: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_speech_heard_seconds_total", Help: "Audio that transcribers were sent.",
		}, []string{provider}),
		firstAudio: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parlance_speech_first_audio_seconds", Help: "Calls of synthesizers to their first samples.", Buckets: seconds,
		}, []string{provider}),
		spoken: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_speech_spoken_characters_total", Help: "Characters that synthesizers were asked to speak.",
		}, []string{provider}),
		speeches: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_speech_syntheses_total", Help: "Calls of synthesizers; result is ok or the error's reason.",
		}, []string{provider, result}),
		failovers: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_speech_failovers_total",
			Help: "Utterances and sentences for which another service was asked; reason is the error's or circuit-open.",
		}, []string{provider, reason}),
		opens: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_speech_circuits_opened_total",
			Help: "Times that a service was left alone for a while after failures in a row.",
		}, []string{provider}),
	}
}

func (m *Metrics) transcript(provider string, err error, took time.Duration) {
	if m != nil {
		m.transcripts.WithLabelValues(provider, outcomeOf(err)).Observe(took.Seconds())
	}
}

func (m *Metrics) wrote(provider string, samples int) {
	if m != nil {
		m.heard.WithLabelValues(provider).Add(float64(samples) / HearingRate)
	}
}

func (m *Metrics) firstPiece(provider string, took time.Duration) {
	if m != nil {
		m.firstAudio.WithLabelValues(provider).Observe(took.Seconds())
	}
}

func (m *Metrics) spoke(provider string, err error, characters int) {
	if m != nil {
		m.speeches.WithLabelValues(provider, outcomeOf(err)).Inc()
		m.spoken.WithLabelValues(provider).Add(float64(characters))
	}
}

func (m *Metrics) failedOver(provider, reason string) {
	if m != nil {
		m.failovers.WithLabelValues(provider, reason).Inc()
	}
}

func (m *Metrics) opened(provider string) {
	if m != nil {
		m.opens.WithLabelValues(provider).Inc()
	}
}

func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	return telemetry.ErrorType(err)
}
