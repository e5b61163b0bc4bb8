package live_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/turns"
	"parlance.dev/parlance/usage"
)

func (f *fixture) receipt(t *testing.T, turn sessions.Turn) sessions.Receipt {
	t.Helper()
	receipt, hash, err := f.Receipt(t.Context(), f.principal, turn.SessionID, turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	var stored string
	if err := f.db.NewRaw("SELECT receipt::text FROM turns WHERE id = ?", turn.ID).Scan(t.Context(), &stored); err != nil {
		t.Fatal(err)
	}
	// The stored form is canonical: encoding/json sorts a map's keys.
	var free map[string]any
	if err := json.Unmarshal([]byte(stored), &free); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(free); err != nil {
		t.Fatal(err)
	}
	canonical := strings.TrimSuffix(b.String(), "\n")
	if canonical != stored {
		t.Errorf("the receipt is not canonical:\n%s\n%s", stored, canonical)
	}
	sum := sha256.Sum256([]byte(canonical))
	if got := hex.EncodeToString(sum[:]); got != hash {
		t.Errorf("hash %s, the content's is %s", hash, got)
	}
	for _, one := range f.transcript(t, turn.SessionID) {
		if one.ID == turn.ID && one.ReceiptHash != hash {
			t.Errorf("the turn says %q, its receipt %q", one.ReceiptHash, hash)
		}
	}
	return receipt
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	prices, err := usage.ParsePrices([]byte(`{"currency":"USD",
		"models":{"script/script-1":{"input_per_million":"0.40","output_per_million":1.6}}}`))
	if err != nil {
		t.Fatal(err)
	}
	f.Node = f.start(t, rooms.Deps{Prices: prices})
	f.attach(t, "find_order", "GET", 0)
	f.endpoint.Script("/find_order", httptool.Step{Body: `{"state":"shipped"}`})
	f.passages.passages = []sessions.Passage{{
		SourceID: "src_1", SourceName: "Refunds <\u2028&> Ünïcode", ChunkID: "chk_1", Similarity: 0.123456789,
		Text:      "Within fourteen days.",
		CharStart: 10, CharEnd: 31, PageStart: 2, PageEnd: 3,
	}}
	f.model = &script{steps: []step{say("Let me look.", call("find_order", `{"id":"A1"}`)), say("It is shipped.",
		call("no_such_tool", `{}`)), say("Done.")}}
	turn := f.turn(t, f.create(t, withPin).Session.ID, "Where is my order A1?")
	r := f.receipt(t, turn)
	if r.Status != "completed" || r.BegunBy != "user" || r.AgentID != string(f.agent.ID) || r.AgentVersion != 1 ||
		r.Usage.InputTokens != 30 || r.Usage.Model != "script-1" {
		t.Errorf("receipt %+v", r)
	}
	if len(r.ModelCalls) != 3 || r.ModelCalls[0].Provider != "script" || r.ModelCalls[0].Model != "script-1" ||
		len(r.ModelCalls[0].PromptHash) != 64 ||
		r.ModelCalls[0].PromptHash == r.ModelCalls[1].PromptHash || r.ModelCalls[1].Messages != 3 ||
		r.ModelCalls[0].Tools == 0 || r.ModelCalls[0].FirstTokenMS == 0 {
		t.Errorf("model calls %+v", r.ModelCalls)
	}
	if len(r.Passages) != 1 || r.Passages[0].Similarity != 0.1235 || r.Passages[0].CharStart != 10 ||
		r.Passages[0].CharEnd != 31 || r.Passages[0].PageEnd != 3 ||
		r.Passages[0].TextHash != sha("Within fourteen days.") {
		t.Errorf("passages %+v", r.Passages)
	}
	if len(r.ToolCalls) != 2 || r.ToolCalls[0].Status != "succeeded" ||
		r.ToolCalls[0].ArgumentsHash != sha(`{"id":"A1"}`) || r.ToolCalls[0].StatusCode != 200 ||
		r.ToolCalls[1].Status != "refused" || r.ToolCalls[1].ErrorCode != "unknown-tool" || r.ToolCalls[0].ID != turn.ToolCalls()[0].ID {
		t.Errorf("tool calls %+v", r.ToolCalls)
	}
	if r.Cost == nil || r.Cost.Amount != "0.0000264" || r.Cost.Currency != "USD" { // 30 × 0.4 and 9 × 1.6 millionths
		t.Errorf("cost %+v", r.Cost)
	}
	stages := map[string]int{}
	for _, stage := range r.Stages {
		stages[stage.Stage]++
	}
	for name, times := range map[string]int{
		"lease": 1, "history": 1, "retrieval": 1, "tool_list": 1, "model": 3,
		"tools": 2, "persistence": 2,
	} {
		if stages[name] != times {
			t.Errorf("%d stages %s, want %d: %+v", stages[name], name, times, r.Stages)
		}
	}
	var text string
	if err := f.db.NewRaw("SELECT receipt::text FROM turns WHERE id = ?", turn.ID).Scan(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"order A1", "shipped", "fourteen"} {
		if strings.Contains(text, words) {
			t.Errorf("the receipt holds the words %q", words)
		}
	}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestReceiptOfEveryTurn: greetings and failed, cancelled and abandoned turns have a receipt too.
func TestReceiptOfEveryTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.agent = f.newAgent(t, f.ref, agents.Config{FirstMessage: "Hello!"})
	said := make(chan struct{})
	f.model = &script{steps: []step{
		func(_ context.Context, _ model.Request, _ func(model.Event) error) (model.Result, error) {
			return model.Result{}, fault.New(fault.ServiceUnavailable, "script is overloaded.")
		},
		sayAndWait("I was about", said),
	}}
	made := f.create(t)
	_, err := f.Turn(t.Context(), f.principal, made.Session.ID, "one", nil)
	wantReason(t, err, fault.UpstreamFailed)
	socket := f.join(t, f.Node, made)
	socket.do(live.UserMessage{Text: "two"})
	socket.do(live.Respond{})
	received(t, "the answer", said)
	running := f.transcript(t, made.Session.ID)[2]
	_, _, err = f.Receipt(t.Context(), f.principal, made.Session.ID, running.ID)
	wantReason(t, err, fault.ResourceNotFound)
	socket.do(live.Cancel{})
	until[turns.ResponseDone](socket)
	socket.do(live.UserMessage{Text: "three"})
	until[live.ItemAdded](socket)
	if _, err := f.End(t.Context(), f.principal, made.Session.ID, sessions.EndParams{Status: sessions.Completed}); err != nil {
		t.Fatal(err)
	}
	want := []string{"agent completed 0 ", "user failed 1 upstream-failed", "user cancelled 1 ", "user cancelled 0 "}
	taken := f.transcript(t, made.Session.ID)
	if len(taken) != len(want) {
		t.Fatalf("%d turns", len(taken))
	}
	for i, turn := range taken {
		r := f.receipt(t, turn)
		if got := r.BegunBy + " " + r.Status + " " + strconv.Itoa(len(r.ModelCalls)) + " " + r.ErrorCode; got != want[i] {
			t.Errorf("turn %d: %q, want %q", i, got, want[i])
		}
		if r.Cost != nil {
			t.Errorf("a cost out of nowhere: %+v", r.Cost)
		}
	}
	if taken[1].ErrorCode == "" || f.receipt(t, taken[1]).ModelCalls[0].ErrorCode != "unavailable" {
		t.Errorf("the failed call: %+v", f.receipt(t, taken[1]).ModelCalls)
	}
	other, _ := f.tenant(t, "pro")
	_, _, err = f.Receipt(t.Context(), other, made.Session.ID, taken[0].ID)
	wantReason(t, err, fault.ResourceNotFound)
	_, _, err = f.Receipt(t.Context(), f.principal, f.create(t).Session.ID, taken[0].ID)
	wantReason(t, err, fault.ResourceNotFound)
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`[]`, `{}`, `{"currency":"usd"}`, `{"currency":"USD","price":{}}`,
		`{"currency":"USD","models":{"x":{"input_per_million":"-1","output_per_million":"1"}}}`,
		`{"currency":"USD","models":{"x":{"input_per_million":"1e3","output_per_million":"1"}}}`, `{"currency":"USD","models":{"x":{}}}`,
	} {
		if _, err := usage.ParsePrices([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// TestReceiptOfATurnThatWaited: the time that a turn waited for an earlier one, over HTTP and on a
// socket, is in its lease stage and in its total.
func TestReceiptOfATurnThatWaited(t *testing.T) {
	t.Parallel()
	const wait = 5 * time.Second
	check := func(t *testing.T, f *fixture, turn sessions.Turn) {
		t.Helper()
		r := f.receipt(t, turn)
		if first := r.Stages[0]; first.Stage != "lease" || first.StartMS != 0 || first.DurationMS < int(wait.Milliseconds()) {
			t.Errorf("stages %+v", r.Stages)
		}
		for _, stage := range r.Stages[1:] {
			if stage.StartMS < int(wait.Milliseconds()) {
				t.Errorf("%+v began before the turn did", stage)
			}
		}
		if turn.Metrics.TotalMS < int(wait.Milliseconds()) {
			t.Errorf("the turn took %d ms", turn.Metrics.TotalMS)
		}
	}
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		begun := make(chan struct{})
		f.model = &script{steps: []step{sayAndWait("One", begun), say("Two.")}}
		made := f.create(t)
		first, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		go func() { _, _ = f.Turn(first, f.principal, made.Session.ID, "one", nil) }()
		received(t, "the first turn", begun)
		second := make(chan sessions.Turn, 1)
		go func() {
			turn, err := f.Turn(context.WithoutCancel(first), f.principal, made.Session.ID, "two", nil)
			if err != nil {
				t.Errorf("the second turn: %v", err)
			}
			second <- turn
		}()
		await(t, "the second turn waits", func() bool { return f.Queued(made.Session.ID) == 2 })
		f.clock.advance(wait)
		hangUp()
		check(t, f, <-second)
	})
	t.Run("Socket", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		begun := make(chan struct{})
		f.model = &script{steps: []step{sayAndWait("One", begun), say("Two.")}}
		made := f.create(t)
		s := f.join(t, f.Node, made)
		s.do(live.UserMessage{Text: "one"})
		s.do(live.Respond{})
		received(t, "the first answer", begun)
		s.do(live.UserMessage{Text: "two"})
		s.do(live.Respond{})
		s.do(live.Cancel{ResponseID: "resp_another"})
		until[live.Failed](s) // so that the Respond before it has been carried out
		f.clock.advance(wait)
		s.do(live.Cancel{})
		until[turns.ResponseDone](s)
		until[turns.ResponseDone](s)
		check(t, f, f.transcript(t, made.Session.ID)[1])
	})
}
