package live_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/dump"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/turns"
)

// What users say and tools answer in the tests of what is stored.
const (
	plantedCard  = "4242 4242 4242 4242"
	plantedEmail = "anna.planted@example.com"
	plantedPhone = "+49 30 901820"
	plantedIBAN  = "DE89 3704 0044 0532 0130 00"
)

// stored is every row of every table as text, with bytea as text where it is text.
func (f *fixture) stored(t *testing.T) string {
	t.Helper()
	rows, err := dump.Postgres(t.Context(), f.made.URL)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	if err := f.db.NewRaw("SELECT encode(body, 'escape') FROM events").Scan(t.Context(), &bodies); err != nil {
		t.Fatal(err)
	}
	return string(rows) + strings.Join(bodies, "\n")
}

// wantAbsent fails when a text holds one of some words.
func wantAbsent(t *testing.T, where, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if at := strings.Index(text, word); at >= 0 {
			t.Errorf("%s has %q: …%s…", where, word, text[max(0, at-160):min(len(text), at+80)])
		}
	}
}

// filesIn is the content of the files of a directory.
func filesIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := dump.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(slices.Collect(maps.Values(files)), nil))
}

// redacting returns a fixture whose agent redacts everything, with a tool.
func redacting(t *testing.T) (*fixture, *script) {
	t.Helper()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{
		Instructions: "You take payments.", Language: "de", FirstMessage: "Hotline 030 901821.",
		Privacy: agents.Privacy{Redact: []string{"card", "email", "phone", "iban"}},
	})
	f.attach(t, "pay", "POST", 0)
	f.endpoint.Script("/pay", httptool.Step{Body: `{"receipt_to":"` + plantedEmail + `","card":4242424242424242}`})
	answers := &script{}
	f.model = answers
	return f, answers
}

// TestRedaction: a turn is answered from what was said, over HTTP and over a socket, and its tools
// get it; what is stored, and what later turns see, is redacted.
func TestRedaction(t *testing.T) {
	t.Parallel()
	f, answers := redacting(t)
	made := f.create(t, withPin)
	pay := call("pay", `{"id":"`+plantedCard+`"}`)
	answers.steps = []step{
		say("", pay), say("Paid, a receipt goes to " + plantedEmail + "."), say("Noted: " + plantedIBAN),
		say("", call("client_card", `{"card":"`+plantedCard+`"}`)), say("Thanks."), say("Bye."),
	}
	turn := f.turn(t, made.Session.ID, "My card is "+plantedCard+", call "+plantedPhone)
	if !strings.Contains(turn.AgentText, plantedEmail) {
		t.Errorf("the caller was answered %q", turn.AgentText)
	}
	asked := answers.requests()
	if said := fmt.Sprint(asked[1].Messages); !strings.Contains(said, plantedCard) || !strings.Contains(said, plantedPhone) ||
		!strings.Contains(said, plantedEmail) {
		t.Errorf("the model of the running turn saw %s", said)
	}
	if sent := f.endpoint.Requests("/pay"); len(sent) != 1 || !strings.Contains(sent[0].Body, plantedCard) {
		t.Errorf("the tool got %+v", sent)
	}
	s := f.join(t, f.Node, made)
	done, _ := talk(s, "My IBAN is "+plantedIBAN)
	if !strings.Contains(done.Text, plantedIBAN) {
		t.Errorf("the socket was answered %q", done.Text)
	}
	asked = answers.requests()
	seen := fmt.Sprint(asked[2].Messages)
	if !strings.Contains(seen, plantedIBAN) {
		t.Errorf("the model did not see what was accepted: %s", seen)
	}
	wantAbsent(t, "what a later turn sees", seen, plantedCard, plantedPhone, plantedEmail, "4242424242424242")
	if !strings.Contains(seen, "[card]") || !strings.Contains(seen, "[phone]") || !strings.Contains(seen, "[email]") {
		t.Errorf("a later turn sees %s", seen)
	}
	s.do(live.UserMessage{Text: "Take the card of my client."})
	s.do(live.Respond{ClientTools: []model.Tool{{Name: "client_card", InputSchema: json.RawMessage(`{"type":"object"}`)}}})
	called, _ := until[turns.ClientToolCalled](s)
	if !strings.Contains(string(called.Arguments), plantedCard) {
		t.Errorf("the client is asked with %s", called.Arguments)
	}
	until[turns.ResponseDone](s)
	s.do(live.ToolOutput{CallID: called.CallID, Output: `{"iban":"` + plantedIBAN + `"}`})
	s.do(live.Respond{})
	until[turns.ResponseDone](s)
	asked = answers.requests()
	if seen = fmt.Sprint(asked[len(asked)-1].Messages); !strings.Contains(seen, plantedIBAN) {
		t.Errorf("the model did not see the client's result: %s", seen)
	}
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	var calls []tools.Call
	await(t, "the traces", func() bool {
		var err error
		filter := tools.CallFilter{SessionID: string(made.Session.ID)}
		calls, _, err = f.tools.ListCallsOfSession(t.Context(), f.ref, filter, postgres.PageParams{})
		return err == nil && len(calls) == 2
	})
	wantAbsent(t, "the database", f.stored(t), plantedCard, "4242424242424242", plantedEmail, plantedPhone, plantedIBAN)
	if got := string(calls[0].Input); got != `{"id": "[card]"}` {
		t.Errorf("traced with %s", got)
	}
	wantReceipts(t, f, made.Session.ID)
}

