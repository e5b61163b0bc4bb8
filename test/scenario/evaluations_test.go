package scenario

import (
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestEvaluations walks an operator's way: measure, change something, measure again, compare.
func TestEvaluations(t *testing.T) {
	t.Parallel()
	s := newSlice(t, nil)
	handbookID := s.Do(t, "POST", s.Tenant.In("/knowledge-base/sources/inline"), map[string]any{
		"name":    "Handbook",
		"content": handbook,
	}).Must(t, 202).Text("id")
	s.learn(handbookID)
	at := s.Tenant.In("/knowledge-base/evaluations")
	ask := map[string]any{
		"agent_id": s.agentID, "name": "attached", "top_k": 3,
		"questions": []any{map[string]any{"q": "When is a refund paid?", "source_names": []string{"Handbook"}}},
	}
	before := s.Do(t, "POST", at, ask).Must(t, 201)
	if got, want := before.Header.Get("Location"), s.URL+at+"/"+before.Text("id"); got != want {
		t.Errorf("Location: got %q, want %q", got, want)
	}
	for i, ranking := range []string{"similarity", "hybrid"} {
		if before.Text("metrics", i, "ranking") != ranking || before.At("metrics", i, "hit_rate") != 1.0 ||
			before.At("metrics", i, "mrr") != 1.0 {
			t.Errorf("%s: %v", ranking, before.At("metrics", i))
		}
		if place := before.At("results", 0, "places", i, "rank"); place != 1.0 {
			t.Errorf("%s: place %v, want 1", ranking, place)
		}
	}
	if before.At("comparison") != nil || before.At("min_similarity") != nil {
		t.Errorf("comparison and floor are %v and %v, want null", before.At("comparison"), before.At("min_similarity"))
	}
	s.Do(t, "DELETE", s.Tenant.In("/agents/"+s.agentID+"/knowledge-base/"+handbookID), nil).Must(t, 204)
	ask["name"] = "detached"
	now := s.Do(t, "POST", at, ask).Must(t, 201)
	compared := s.Do(t, "GET", at+"/"+now.Text("id")+"?compare_to="+before.Text("id"), nil, harness.Key(s.Tenant.Runtime)).Must(t, 200)
	if compared.At("comparison", "changes", 0, "hit_rate_change") != -1.0 || compared.Text("comparison", "changes",
		1, "worse", 0, "q") != "When is a refund paid?" {
		t.Errorf("the comparison is %v", compared.At("comparison"))
	}
	if outcome := compared.Text("results", 0, "places", 0, "outcome"); outcome != "not_attached" {
		t.Errorf("the miss is explained as %q", outcome)
	}
	list := s.Do(t, "GET", at+"?page_size=1", nil).Must(t, 200)
	if list.Text("evaluations", 0, "name") != "detached" || len(list.List("evaluations")) != 1 || list.Text("next_page_token") == "" {
		t.Errorf("the list is %s", list.Body)
	}
	s.Do(t, "POST", at, ask, harness.Key(s.Tenant.Runtime)).Must(t, 403)
	s.Do(t, "DELETE", at+"/"+now.Text("id"), nil).Must(t, 204)
	s.Do(t, "GET", at+"/"+now.Text("id"), nil).Must(t, 404)
}
