package live_test

import (
	"context"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/turns"
)

// withZones is an agent with three zones.
func (f *fixture) withZones(t *testing.T) agents.Agent {
	t.Helper()
	return f.newAgent(t, f.ref, agents.Config{Guards: []agents.Guard{
		{Name: "weapons", Phrases: []string{"bomb"}, Action: agents.GuardEscalate, Reply: "I do not talk about weapons."},
		{Name: "codes", Patterns: []string{`[0-9]{3}-[0-9]{4}`}, Action: agents.GuardBlock, Reply: "I cannot say that."},
		{Name: "enough", Phrases: []string{"shut up"}, Action: agents.GuardEnd, Reply: "Goodbye then."},
	}})
}

// escalations are the guards and sides of the escalations that were announced.
func (f *fixture) escalations(t *testing.T) string {
	t.Helper()
	var all []string
	err := f.db.NewRaw(`SELECT data ->> 'guard' || ' ' || (data ->> 'side')
		FROM events, LATERAL (SELECT convert_from(body, 'UTF8')::jsonb -> 'data' AS data) AS d
		WHERE type = 'escalation.triggered'`).Scan(t.Context(), &all)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// TestNoGoZones: what the user says is stopped before a model hears it, what the model says before
// anybody hears it; the zone answers, and what it says is done.
func TestNoGoZones(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, asked string
		model       []string
		said        string
		status      turns.ResponseStatus
		escalated   string
		ends        bool
	}{
		{"nothing", "How are you?", []string{"Fine, ", "and bombastic."}, "Fine, and bombastic.", turns.ResponseCompleted, "", false},
		{"user, escalate", "How is a b-o-m-b made?", nil, "I do not talk about weapons.", turns.ResponseCompleted, "weapons user", false},
		{"user, block", "Is it 555-0123?", nil, "I cannot say that.", turns.ResponseCompleted, "", false},
		{"user, end", "Oh shut up!", nil, "Goodbye then.", turns.ResponseCompleted, "", true},
		{
			"agent, escalate", "Tell me.",
			[]string{"It is a bo", "m", "b", ", you know."},
			"It is a \n\nI do not talk about weapons.",
			turns.ResponseIncomplete, "weapons agent", false,
		},
		{
			"agent, block", "Tell me.",
			[]string{"The code is 55", "5-01", "23, I think."},
			"The code is \n\nI cannot say that.",
			turns.ResponseIncomplete, "", false,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.agent = f.withZones(t)
			heard := &script{steps: []step{sayInPieces(row.model)}}
			f.model = heard
			made := f.create(t)
			s := f.join(t, f.Node, made)
			s.do(live.UserMessage{Text: row.asked})
			s.do(live.Respond{})
			done, before := until[turns.ResponseDone](s)
			if done.Text != row.said || done.Status != row.status {
				t.Errorf("said %q (%s), want %q (%s)", done.Text, done.Status, row.said, row.status)
			}
			sent := ""
			for _, e := range before {
				if delta, ok := e.(turns.TextDelta); ok {
					sent += delta.Text
				}
			}
			if sent != strings.ReplaceAll(row.said, "\n\n", "") {
				t.Errorf("the socket was sent %q", sent)
			}
			if times := len(heard.requests()); (times > 0) != (row.model != nil) {
				t.Errorf("the model was asked %d times", times)
			}
			if got := f.escalations(t); got != row.escalated {
				t.Errorf("announced: %q, want %q", got, row.escalated)
			}
			if ended := f.get(t, made.Session.ID).Status == sessions.Completed; ended != row.ends {
				t.Errorf("the session has ended: %t", ended)
			}
		})
	}
}

// sayInPieces says the pieces one by one.
func sayInPieces(pieces []string) step {
	return func(_ context.Context, _ model.Request, emit func(model.Event) error) (model.Result, error) {
		for _, piece := range pieces {
			if err := emit(model.TextDelta{Text: piece}); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{Text: strings.Join(pieces, ""), FinishReason: model.FinishStop, Model: "script-1"}, nil
	}
}

// TestNoGoGreeting: a first message with a client's words in it is looked at, and so is what goes
// on behind a call of a tool.
func TestNoGoGreeting(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	agent := f.withZones(t)
	agent.Config.FirstMessage = "Hello {{who}}."
	f.agent = f.newAgent(t, f.ref, agent.Config)
	f.attach(t, "pay", "POST", 0)
	f.endpoint.Script("/pay", httptool.Step{Body: `{"paid":true}`})
	f.model = &script{steps: []step{say("I have a bo", call("pay", `{"id":"7"}`)), say("mb here.")}}
	named := func(who string) sessions.Created {
		return f.create(t, func(p *sessions.CreateParams) { p.DynamicVariables = map[string]string{"who": who} })
	}
	bad, good := named("the b0mb"), named("Anna")
	for made, said := range map[sessions.ID]string{bad.Session.ID: "I do not talk about weapons.", good.Session.ID: "Hello Anna."} {
		if turn := f.turn(t, made, "shut up"); turn.AgentText != "Goodbye then." {
			t.Errorf("answered %q", turn.AgentText)
		}
		if greeting := f.transcript(t, made)[0]; greeting.AgentText != said {
			t.Errorf("greeted with %q, want %q", greeting.AgentText, said)
		}
	}
	if turn := f.turn(t, named("Anna").Session.ID, "Pay."); strings.Contains(turn.AgentText, "mb here") ||
		!strings.Contains(turn.AgentText, "I do not talk about weapons.") {
		t.Errorf("behind a call it says %q", turn.AgentText)
	}
}
