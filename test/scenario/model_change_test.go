package scenario

import (
	"fmt"
	"testing"

	"parlance.dev/parlance/provider/embedding/words"
	"parlance.dev/parlance/test/fake/openaiembed"
	"parlance.dev/parlance/test/harness"
)

// TestModelChange has workers of another embedding model take over from those of the built-in one:
// questions find all the while what they found before, each chunk is paid for once, and the status
// shows how far it is.
func TestModelChange(t *testing.T) {
	t.Parallel()
	const sources = 12
	server := openaiembed.Start(t)
	e := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_EMBEDDING_BASE_URL": server.URL, "PARLANCE_EMBEDDING_API_KEY": openaiembed.APIKey, "PARLANCE_EMBEDDING_NAME": openaiembed.Model,
	}})
	before := e.With(map[string]string{"PARLANCE_EMBEDDING_BASE_URL": "", "PARLANCE_EMBEDDING_NAME": ""}).StartProcess(t, "worker")
	agent := e.Do(t, "POST", e.Tenant.In("/agents"), `{"name":"Ada","model":{"provider":"extractive"}}`).Must(t, 201).Text("id")
	ids := make([]string, sources)
	for i := range ids {
		ids[i] = e.Do(t, "POST", e.Tenant.In("/knowledge-base/sources/inline"),
			map[string]any{"name": fmt.Sprint(i), "content": fmt.Sprintf("The lighthouse number %d stands on a rock.", i)}).Must(t, 202).Text("id")
	}
	count := func(query string) int { return harness.Rows[int](t, e, query)[0] }
	harness.Await(t, harness.Patience, "every source is ready", func() bool {
		return count("SELECT count(*) FROM sources WHERE status = 'ready'") == sources
	})
	e.Do(t, "POST", e.Tenant.In("/agents/"+agent+"/knowledge-base/attach"), map[string]any{"source_ids": ids}).Must(t, 200)
	before.Terminate()

	status := func() harness.Response {
		return e.Do(t, "GET", e.Tenant.In("/knowledge-base/embedding"), nil).Must(t, 200)
	}
	if got := status(); got.Text("answering_model") != words.ModelName || got.At("sources_total") != float64(sources) {
		t.Errorf("before: %s", got.Body)
	}
	held, release := make(chan struct{}, 1000), make(chan struct{})
	server.Hold(func() {
		held <- struct{}{}
		<-release
	})
	e.StartProcess(t, "worker")
	<-held // the dimension is asked for
	ask := func() int {
		found := e.Do(t, "POST", e.Tenant.In("/knowledge-base/query"), map[string]any{
			"agent_id": agent,
			"q":        "lighthouse rock", "top_k": 50,
		}).Must(t, 200)
		return len(found.List("chunks"))
	}
	if n := ask(); n != sources {
		t.Errorf("%d passages while the new model is asked, want %d", n, sources)
	}
	close(release)
	asked := 0
	harness.Await(t, harness.Patience, "the new model answers", func() bool {
		if n := ask(); n != sources {
			t.Errorf("question %d: %d passages, want %d", asked, n, sources)
		}
		asked++
		return status().Text("answering_model") == openaiembed.Model
	})
	if got := status(); got.Text("target_model") != openaiembed.Model ||
		got.At("chunks_done") != float64(sources) || got.At("sources_done") != float64(sources) || got.Text("error") != "" {
		t.Errorf("after: %s", got.Body)
	}
	times := map[string]int{}
	for _, text := range server.Texts() {
		times[text]++
	}
	for i := range sources {
		if text := fmt.Sprintf("The lighthouse number %d stands on a rock.", i); times[text] != 1 {
			t.Errorf("%q was paid for %d times", text, times[text])
		}
	}
	if n := count("SELECT count(*) FROM events WHERE type = 'kb.source_ingested'"); n != sources {
		t.Errorf("%d events of ingestion, want %d", n, sources)
	}
}
