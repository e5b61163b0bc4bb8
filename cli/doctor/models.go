package doctor

import (
	"context"
	"time"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/extractive"
)

func checkModel(ctx context.Context, d Deps, r *report) {
	provider, described, err := app.DefaultModel(ctx, d.Config)
	if err != nil {
		r.fail("call", "Correct PARLANCE_MODEL_*; `parlance models test` tries it alone.", "%v", err)
		return
	}
	if provider.Name() == extractive.Name {
		r.warn("call",
			"Set PARLANCE_MODEL_BASE_URL and PARLANCE_MODEL_NAME, or an API key, to let a language model answer.",
			"none is configured: answers come from %s", described)
		return
	}
	for _, step := range model.Probe(ctx, provider, d.Now) {
		if !step.OK {
			advice := step.Advice
			if advice == "" {
				advice = "Try it alone with `parlance models test`."
			}
			r.fail(step.Name, advice, "%s: %s", described, step.Detail)
			continue
		}
		r.ok(step.Name, "%s (%s, first piece after %s)", step.Detail, step.Took.Round(time.Millisecond), step.FirstToken.Round(time.Millisecond))
	}
}

func checkEmbedder(ctx context.Context, d Deps, r *report) {
	embedder, described, err := app.DefaultEmbedder(d.Config)
	if err != nil {
		r.fail("call", "Correct PARLANCE_EMBEDDING_*.", "%v", err)
		return
	}
	probed, err := embedding.Probe(ctx, embedder, d.Now)
	if err != nil {
		r.fail("call",
			"See that PARLANCE_EMBEDDING_BASE_URL (ending in /v1), _NAME and _API_KEY are right and the server runs.", "%s: %v", described, err)
		return
	}
	if d.Config.Embedding.BaseURL == "" {
		r.warn("call",
			"Set PARLANCE_EMBEDDING_BASE_URL and PARLANCE_EMBEDDING_NAME before there are many documents: a change embeds all "+
				"of them again.", "none is configured: passages are found by %s", described)
		return
	}
	r.ok("call", "%s gave a vector of %d numbers in %s", described, probed.Dimension, probed.Took.Round(time.Millisecond))
}
