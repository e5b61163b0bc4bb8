package knowledge

import (
	"context"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/telemetry"
)

// rerankCandidates is how many chunks the reranking server is shown.
const rerankCandidates = 30

// Reranked says what a reranking came to.
type Reranked string

// What a reranking comes to.
const (
	// RerankNone: it was not asked for, or there was nothing to order.
	RerankNone Reranked = ""
	// RerankDone: the chunks are in the server's order.
	RerankDone Reranked = "done"
	// RerankFailed: the server failed or was too slow; the order is the one from before.
	RerankFailed Reranked = "failed"
	// RerankUnset: no server is configured.
	RerankUnset Reranked = "not_configured"
)

// rerank has the server order what was found. An answer in the order from before is better than
// none, so a failure is logged, counted and said, and nothing more.
func (s *Service) rerank(ctx context.Context, p QueryParams, found []Found) ([]Found, Reranked) {
	switch {
	case !p.Rerank || len(found) == 0:
		return found, RerankNone
	case s.reranker == nil:
		return found, RerankUnset
	}
	texts := make([]string, len(found))
	for i, one := range found {
		texts[i] = one.EmbeddedText()
	}
	ctx, span := telemetry.Start(ctx, telemetry.Client, "rerank", telemetry.Number("parlance.texts", len(texts)))
	begun := s.now()
	ranked, err := s.reranker.Rerank(ctx, p.Question, texts)
	observe(s.metrics.reranking, s.now().Sub(begun), err)
	span.End(err)
	if err != nil {
		s.log.WarnContext(ctx, "passages not reranked", telemetry.KeyReason, string(fault.ReasonOf(err)), telemetry.KeyError, err)
		return found, RerankFailed
	}
	ordered := make([]Found, len(ranked))
	for i, one := range ranked {
		ordered[i] = found[one.Index]
		ordered[i].Scores.Rerank = &ranked[i].Score
	}
	return slices.Clip(ordered), RerankDone
}
