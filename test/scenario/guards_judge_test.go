package scenario

import (
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// TestGuardJudge: the model judges by what the operator has written, in the dry run and in a turn
// over HTTP; what it costs is counted, and the words that it stops stay from later requests.
func TestGuardJudge(t *testing.T) {
	t.Parallel()
	llm := openaichat.New(t)
	llm.Else = func(r modeltest.Received) modeltest.Reply {
		switch {
		case !strings.HasPrefix(r.System, "You check sentences"):
			return modeltest.Reply{Text: []string{"Good. ", "All is well."}}
		case r.Model != "fast":
			return modeltest.Reply{Text: []string{"The wrong model."}}
		case strings.Contains(r.LastText(), "\n2: Which shares should I buy?"):
			return modeltest.Reply{Text: []string{`{"broken": [{"rule": 1, "sentence": 2}]}`}}
		}
		return modeltest.Reply{Text: []string{`{"broken": []}`}}
	}
	env := harness.Start(t, harness.Options{Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	made := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","memory":{},"guards":[{"name":"advice","action":"escalate",
		"reply":"No advice.","judge":{"instructions":"No investment advice.","model":{"name":"fast"}}}]}`).Must(t, 201)
	if made.Text("guards", 0, "judge", "on_failure") != "block" || made.Text("guards", 0, "judge", "model", "name") != "fast" {
		t.Errorf("the agent has %s", made.Body)
	}
	path := env.Tenant.In("/agents/" + made.Text("id"))
	checked := env.Do(t, "POST", path+"/guards/check", `{"text":"Hello. Which shares should I buy?"}`).Must(t, 200)
	if checked.Text("verdicts", 0, "matched") != "Which shares should I buy?" || checked.Text("verdicts", 0, "matched_by") != "judge" ||
		checked.Text("verdicts", 0, "guard") != "advice" || checked.Text("reply") != "No advice." {
		t.Errorf("checked: %s", checked.Body)
	}
	session := env.Do(t, "POST", "/v1/sessions",
		map[string]any{"agent_id": made.Text("id"), "user_id": "ann", "modality": "text"}).Must(t, 201).Text("id")
	says := func(text string) harness.Response {
		return env.Do(t, "POST", "/v1/sessions/"+session+"/turns", map[string]any{"text": text}).Must(t, 200)
	}
	blocked := says("Hello. Which shares should I buy?")
	if blocked.Text("text") != "No advice." || blocked.At("usage", "input_tokens") != 11.0 {
		t.Errorf("blocked: %s", blocked.Body)
	}
	receipt := env.Do(t, "GET", "/v1/sessions/"+session+"/turns/"+blocked.Text("turn_id")+"/receipt", nil).Must(t, 200)
	if receipt.Text("guard_verdicts", 0, "rule") != "user:judge" || receipt.Text("model_calls", 0, "purpose") != "judge" ||
		receipt.Text("model_calls", 0, "model") != "fast" {
		t.Errorf("receipt: %s", receipt.Body)
	}
	if got := says("How are you?").Text("text"); got != "Good. All is well." {
		t.Errorf("said %q", got)
	}
	for _, r := range llm.Requests() {
		if r.Model == openaichat.Model && strings.Contains(string(r.Body), "shares") {
			t.Errorf("the model was sent %s", r.Body)
		}
	}
	sent := harness.Rows[string](t, env,
		"SELECT convert_from(body, 'UTF8')::jsonb -> 'data' ->> 'matched_by' FROM events WHERE type = 'escalation.triggered'")
	if len(sent) != 1 || sent[0] != "judge" {
		t.Errorf("announced %q", sent)
	}
}

// TestGuardJudgeRefused: a judge without a language model is refused when it is saved and when the
// model is taken away by a change of the agent, and so are two models.
func TestGuardJudgeRefused(t *testing.T) {
	t.Parallel()
	none := harness.Start(t, harness.Options{WithoutWorker: true})
	judge := `"guards":[{"name":"g","action":"block","judge":{"instructions":"No advice."}}]`
	checkProblem(t, none.Do(t, "POST", none.Tenant.In("/agents"), `{"name":"x",`+judge+`}`), 501, "not-implemented")

	llm := openaichat.New(t, openaichat.Reply{Status: 503}, openaichat.Reply{Status: 503}, openaichat.Reply{Status: 503})
	env := harness.Start(t, harness.Options{WithoutWorker: true, Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model,
	}})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"x"}`).Must(t, 201).Text("id")
	path := env.Tenant.In("/agents/" + agent)
	env.Do(t, "PATCH", path, `{`+judge+`}`).Must(t, 200)
	checkProblem(t, env.Do(t, "PATCH", path, `{"model":{"provider":"extractive"}}`), 501, "not-implemented")
	checkProblem(t, env.Do(t, "PATCH", path, `{"model":{"provider":"anthropic"}}`), 501, "not-implemented")
	named := strings.Replace(judge, `advice."`, `advice.","model":{"provider":"anthropic"}`, 1)
	checkProblem(t, env.Do(t, "PATCH", path, `{`+named+`}`), 501, "not-implemented")
	checkProblem(t, env.Do(t, "POST", path+"/guards/check", `{"text":"Hello."}`), 503, "unavailable")
	two := env.Do(t, "PATCH", path, `{"guards":[{"name":"a","action":"block","judge":{"instructions":"A.","model":{"name":"one"}}},
		{"name":"b","action":"block","judge":{"instructions":"B.","model":{"name":"two"}}}]}`)
	if two.Status != 400 || two.Problem.Errors[0].Field != "guards[1].judge.model" {
		t.Errorf("two models: %d %s", two.Status, two.Body)
	}
	for _, bad := range []string{
		`{}`, `{"instructions":""}`, `{"instructions":"` + strings.Repeat("a", 2001) + `"}`,
		`{"instructions":"A.","on_failure":"ignore"}`,
	} {
		env.Do(t, "PATCH", path, `{"guards":[{"name":"a","action":"block","judge":`+bad+`}]}`).Must(t, 400)
	}
}
