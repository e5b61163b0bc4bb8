package voice

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// Metrics counts what calls do. The methods of a nil Metrics do nothing.
type Metrics struct {
	stages        *prometheus.HistogramVec
	falseStarts   *prometheus.CounterVec
	interruptions prometheus.Counter
	takenBacks    prometheus.Counter
	fillers       prometheus.Counter
	droppedTexts  *prometheus.CounterVec
}

// NewMetrics makes and registers the metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	registered := promauto.With(registry)
	return &Metrics{
		stages: registered.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parlance_voice_latency_seconds",
			Help:    "From the end of the user's speech; stage is endpoint, transcript, first_token or first_audio.",
			Buckets: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10},
		}, []string{"stage"}),
		falseStarts: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_voice_false_starts_total", Help: "Sounds that were taken for speech; reason says what they were.",
		}, []string{telemetry.KeyReason}),
		interruptions: registered.NewCounter(prometheus.CounterOpts{
			Name: "parlance_voice_interruptions_total", Help: "Answers that users interrupted by speaking.",
		}),
		takenBacks: registered.NewCounter(prometheus.CounterOpts{
			Name: "parlance_voice_answers_taken_back_total", Help: "Answers of which nothing was heard, because the user went on.",
		}),
		fillers: registered.NewCounter(prometheus.CounterOpts{
			Name: "parlance_voice_fillers_total", Help: "Fillers that were said because an answer took long.",
		}),
		droppedTexts: registered.NewCounterVec(prometheus.CounterOpts{
			Name: "parlance_voice_transcripts_dropped_total",
			Help: "Utterances that were not answered; reason is empty, or invented by the transcriber.",
		}, []string{telemetry.KeyReason}),
	}
}

func (m *Metrics) timed(t Timing) {
	if m == nil {
		return
	}
	for stage, ms := range map[string]int{
		"endpoint": t.EndpointMS, "transcript": t.TranscriptMS, "first_token": t.FirstTokenMS, "first_audio": t.FirstAudioMS,
	} {
		m.stages.WithLabelValues(stage).Observe((time.Duration(ms) * time.Millisecond).Seconds())
	}
}

func (m *Metrics) falseStart(reason string) {
	if m != nil {
		m.falseStarts.WithLabelValues(reason).Inc()
	}
}

func (m *Metrics) interrupted() {
	if m != nil {
		m.interruptions.Inc()
	}
}

func (m *Metrics) takenBack() {
	if m != nil {
		m.takenBacks.Inc()
	}
}

func (m *Metrics) filled() {
	if m != nil {
		m.fillers.Inc()
	}
}

func (m *Metrics) dropped(invented bool) {
	if m == nil {
		return
	}
	reason := "empty"
	if invented {
		reason = "invented"
	}
	m.droppedTexts.WithLabelValues(reason).Inc()
}
