package doctor

import (
	"context"
	"time"

	"parlance.dev/parlance/app"
)

// slowRerank is a delay that a waiting person notices.
const slowRerank = time.Second

// checkReranker has the server rank two sentences, one of which answers the question.
func checkReranker(ctx context.Context, d Deps, r *report) {
	if d.Config.Rerank.BaseURL == "" {
		r.skip("call", "not configured: passages stay in the order of their ranking")
		return
	}
	const advice = "See that PARLANCE_RERANK_BASE_URL (POST …/rerank is below it), _NAME and _API_KEY are right and the " +
		"server runs. Until then the order stays as it is."
	server, err := app.DefaultReranker(d.Config)
	if err != nil {
		r.fail("call", advice, "%v", err)
		return
	}
	began := d.Now()
	ranked, err := server.Rerank(ctx, "When do boats leave the harbour", []string{
		"Roses are cut in March.",
		"Boats leave the harbour at noon.",
	})
	took := d.Now().Sub(began).Round(time.Millisecond)
	switch {
	case err != nil:
		r.fail("call", advice, "%s: %v", d.Config.Rerank.Name, err)
	case ranked[0].Index != 1:
		r.warn("call", "See that PARLANCE_RERANK_NAME is a reranking model.",
			"%s puts a sentence about roses before one about boats, when asked about boats", d.Config.Rerank.Name)
	case took > slowRerank:
		r.warn("call",
			"Give the server more, or take a smaller model: with 30 passages it takes longer, and after 5 s it is not waited "+
				"for.", "%s ordered two sentences in %s", d.Config.Rerank.Name, took)
	default:
		r.ok("call", "%s ordered two sentences in %s", d.Config.Rerank.Name, took)
	}
}
