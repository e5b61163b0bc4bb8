package live_test

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/memory"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/usage"
	"parlance.dev/parlance/workspaces"
)

// TestCostOfFreeModels: a price of zero is a price, also when tokens are not counted.
func TestCostOfFreeModels(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for file, want := range map[string]*sessions.ReceiptCost{
		`{"extractive":{"input_per_million":"0","output_per_million":"0"}}`:    {Amount: "0", Currency: "USD"},
		`{"extractive":{"input_per_million":"0","output_per_million":"0.01"}}`: nil,
		`{}`: nil,
	} {
		prices, err := usage.ParsePrices([]byte(`{"currency":"USD","models":` + file + `}`))
		if err != nil {
			t.Fatal(err)
		}
		node := f.start(t, rooms.Deps{Prices: prices})
		turn, err := node.Turn(t.Context(), f.principal, f.create(t).Session.ID, "Hello?", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, f.receipt(t, turn).Cost); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// vendor is a model that an agent gets without naming one. It tells apart what it is asked for.
type vendor struct {
	mu    sync.Mutex
	asked map[string]int
}

func (v *vendor) Name() string { return "vendor" }

func (v *vendor) Stream(_ context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	kind, text := cmp.Or(req.Metadata["purpose"], "answer"), strings.Repeat("words and more words ", 20)
	switch last := req.Messages[len(req.Messages)-1].Text; {
	case kind == judge.Purpose:
		text = `{"broken": []}`
	case strings.HasPrefix(last, "<known>"):
		kind, text = "extraction", `{"facts": []}`
	case strings.HasPrefix(last, "<transcript>"):
		kind, text = "analysis", `{"summary": "They talked."}`
	case strings.Contains(last, "ahead"):
		kind = "ahead"
	case strings.Contains(last, "aside"):
		kind = "out of band"
	}
	v.mu.Lock()
	v.asked[kind]++
	v.mu.Unlock()
	return model.Result{
		Text: text, FinishReason: model.FinishStop, Usage: model.Usage{InputTokens: 10, OutputTokens: 3}, Provider: "vendor", Model: "vendor-1",
	}, emit(model.TextDelta{Text: text})
}

// calls returns how often it was asked for something; "" is for all.
func (v *vendor) calls(kind string) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for one, asked := range v.asked {
		if kind == "" || kind == one {
			n += asked
		}
	}
	return n
}

// TestEveryCallIsPriced: whatever the model is asked for is counted by the name of what answered,
// also for an agent that names no model.
func TestEveryCallIsPriced(t *testing.T) {
	t.Parallel()
	f, asked := newFixture(t), &vendor{asked: map[string]int{}}
	f.model = asked
	prices, err := usage.ParsePrices([]byte(`{"currency":"USD","models":{
		"vendor/vendor-1":{"input_per_million":"1000000","output_per_million":"1000000"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	remembers := memory.New(memory.Deps{DB: f.db, Embedder: hashing.New(), Agents: f.agents, Now: f.clock.now})
	f.Node = f.start(t, rooms.Deps{Prices: prices, Memory: remembers})
	config := agents.Config{
		Model: agents.Model{HistoryTokens: 500}, Analysis: agents.Analysis{Enabled: true}, Memory: agents.Memory{Enabled: true},
	}
	for _, guards := range [][]agents.Guard{
		nil, {{Name: "poison", Action: agents.GuardBlock, Judge: &agents.GuardJudge{Instructions: "Nothing about poison."}}},
	} {
		config.Guards = guards
		f.agent = f.newAgent(t, f.ref, config)
		f.priced(t, asked)
	}
	for _, kind := range []string{"answer", "judge", "summary", "out of band", "ahead", "analysis", "extraction"} {
		if asked.calls(kind) == 0 {
			t.Errorf("the model was not asked for: %s", kind)
		}
	}
}

// priced has a conversation with everything that a model is asked for, and compares its cost with
// its tokens, each of which costs one.
func (f *fixture) priced(t *testing.T, asked *vendor) {
	t.Helper()
	before := asked.calls("")
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.Anticipate{Text: "Asked ahead."})
	if len(f.agent.Config.Guards) == 0 {
		await(t, "the answer ahead", func() bool { return asked.calls("ahead") > 0 })
	}
	s.do(asks("Said in the end."))
	until[turns.ResponseDone](s)
	s.do(live.Respond{OutOfBand: true, Input: []live.InputItem{{Item: sessions.Item{Kind: sessions.UserItem, Text: "By the way, an aside."}}}})
	until[turns.ResponseDone](s)
	summaries := asked.calls("summary")
	for i := 0; asked.calls("summary") == summaries && i < 60; i++ {
		f.turn(t, made.Session.ID, "And then?")
		await(t, "the summary that the turn has begun", func() bool { return !f.Summarising(made.Session.ID) })
	}
	session := f.finish(t, made.Session.ID)
	for _, run := range []func(context.Context, workspaces.TenantID, sessions.ID) error{f.Analyse, f.Learn} {
		if err := run(t.Context(), session.TenantID, session.ID); err != nil {
			t.Fatal(err)
		}
	}
	tokens := 13 * (asked.calls("") - before)
	if got := f.get(t, session.ID); got.InputTokens+got.OutputTokens != tokens || got.Cost != strconv.Itoa(tokens) {
		t.Errorf("%d and %d tokens of %d cost %s", got.InputTokens, got.OutputTokens, tokens, got.Cost)
	}
}
