package live_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
)

// TestZeroRetention: earlier turns are seen as they were said, over HTTP, on another node and while
// Postgres is away; what is stored, and what is on disk, is not readable.
func TestZeroRetention(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{Instructions: "You help.", Privacy: agents.Privacy{ZeroRetention: true}})
	f.attach(t, "pay", "POST", 0)
	f.endpoint.Script("/pay", httptool.Step{Body: `{"receipt_to":"` + plantedEmail + `"}`})
	answers := &script{steps: []step{
		say("", call("pay", `{"id":"`+plantedCard+`"}`)), say("Paid " + plantedIBAN), say("Second."), say("Third."), say("Fourth."),
	}}
	f.model = answers
	dir := t.TempDir()
	r := newRemote(t, f, dir, 1<<20)
	made := f.create(t, withPin)
	f.turn(t, made.Session.ID, "Call "+plantedPhone)
	sees := func(when string) {
		t.Helper()
		asked := answers.requests()
		last := asked[len(asked)-1].Messages
		seen := fmt.Sprint(last)
		for _, m := range last {
			for _, call := range m.ToolCalls {
				seen += string(call.Arguments)
			}
		}
		for _, word := range []string{plantedPhone, plantedCard, plantedEmail, plantedIBAN} {
			if !strings.Contains(seen, word) {
				t.Errorf("%s, the model did not see %s: %s", when, word, seen)
			}
		}
	}
	s := f.join(t, r.Node, made)
	var items []string
	for _, item := range s.History() {
		items = append(items, item.Text)
	}
	if all := strings.Join(items, " "); !strings.Contains(all, plantedPhone) || !strings.Contains(all, plantedIBAN) {
		t.Errorf("a socket that joins gets %q", all)
	}
	talk(s, "two")
	sees("on another node")
	r.wire.down()
	talk(s, "My card is "+plantedCard)
	sees("while Postgres is away")
	wantAbsent(t, "the disk", filesIn(t, dir), plantedCard, plantedPhone, plantedEmail, plantedIBAN)
	r.wire.mend()
	await(t, "the transcript", func() bool { return len(f.transcript(t, made.Session.ID)) == 3 })
	await(t, "the end of the replay", func() bool { return f.get(t, made.Session.ID).JournalUntil.IsZero() })
	f.turn(t, made.Session.ID, "four")
	sees("when it is back")
	wantAbsent(t, "the database", f.stored(t), plantedCard, plantedPhone, plantedEmail, plantedIBAN)
	for _, turn := range f.transcript(t, made.Session.ID) {
		if turn.UserText != "[withheld]" || turn.AgentText != "[withheld]" {
			t.Errorf("the transcript has %q and %q", turn.UserText, turn.AgentText)
		}
	}
	wantReceipts(t, f, made.Session.ID)
}

// TestZeroRetentionEdits: variables that a client adds, and how much of an answer was heard, are
// used as they are and stored without content.
func TestZeroRetentionEdits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{
		Instructions: "You help {{name}}.", Privacy: agents.Privacy{ZeroRetention: true}, ClientOverrides: []string{agents.KeyClientVariables},
	})
	answers := &script{steps: []step{say("Mail " + plantedEmail + " or call " + plantedPhone), say("Two.")}}
	f.model = answers
	made := f.create(t, func(p *sessions.CreateParams) { p.Modality = sessions.VoiceAndText })
	s := f.join(t, f.Node, made)
	s.do(live.Configure{Variables: map[string]string{"name": plantedIBAN}})
	if configured, _ := until[live.Configured](s); len(configured.Refused) > 0 {
		t.Errorf("refused: %v", configured.Refused)
	}
	done, _ := talk(s, "one")
	if asked := answers.requests()[0]; !strings.Contains(asked.System, plantedIBAN) {
		t.Errorf("the model was instructed %q", asked.System)
	}
	f.speak(t, made.Session.ID, 2000)
	s.do(live.Truncate{ItemID: done.Items[0].ID, AudioEndMS: 1400})
	until[live.ItemTruncated](s)
	wantAbsent(t, "the database", f.stored(t), plantedEmail, plantedIBAN, "Mail")
	talk(s, "two")
	if said := answers.requests()[1].Messages[1].Text; said != "Mail "+plantedEmail+" or" {
		t.Errorf("the model sees as heard %q", said)
	}
}
