package scenario

import (
	"testing"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/provider/embedding/words"
	"parlance.dev/parlance/test/fake/rerank"
	"parlance.dev/parlance/test/harness"
)

// TestRankedQueryOverEveryProtocol: hybrid ranking, the reranking server's order, all scores and
// the explanation of a miss come over each protocol; a server that fails leaves the order from
// before.
func TestRankedQueryOverEveryProtocol(t *testing.T) {
	t.Parallel()
	server := rerank.Start(t)
	env := harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_RERANK_BASE_URL": server.URL, "PARLANCE_RERANK_API_KEY": rerank.APIKey, "PARLANCE_RERANK_NAME": rerank.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	ids := map[string]string{}
	for name, text := range map[string]string{
		"harbour": "The harbour is open to boats from six in the morning. Boats moor at the harbour's northern jetty.",
		"cellar":  "Old boats are kept near the harbour in the cellar; the cellar is dry, and the cellar has a lock.",
		"garden":  "Roses are cut in March.",
	} {
		ids[name] = env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"), map[string]any{
			"name":    name,
			"content": text,
		}).Must(t, 202).Text("id")
	}
	harness.Await(t, harness.Patience, "every source is ready", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == len(ids)
	})
	env.Do(t, "POST", env.Tenant.In("/agents/"+agent+"/knowledge-base/attach"),
		map[string]any{"source_ids": []string{ids["harbour"], ids["cellar"]}}).Must(t, 200)
	query := &parlancev1.QueryKnowledgeRequest{
		WorkspaceId: env.Tenant.WorkspaceID, AgentId: agent, Q: "harbour boats jetty cellar", Ranking: "hybrid", Rerank: true,
		ExplainSourceId: ids["garden"], // naming it is asking
	}
	for _, protocol := range harness.Protocols() {
		answer, err := env.Clients(t, protocol, env.Tenant.Runtime).Knowledge.QueryKnowledge(t.Context(), query)
		if err != nil {
			t.Errorf("%s: %v", protocol.Name, err)
			continue
		}
		if answer.GetRanking() != "hybrid" || answer.GetEmbeddingModel() != words.ModelName {
			t.Errorf("%s: ranked by %q, vectors of %q", protocol.Name, answer.GetRanking(), answer.GetEmbeddingModel())
		}
		if answer.GetRerank() != "done" || len(answer.GetChunks()) != 2 {
			t.Errorf("%s: got %v", protocol.Name, answer)
			continue
		}
		for i, chunk := range answer.GetChunks() {
			if chunk.GetSimilarity() <= 0 || chunk.GetSimilarityPlace() < 1 || chunk.GetWordPlace() < 1 ||
				chunk.GetWordScore() <= 0 || chunk.GetFusedScore() <= 0 || chunk.RerankScore == nil {
				t.Errorf("%s: passage %d lacks scores: %v", protocol.Name, i, chunk)
			}
		}
		if first := answer.GetChunks()[0]; first.GetSourceName() != "cellar" || first.GetRerankScore() != 3 {
			t.Errorf("%s: the server would have the cellar first: %v", protocol.Name, first)
		}
		if got := answer.GetExplanation(); got.GetOutcome() != "not_attached" || got.GetMessage() == "" {
			t.Errorf("%s: explained as %v", protocol.Name, got)
		}
	}
	if n := len(server.Asked()); n != len(harness.Protocols()) {
		t.Errorf("the server was asked %d times", n)
	}
	server.Fail(500)
	for _, protocol := range harness.Protocols() {
		answer, err := env.Clients(t, protocol, env.Tenant.Runtime).Knowledge.QueryKnowledge(t.Context(), query)
		if err != nil || answer.GetRerank() != "failed" || len(answer.GetChunks()) != 2 || answer.GetChunks()[0].RerankScore != nil {
			t.Errorf("%s, the server fails: got %v, %v", protocol.Name, answer, err)
		}
	}
}

// TestQuestionInOtherWords: of a question that shares little with the passages, similarity decides,
// also against one that happens to hold a word of it; what ranked is named when nothing was asked
// for too.
func TestQuestionInOtherWords(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada"}`).Must(t, 201).Text("id")
	var ids []string
	for name, text := range map[string]string{
		"reimbursement": "Customers receive a reimbursement of the price when goods arrive damaged. A refund takes ten days.",
		"tearoom":       "Our tea room has a Tuesday club. It knits, sings and plays chess.",
		"garden":        "Roses are cut in March, and apples picked in October.",
	} {
		ids = append(ids, env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"), map[string]any{
			"name": name, "content": text,
		}).Must(t, 202).Text("id"))
	}
	harness.Await(t, harness.Patience, "every source is ready", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == len(ids)
	})
	env.Do(t, "POST", env.Tenant.In("/agents/"+agent+"/knowledge-base/attach"), map[string]any{"source_ids": ids}).Must(t, 200)
	for ranking, asked := range map[string]string{"hybrid": "hybrid", "similarity": ""} {
		answer := env.Do(t, "POST", env.Tenant.In("/knowledge-base/query"), map[string]any{
			"agent_id": agent, "ranking": asked,
			"q": "Could somebody pay my money back, because the purchase I bought on Tuesday came broken and shops should compensate buyers?",
		}).Must(t, 200)
		if answer.Text("ranking") != ranking || answer.Text("embedding_model") != words.ModelName {
			t.Errorf("asked for %q: ranked by %q, vectors of %q", asked, answer.Text("ranking"), answer.Text("embedding_model"))
		}
		if got := answer.Text("chunks", 0, "source_name"); got != "reimbursement" {
			t.Errorf("%s ranking has %s first", ranking, got)
		}
	}
}
