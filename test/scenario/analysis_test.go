package scenario

import (
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestPostCallAnalysis: an agent that asks for it has each conversation judged by its model when
// it is over, in the session's view and in post_call_transcription.
func TestPostCallAnalysis(t *testing.T) {
	t.Parallel()
	llm := openaichat.New(t, openaichat.Reply{Text: []string{"It comes ", "tomorrow."}}, openaichat.Reply{Text: []string{
		`{"summary":"An order was asked for.","success":"unknown",`,
		`"criteria":{"answered":{"result":"success","rationale":"It was."}},"data":{"order":{"value":7,"rationale":"Said."}}}`,
	}})
	s := newSlice(t, map[string]string{"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model})
	path := s.Tenant.In("/agents/" + s.agentID)
	s.Do(t, "PATCH", path,
		`{"memory":{"enabled":false},"analysis":{"enabled":true,"criteria":[{"id":"answered","prompt":"The question was `+
			`answered."}],"data":[{"id":"order","type":"integer","description":"Number of the order."}]}}`).Must(t, 200)
	kept := s.Do(t, "PATCH", path, `{"analysis":{"language":"en"}}`).Must(t, 200)
	if kept.At("analysis", "enabled") != true || len(kept.List("analysis", "data")) != 1 {
		t.Errorf("a part of it changed the rest: %s", kept.Body)
	}
	session := s.createSession().Text("id")
	if got := s.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200).Text("analysis", "status"); got != "none" {
		t.Errorf("while it is open its analysis is %q", got)
	}
	s.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"Where is order 7?"}`).Must(t, 200)
	found, _ := s.finish(session)["analysis"].(map[string]any)
	values, _ := found["data_collection_results"].(map[string]any)
	order, _ := values["order"].(map[string]any)
	if found["call_successful"] != "success" || found["transcript_summary"] != "An order was asked for." || order["value"] != 7.0 {
		t.Errorf("announced %v", found)
	}
	seen := s.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200)
	listed := s.Do(t, "GET", "/v1/sessions", nil).Must(t, 200)
	for _, got := range []any{seen.At("analysis"), listed.At("sessions", 0, "analysis")} {
		analysis, _ := got.(map[string]any)
		if analysis["status"] != "done" || analysis["success"] != "success" {
			t.Errorf("the view has %v", analysis)
		}
	}
	if seen.At("analysis", "data", 0, "value") != 7.0 || seen.At("analysis", "criteria", 0,
		"result") != "success" || seen.Text("analysis", "usage", "model") != openaichat.Model {
		t.Errorf("got %s", seen.Body)
	}
	if seen.At("usage", "input_tokens") != 22.0 {
		t.Errorf("the analysis is not counted: %s", seen.Body)
	}
}

// TestAnalysisRules are the refusals.
func TestAnalysisRules(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	long := `[` + strings.TrimSuffix(strings.Repeat(`{"id":"a","prompt":"p"},`, 31), ",") + `]`
	for body, field := range map[string]string{
		`{"criteria":[{"id":"a","prompt":"p"},{"id":"a","prompt":"q"}]}`:         "analysis.criteria[1].id",
		`{"criteria":[{"id":"1 a","prompt":"p"}]}`:                               "analysis.criteria[0].id",
		`{"criteria":[{"id":"a"}]}`:                                              "analysis.criteria[0].prompt",
		`{"criteria":` + long + `}`:                                              "analysis.criteria",
		`{"data":[{"id":"a","type":"date","description":"d"}]}`:                  "analysis.data[0].type",
		`{"data":[{"id":"a","type":"enum","description":"d"}]}`:                  "analysis.data[0].enum",
		`{"data":[{"id":"a","type":"string","description":"d","enum":["x"]}]}`:   "analysis.data[0].enum",
		`{"data":[{"id":"a","type":"enum","description":"d","enum":["x","x"]}]}`: "analysis.data[0].enum",
		`{"data":[{"id":"a","type":"number"}]}`:                                  "analysis.data[0].description",
		`{"language":"not a language"}`:                                          "analysis.language",
	} {
		refused := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","analysis":`+body+`}`)
		checkProblem(t, refused, 400, "invalid-request")
		if !slices.Contains(refused.Problem.Fields(), field) {
			t.Errorf("%s: %s", body, refused.Body)
		}
	}
}
