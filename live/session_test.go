package live_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/workspaces"
)

// TestFiftySockets connects fifty sockets to a pending session at once, on two nodes. One
// conversation with one greeting begins, and one socket stays.
func TestFiftySockets(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	other := f.node(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!"})
	f.model = &script{steps: []step{say("Yes.")}}
	made := f.create(t)
	lives := make([]*live.Live, 50)
	var joining sync.WaitGroup
	for i := range lives {
		node := []*rooms.Node{f.Node, other}[i%2]
		joining.Go(func() {
			admission, err := node.Admit(t.Context(), live.AdmitParams{
				SessionID: made.Session.ID, Token: made.Token,
				Channel: sessions.ChatChannel,
			})
			if err == nil {
				lives[i], err = node.Join(t.Context(), admission)
			}
			if err != nil {
				t.Errorf("socket %d: %v", i, err)
			}
		})
	}
	joining.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, joined := range lives {
			joined.Leave(live.Dropped)
		}
	})
	// 49 sockets are replaced; the one that stays gets the next message.
	left, greetings := make(chan *live.Live, len(lives)), make(chan struct{}, len(lives))
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var replaced sync.WaitGroup
	over := make(chan struct{}, len(lives))
	for _, joined := range lives {
		replaced.Go(func() {
			for {
				e, err := joined.Next(ctx)
				if err != nil {
					return
				}
				switch e := e.(type) {
				case turns.ResponseStarted:
					if e.Greeting {
						greetings <- struct{}{}
					}
				case live.ItemAdded:
					if e.Item.Text == "Yes." {
						left <- joined
					}
				case live.Closed:
					if e.Code != live.CloseReplaced {
						t.Errorf("closed with %+v", e)
					}
					over <- struct{}{}
				}
			}
		})
	}
	for range len(lives) - 1 {
		select {
		case <-over:
		case <-ctx.Done():
			t.Fatal("not all others were replaced")
		}
	}
	f.turn(t, made.Session.ID, "Who is there?")
	taken := f.transcript(t, made.Session.ID)
	if len(taken) != 2 || taken[0].AgentText != "Hello!" || taken[1].AgentText != "Yes." {
		t.Errorf("turns %+v", taken)
	}
	if got := f.get(t, made.Session.ID); got.Status != sessions.InProgress || !got.DroppedAt.IsZero() {
		t.Errorf("session %s, dropped at %v", got.Status, got.DroppedAt)
	}
	stop()
	replaced.Wait()
	if len(greetings) > 1 || len(left) > 1 || len(over) != 0 {
		t.Errorf("%d greetings, %d sockets left, %d more closed", len(greetings), len(left), len(over))
	}
}

// recordingRetriever records the parameters of searches.
type recordingRetriever struct {
	mu     sync.Mutex
	params []turns.RetrieveParams
}

func (s *recordingRetriever) Search(workspaces.Ref, agents.ID, []agents.TagFilter) turns.Search {
	return s
}

func (s *recordingRetriever) Steps() []postgres.Step { return nil }

func (s *recordingRetriever) Retrieve(_ context.Context, _ string, p turns.RetrieveParams,
) ([]sessions.Passage, *sessions.Retrieval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.params = append(s.params, p)
	return nil, nil, nil
}

