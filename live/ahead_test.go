package live_test

import (
	"context"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/turns"
)

// slowly answers with a text once it is let go, and tells when it is asked and when it ends.
type slowly struct {
	asked, ended, goOn chan struct{}
}

func newSlowly() slowly {
	return slowly{make(chan struct{}), make(chan struct{}), make(chan struct{})}
}

func (s slowly) say(text string, calls ...model.ToolCall) step {
	return func(ctx context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
		close(s.asked)
		defer close(s.ended)
		select {
		case <-s.goOn:
			return say(text, calls...)(ctx, req, emit)
		case <-ctx.Done():
			return model.Result{}, ctx.Err()
		}
	}
}

func asks(text string) live.Ask {
	return live.Ask{Message: live.UserMessage{CommandID: "said", Text: text}, Respond: live.Respond{CommandID: "wish"}}
}

// TestAnticipate: the model is asked before the user's words are certain, nothing is stored or sent
// for it, and the turn has its answer without asking again.
func TestAnticipate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.passages.passages = refunds()
	first := newSlowly()
	answers := &script{steps: []step{first.say("Soon.")}}
	f.model = answers
	made := f.create(t)
	s := f.join(t, f.Node, made)
	s.do(live.Anticipate{Text: "When are refunds paid?"})
	<-first.asked
	if taken := f.transcript(t, made.Session.ID); len(taken) != 0 {
		t.Errorf("stored ahead: %+v", taken)
	}
	s.do(asks("When are refunds paid?"))
	started, before := until[turns.ResponseStarted](s)
	if added, is := before[0].(live.ItemAdded); !is || len(before) != 1 || added.Item.TurnID != started.TurnID {
		t.Errorf("before the answer came %+v", before)
	}
	close(first.goOn)
	done, _ := until[turns.ResponseDone](s)
	if done.Text != "Soon." || done.Status != turns.ResponseCompleted || len(done.Citations) != 1 {
		t.Errorf("done %+v", done)
	}
	if asked := answers.requests(); len(asked) != 1 {
		t.Errorf("the model was asked %d times", len(asked))
	}
	session := f.get(t, made.Session.ID)
	if session.InputTokens != 10 || session.OutputTokens != 3 || session.TurnCount != 1 {
		t.Errorf("counted %d and %d tokens in %d turns", session.InputTokens, session.OutputTokens, session.TurnCount)
	}
}

// TestAnticipateWrong: what was asked for ahead is thrown away when the user has said something
// else, or goes on. Its tokens are counted.
func TestAnticipateWrong(t *testing.T) {
	t.Parallel()
	for name, next := range map[string][]live.Command{
		"something else": {asks("When are refunds paid?")},
		"goes on":        {live.Anticipate{}, asks("When are refunds paid?")},
		"a note":         {live.UserMessage{Text: "When are refunds paid?"}, live.Respond{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			first := newSlowly()
			answers := &script{steps: []step{first.say("Never."), say("Soon.")}}
			f.model = answers
			made := f.create(t)
			s := f.join(t, f.Node, made)
			s.do(live.Anticipate{Text: "When are"})
			<-first.asked
			for _, command := range next {
				s.do(command)
			}
			if done, _ := until[turns.ResponseDone](s); done.Text != "Soon." {
				t.Errorf("done %+v", done)
			}
			<-first.ended
			asked := answers.requests()
			if last := asked[1].Messages; len(last) != 1 || last[0].Text != "When are refunds paid?" {
				t.Errorf("the model was asked %+v", last)
			}
			await(t, "the tokens of the thrown away are counted", func() bool { return f.get(t, made.Session.ID).InputTokens > 10 })
			if taken := f.transcript(t, made.Session.ID); len(taken) != 1 || taken[0].AgentText != "Soon." || taken[0].InputTokens != 10 {
				t.Errorf("the transcript: %+v", taken)
			}
		})
	}
}

// TestAnticipatedCall: a tool that the model calls ahead is called when the turn begins.
func TestAnticipatedCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.attach(t, "pay", "POST", 5)
	first := newSlowly()
	answers := &script{steps: []step{first.say("", call("pay", `{"id":"1"}`)), say("Paid.")}}
	f.model = answers
	made := f.create(t, withPin)
	s := f.join(t, f.Node, made)
	s.do(live.Anticipate{Text: "Pay it."})
	<-first.asked
	close(first.goOn)
	<-first.ended
	if calls := f.endpoint.Requests("/pay"); len(calls) != 0 {
		t.Errorf("the tool was called ahead: %+v", calls)
	}
	s.do(asks("Pay it."))
	if done, _ := until[turns.ResponseDone](s); done.Text != "Paid." || len(f.endpoint.Requests("/pay")) != 1 {
		t.Errorf("done %+v after %d calls", done, len(f.endpoint.Requests("/pay")))
	}
}

// TestAnticipateNot: where guards or budgets come before the model, or what was said is not kept as
// it was, nothing is asked ahead.
func TestAnticipateNot(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]agents.Config{
		"guards":    {Guards: []agents.Guard{{Name: "no", Phrases: []string{"forbidden"}, Action: agents.GuardBlock, Reply: "No."}}},
		"budgets":   {Budgets: []agents.Budget{{Per: "session", MaxTokens: 1000}}},
		"redaction": {Privacy: agents.Privacy{Redact: []string{"email"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			answers := &script{steps: []step{say("Soon.")}}
			f.model = answers
			f.agent = f.newAgent(t, f.ref, config)
			made := f.create(t)
			s := f.join(t, f.Node, made)
			s.do(live.Anticipate{Text: "When are"})
			s.do(asks("When are refunds paid?"))
			if done, _ := until[turns.ResponseDone](s); done.Text != "Soon." || len(answers.requests()) != 1 {
				t.Errorf("done %+v after %d requests", done, len(answers.requests()))
			}
		})
	}
}
