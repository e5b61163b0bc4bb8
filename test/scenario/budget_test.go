package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/openaichat"
	"parlance.dev/parlance/test/harness"
)

// tokensOfATurn is what each call of the models uses, which cost a euro a token.
var tokensOfATurn = modeltest.Usage.InputTokens + modeltest.Usage.OutputTokens

// frugal is an installation with a model and a cheaper one.
type frugal struct {
	*testing.T

	env *harness.Env
	llm *openaichat.Server
}

func newFrugal(t *testing.T) *frugal {
	t.Helper()
	prices := filepath.Join(t.TempDir(), "prices.json")
	content := `{"currency": "EUR", "models": {
		"openai/` + openaichat.Model + `": {"input_per_million": "1000000", "output_per_million": "1000000"},
		"openai/small": {"input_per_million": "1000", "output_per_million": "1000"}}}`
	if err := os.WriteFile(prices, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	llm := openaichat.New(t)
	llm.Else = func(modeltest.Received) modeltest.Reply { return modeltest.Reply{Text: []string{"All is well."}} }
	env := harness.Start(t, harness.Options{Plan: "enterprise", Settings: map[string]string{
		"PARLANCE_MODEL_BASE_URL": llm.BaseURL, "PARLANCE_MODEL_NAME": openaichat.Model, "PARLANCE_MODEL_PRICES_FILE": prices,
	}})
	return &frugal{t, env, llm}
}

func (f *frugal) agent(budgets string) string {
	f.Helper()
	return f.env.Do(f.T, "POST", f.env.Tenant.In("/agents"), `{"name":"Ada","memory":{},"budgets":`+budgets+`}`).Must(f.T, 201).Text("id")
}

func (f *frugal) session(agent, user string) harness.Response {
	f.Helper()
	return f.env.Do(f.T, "POST", "/v1/sessions", map[string]any{"agent_id": agent, "user_id": user, "modality": "text"})
}

// say takes a turn and returns the answer, which model gave it, and what its receipt says of
// budgets.
func (f *frugal) say(session string) (text, model, verdict string) {
	f.Helper()
	turn := f.env.Do(f.T, "POST", "/v1/sessions/"+session+"/turns", `{"text":"How are you?"}`).Must(f.T, 200)
	receipt := f.env.Do(f.T, "GET", "/v1/sessions/"+session+"/turns/"+turn.Text("turn_id")+"/receipt", nil).Must(f.T, 200)
	requests := f.llm.Requests()
	verdict = receipt.Text("guard_verdicts", 0, "rule") + " " + receipt.Text("guard_verdicts", 0, "verdict")
	return turn.Text("text"), requests[len(requests)-1].Model, strings.TrimSpace(verdict)
}

// TestBudgetOfASession: a cheaper model answers from four fifths of the budget on, and when it is
// used up the agent says so and the session ends.
func TestBudgetOfASession(t *testing.T) {
	t.Parallel()
	f := newFrugal(t)
	agent := f.agent(fmt.Sprintf(`[{"per":"session","max_tokens":%d,"degrade_model":{"provider":"openai","name":"small"},
		"message":"Enough for today."}]`, 5*tokensOfATurn))
	session := f.session(agent, "ada").Must(t, 201).Text("id")
	for i, want := range []struct{ model, verdict string }{
		{openaichat.Model, ""}, {openaichat.Model, ""}, {openaichat.Model, ""}, {openaichat.Model, ""}, {"small", "session:tokens degraded"},
	} {
		_, model, verdict := f.say(session)
		if model != want.model || verdict != want.verdict {
			t.Fatalf("turn %d was answered by %q (%s), want %q (%s)", i, model, verdict, want.model, want.verdict)
		}
	}
	calls := len(f.llm.Requests())
	text, _, verdict := f.say(session)
	if text != "Enough for today." || verdict != "session:tokens used_up" || len(f.llm.Requests()) != calls {
		t.Fatalf("behind the budget the agent says %q (%s), after %d calls of the model", text, verdict, len(f.llm.Requests())-calls)
	}
	harness.Await(t, harness.Patience, "the session ends", func() bool {
		ended := f.env.Do(t, "GET", "/v1/sessions/"+session, nil).Must(t, 200)
		return ended.Text("status") == "completed" && ended.Text("end_reason") == "budget_used_up"
	})
	f.session(agent, "ada").Must(t, 201)
}

// TestBudgetOfAUser: what one user has spent refuses them new sessions, and nobody else.
func TestBudgetOfAUser(t *testing.T) {
	t.Parallel()
	f := newFrugal(t)
	twoTurns := fmt.Sprintf(`[{"per":"user","max_cost":%d}]`, 2*tokensOfATurn)
	agent := f.agent(twoTurns)
	first := f.session(agent, "ada").Must(t, 201).Text("id")
	f.say(first)
	second := f.session(agent, "ada").Must(t, 201).Text("id")
	f.say(second)
	refused := f.session(agent, "ada").Must(t, 402)
	if refused.Code() != "quota-exceeded-budget" || refused.Text("per") != "user" || refused.Text("measure") != "cost" {
		t.Errorf("a session behind the budget: %s", refused.Body)
	}
	if text, _, verdict := f.say(first); !strings.Contains(text, "budget") || verdict != "user:cost used_up" {
		t.Errorf("a session that goes on: %q (%s)", text, verdict)
	}
	f.say(f.session(agent, "bob").Must(t, 201).Text("id"))
	f.say(f.session(f.agent(twoTurns), "ada").Must(t, 201).Text("id"))
}

// TestBudgetOfAnAgent: all conversations of a month together.
func TestBudgetOfAnAgent(t *testing.T) {
	t.Parallel()
	f := newFrugal(t)
	agent := f.agent(fmt.Sprintf(`[{"per":"agent","max_tokens":%d}]`, 2*tokensOfATurn))
	for _, user := range []string{"ada", "bob"} {
		f.say(f.session(agent, user).Must(t, 201).Text("id"))
	}
	harness.Await(t, harness.Patience, "a session is refused", func() bool {
		got := f.session(agent, "eve")
		return got.Status == 402 && got.Code() == "quota-exceeded-budget" && got.Text("per") == "agent"
	})
}

// TestBudgetOfAnUnknownCost: a model without a price, which the session has chosen, does not
// escape a budget of costs.
func TestBudgetOfAnUnknownCost(t *testing.T) {
	t.Parallel()
	f := newFrugal(t)
	agent := f.agent(`[{"per":"session","max_cost":1000}]`)
	session := f.env.Do(t, "POST", "/v1/sessions", map[string]any{
		"agent_id": agent, "user_id": "ada", "modality": "text", "overrides": map[string]any{"model": map[string]any{"name": "unpriced"}},
	}).Must(t, 201).Text("id")
	got := f.env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"How are you?"}`)
	if got.Status != 402 || got.Code() != "quota-exceeded-budget" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

// TestBudgetsAreChecked: a budget that would limit nothing, or could not be kept, is refused.
func TestBudgetsAreChecked(t *testing.T) {
	t.Parallel()
	f := newFrugal(t)
	for budgets, field := range map[string]string{
		`[{"per":"session"}]`:                                                                   "budgets[0].max_tokens",
		`[{"per":"team","max_tokens":1}]`:                                                       "budgets[0].per",
		`[{"per":"user","max_tokens":1},{"per":"user","max_cost":1}]`:                           "budgets[1].per",
		`[{"per":"user","max_tokens":1,"degrade_percent":50}]`:                                  "budgets[0].degrade_model",
		`[{"per":"user","max_cost":1,"degrade_model":{"provider":"openai","name":"unpriced"}}]`: "budgets[0].max_cost",
	} {
		got := f.env.Do(t, "POST", f.env.Tenant.In("/agents"), `{"name":"Ada","budgets":`+budgets+`}`)
		if got.Status != 400 || got.Text("errors", 0, "field") != field {
			t.Errorf("%s: %d %s", budgets, got.Status, got.Body)
		}
	}
	f.env.Do(t, "POST", f.env.Tenant.In("/agents"),
		`{"name":"Ada","budgets":[{"per":"user","max_tokens":1,"degrade_model":{"provider":"nobody","name":"x"}}]}`).Must(t, 400)
}