// TestOverridesTakeEffect: a session's overrides reach its model and its search.
func TestOverridesTakeEffect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	search := &recordingRetriever{}
	node := f.start(t, rooms.Deps{Retriever: search})
	answers := &script{steps: []step{say("Ja.")}}
	f.model = answers
	f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!", Instructions: "Be long."})
	made := f.create(t, func(p *sessions.CreateParams) {
		p.DynamicVariables = map[string]string{"name": "Ann", "secret__pin": "4711-pin"}
		p.Overrides = map[string]json.RawMessage{
			"instructions":  json.RawMessage(`"Help {{name}}, who has {{plan}} and {{secret__pin}}."`),
			"first_message": json.RawMessage(`"Grüezi {{ name }}, {{plan}} {{secret__pin}}!"`), "language": json.RawMessage(`"de"`),
			"model": json.RawMessage(`{"name":"m-2","max_output_tokens":77}`), "temperature": json.RawMessage(`0.25`),
			"retrieval": json.RawMessage(`{"top_k":3,"min_similarity":0.5,"ranking":"similarity"}`),
		}
	})
	turn, err := node.Turn(t.Context(), f.principal, made.Session.ID, "Hallo?", nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := answers.requests()[0]
	if asked.Model != "m-2" || asked.MaxOutputTokens != 77 || asked.Temperature == nil || *asked.Temperature != 0.25 {
		t.Errorf("asked %q with %d tokens at %v", asked.Model, asked.MaxOutputTokens, asked.Temperature)
	}
	// A placeholder without a value stays, and so does each secret one.
	if !strings.Contains(asked.System, "Help Ann, who has {{plan}} and {{secret__pin}}.") ||
		strings.Contains(asked.System, "long") || !strings.Contains(asked.System, "language de") {
		t.Errorf("instructions %q", asked.System)
	}
	if got := f.transcript(t, made.Session.ID)[0].AgentText; got != "Grüezi Ann, {{plan}} {{secret__pin}}!" {
		t.Errorf("first message %q", got)
	}
	if len(search.params) != 1 || search.params[0].TopK != 3 || search.params[0].Ranking != "similarity" ||
		search.params[0].MinSimilarity == nil || *search.params[0].MinSimilarity != 0.5 {
		t.Errorf("searched with %+v", search.params)
	}
	everything, err := json.Marshal([]any{asked, turn, f.get(t, made.Session.ID).DynamicVariables, f.postCalls(t, made.Session.ID)})
	if err != nil || strings.Contains(string(everything), "4711-pin") {
		t.Errorf("a secret is shown (%v)", err)
	}
}

// TestSessionKeepsItsAgent: saving or deleting an agent does not change its open sessions.
func TestSessionKeepsItsAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	answers := &script{steps: []step{say("One."), say("Two.")}}
	f.model = answers
	f.agent = f.newAgent(t, f.ref, agents.Config{Instructions: "Version one."})
	made := f.create(t)
	_, err := f.agents.Update(t.Context(), f.ref, f.agent.ID, func(_ *string, c *agents.Config) { c.Instructions = "Version two." })
	if err != nil {
		t.Fatal(err)
	}
	f.turn(t, made.Session.ID, "one")
	if err := f.agents.Delete(t.Context(), f.ref, f.agent.ID); err != nil {
		t.Fatal(err)
	}
	if turn, err := f.Turn(t.Context(), f.principal, made.Session.ID, "two", nil); err != nil || turn.AgentText != "Two." {
		t.Errorf("after the agent's deletion: %q, %v", turn.AgentText, err)
	}
	for i, asked := range answers.requests() {
		if !strings.Contains(asked.System, "Version one.") {
			t.Errorf("turn %d: %q", i, asked.System)
		}
	}
}

// TestEndIsChecked: the rules for the body of an end; a refused one does not end the session.
func TestEndIsChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made := f.create(t)
	for name, params := range map[string]sessions.EndParams{
		"no status": {}, "status": {Status: sessions.Pending},
		"reason": {Status: sessions.Completed, Reason: strings.Repeat("ä", 501)}, "NUL": {Status: sessions.Completed, Reason: "a\x00"},
	} {
		_, err := f.End(t.Context(), f.principal, made.Session.ID, params)
		if !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.get(t, made.Session.ID).Closed() {
		t.Error("a refused end has ended the session")
	}
	long := strings.Repeat("ä", 500)
	for range 2 {
		ended, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Failed, Reason: long})
		if err != nil || ended.EndReason != long || ended.Status != sessions.Failed {
			t.Errorf("ended %s %q, %v", ended.Status, ended.EndReason, err)
		}
	}
}