// wantReceipts fails when the hashes of receipts are not those of what is stored.
func wantReceipts(t *testing.T, f *fixture, id sessions.ID) {
	t.Helper()
	for _, turn := range f.transcript(t, id) {
		receipt, hash, err := f.Receipt(t.Context(), f.principal, id, turn.ID)
		if err != nil || hash != turn.ReceiptHash {
			t.Errorf("receipt %v, %v", receipt, err)
			continue
		}
		for i, call := range turn.ToolCalls() {
			if receipt.ToolCalls[i].ArgumentsHash != sessions.HashOf(call.Arguments) {
				t.Errorf("the receipt hashes other arguments than %s", call.Arguments)
			}
		}
	}
}

// TestRedactionInJournal: turns that are kept on disk while Postgres is away are redacted, answered
// from what was said, and stored redacted when it is back.
func TestRedactionInJournal(t *testing.T) {
	t.Parallel()
	f, answers := redacting(t)
	answers.steps = []step{say("First."), say("Second " + plantedPhone), say("Third.")}
	dir := t.TempDir()
	r := newRemote(t, f, dir, 1<<20)
	made := f.create(t)
	s := f.join(t, r.Node, made)
	if greeting, _ := until[turns.ResponseDone](s); !strings.Contains(greeting.Text, "030 901821") {
		t.Errorf("greeted with %q", greeting.Text)
	}
	talk(s, "one")
	r.wire.down()
	talk(s, "My card is "+plantedCard)
	if seen := fmt.Sprint(answers.requests()[1].Messages); !strings.Contains(seen, plantedCard) {
		t.Errorf("the model saw %s", seen)
	}
	talk(s, "two")
	if seen := fmt.Sprint(answers.requests()[2].Messages); strings.Contains(seen, plantedCard) || !strings.Contains(seen, "[card]") {
		t.Errorf("a later turn saw %s", seen)
	}
	wantAbsent(t, "the disk", filesIn(t, dir), plantedCard, plantedPhone)
	r.wire.mend()
	await(t, "the transcript", func() bool { return len(f.transcript(t, made.Session.ID)) == 4 })
	await(t, "the end of the replay", func() bool { return f.get(t, made.Session.ID).JournalUntil.IsZero() })
	conversation := strings.ReplaceAll(f.stored(t), `""first_message"": ""Hotline 030 901821.""`, "")
	wantAbsent(t, "the database", conversation, plantedCard, plantedPhone, "030 901821")
}
