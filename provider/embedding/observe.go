package embedding

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"parlance.dev/parlance/platform/telemetry"
)

// Observe gives embedders whose calls are traced and measured. Texts are never in a span.
func Observe(registry prometheus.Registerer, now func() time.Time, embedders ...Embedder) []Embedder {
	requests := promauto.With(registry).NewHistogramVec(prometheus.HistogramOpts{
		Name: "parlance_embedding_request_duration_seconds", Help: "Calls of the embedder, of any number of texts; result is ok or the " +
			"error's reason.",
		Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60},
	}, []string{telemetry.KeyResult})
	all := make([]Embedder, len(embedders))
	for i, one := range embedders {
		all[i] = observed{Embedder: one, now: now, requests: requests}
	}
	return all
}

type observed struct {
	Embedder
	now      func() time.Time
	requests *prometheus.HistogramVec
}

// Embed implements Embedder.
func (o observed) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	name := o.Model().Name
	ctx, span := telemetry.Start(ctx, telemetry.Client, "embeddings "+name,
		telemetry.Text("gen_ai.operation.name", "embeddings"),
		telemetry.Text("gen_ai.request.model", name), telemetry.Number("parlance.texts", len(texts)))
	begun := o.now()
	vectors, err := o.Embedder.Embed(ctx, texts, kind)
	outcome := "ok"
	if err != nil {
		outcome = telemetry.ErrorType(err)
	}
	o.requests.WithLabelValues(outcome).Observe(o.now().Sub(begun).Seconds())
	span.End(err)
	return vectors, err
}
