package scenario

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// TestTagsInConversations: an agent's filter and a session's narrow what a turn sees, whatever way
// a source got its tags; and a chunk that is off is not seen.
func TestTagsInConversations(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	at := env.Tenant.In("/knowledge-base/sources")
	const says = "The museum opens at ten in the morning."
	content, contentType := form(t, part{name: "tags", content: " faq, lang:en ,"},
		part{name: "file", filename: "uploaded.txt", mediaType: "text/plain", content: says})
	ids := map[string]string{
		"uploaded": env.Do(t, "POST", at+"/upload", content, harness.Header("Content-Type", contentType)).Must(t, 202).Text("id"),
		"pasted":   env.Do(t, "POST", at+"/inline", `{"name":"pasted","content":"`+says+`","tags":["faq","lang:de"]}`).Must(t, 202).Text("id"),
		"changed":  env.Do(t, "POST", at+"/inline", `{"name":"changed","content":"`+says+`","tags":["faq"]}`).Must(t, 202).Text("id"),
	}
	changed := env.Do(t, "PATCH", at+"/"+ids["changed"], `{"tags":["internal"]}`).Must(t, 200)
	if got := changed.List("tags"); !slices.Equal(got, []any{"internal"}) || changed.Text("name") != "changed" {
		t.Errorf("changed: %v", changed)
	}
	harness.Await(t, harness.Patience, "every source is ready", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == len(ids)
	})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","retrieval":{"tags":{"none_of":["internal"]}}}`).Must(t, 201)
	if got := agent.At("retrieval", "tags", "none_of", 0); got != "internal" {
		t.Errorf("the agent's filter is %v", got)
	}
	env.Do(t, "POST", env.Tenant.In("/agents/"+agent.Text("id")+"/knowledge-base/attach"),
		map[string]any{"source_ids": slices.Collect(maps.Values(ids))}).Must(t, 200)
	cited := func(overrides string) []string {
		t.Helper()
		session := env.Do(t, "POST", "/v1/sessions",
			`{"agent_id":"`+agent.Text("id")+`","user_id":"u","modality":"text","overrides":`+overrides+`}`).Must(t, 201).Text("id")
		turn := env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"When does the museum open?"}`).Must(t, 200)
		var names []string
		for i := range turn.List("citations") {
			names = append(names, turn.Text("citations", i, "source_name"))
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	// Passages that say the same are cited once, so each filter but the first leaves one source.
	for overrides, want := range map[string][]string{
		`{"retrieval":{"tags":{"all_of":["lang:de"]}}}`:                       {"pasted"},
		`{"retrieval":{"tags":{"any_of":["lang:en"]}}}`:                       {"uploaded.txt"},
		`{"retrieval":{"tags":{"any_of":["internal"]}}}`:                      nil, // a session does not widen
		`{"retrieval":{"tags":{"none_of":["lang:de","lang:en"]},"top_k":50}}`: nil,
	} {
		if got := cited(overrides); !slices.Equal(got, want) {
			t.Errorf("%s: cites %v, want %v", overrides, got, want)
		}
	}
	asked := env.Do(t, "POST", env.Tenant.In("/knowledge-base/query"), map[string]any{
		"agent_id": agent.Text("id"), "q": "When does the museum open?", "explain_source_id": ids["changed"],
	}).Must(t, 200)
	if len(asked.List("chunks")) != 2 || asked.Text("explanation", "outcome") != "filtered_out" {
		t.Errorf("a query sees other than the agent: %v", asked)
	}
	env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent.Text("id")+`","user_id":"u",
		"overrides":{"retrieval":{"session_tags":{}}}}`).Must(t, 400)
	chunks := at + "/" + ids["pasted"] + "/chunks"
	chunk := env.Do(t, "GET", chunks, nil).Must(t, 200).Text("chunks", 0, "id")
	if off := env.Do(t, "PATCH", chunks+"/"+chunk, `{"disabled":true}`).Must(t, 200); off.At("disabled") != true {
		t.Errorf("switched off: %v", off)
	}
	if got := cited(`{"retrieval":{"tags":{"all_of":["lang:de"]}}}`); got != nil {
		t.Errorf("a chunk that is off is cited: %v", got)
	}
	session := `{"agent_id":"` + agent.Text("id") + `"`
	for field, request := range map[string][3]string{
		"tags[1]":                  {"PATCH", at + "/" + ids["pasted"], `{"tags":["a","b c"]}`},
		"tags":                     {"PATCH", at + "/" + ids["pasted"], `{"tags":[` + strings.Repeat(`"a",`, 20) + `"a"]}`},
		"retrieval.tags.any_of[0]": {"POST", env.Tenant.In("/agents"), `{"name":"x","retrieval":{"tags":{"any_of":[""]}}}`},
		"retrieval.tags.some_of":   {"POST", env.Tenant.In("/agents"), `{"name":"x","retrieval":{"tags":{"some_of":[]}}}`},
		"overrides.retrieval":      {"POST", "/v1/sessions", session + `,"user_id":"u","overrides":{"retrieval":{"tags":{"any_of":["a b"]}}}}`},
		"disabled":                 {"PATCH", chunks + "/" + chunk, `{}`},
		"refresh_every":            {"POST", at + "/url", `{"url":"https://example.com/","refresh_every":"1s"}`},
		"url":                      {"POST", at + "/url", `{"url":"https://10.0.0.1/"}`},
		"max_pages":                {"POST", at + "/sitemap", `{"url":"https://example.com/","max_pages":0}`},
	} {
		got := env.Do(t, request[0], request[1], request[2])
		if got.Status != 400 || got.Text("errors", 0, "field") != field {
			t.Errorf("%s: %d %v", field, got.Status, got)
		}
	}
}
