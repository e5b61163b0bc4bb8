package doctor_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/test/fake/rerank"
)

func TestReranker(t *testing.T) {
	t.Parallel()
	in := install(t)
	wants(t, in.examine(t, "reranker", nil), "call", doctor.Skipped, "not configured")
	server := rerank.Start(t)
	in = in.with("PARLANCE_RERANK_BASE_URL", server.URL, "PARLANCE_RERANK_NAME", rerank.Model, "PARLANCE_RERANK_API_KEY", rerank.APIKey)
	standing := func(d *doctor.Deps) { d.Now = func() time.Time { return time.Unix(0, 0) } }
	wants(t, in.examine(t, "reranker", standing), "call", doctor.OK, rerank.Model+" ordered two sentences")
	passing := func(d *doctor.Deps) {
		at := time.Unix(0, 0)
		d.Now = func() time.Time { at = at.Add(2 * time.Second); return at }
	}
	if wants(t, in.examine(t, "reranker", passing), "call", doctor.Warning, "in 2s") == "" {
		t.Error("a slow server comes without advice")
	}
	local := in.with("PARLANCE_RERANK_BASE_URL", rerank.StartTEI(t).URL, "PARLANCE_RERANK_API_KEY", "")
	wants(t, local.examine(t, "reranker", standing), "call", doctor.OK, rerank.Model+" ordered two sentences")
	for name, broken := range map[string]installation{
		"key":   in.with("PARLANCE_RERANK_API_KEY", "wrong"),
		"model": in.with("PARLANCE_RERANK_NAME", "no-such-model"),
		"place": in.with("PARLANCE_RERANK_BASE_URL", "http://127.0.0.1:1/v1"),
	} {
		if advice := wants(t, broken.examine(t, "reranker", nil), "call", doctor.Failed, ""); advice == "" {
			t.Errorf("%s: no advice", name)
		}
	}
}
