package judge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parlance.dev/parlance/agents/judge"
	"parlance.dev/parlance/agents/nogo"
	"parlance.dev/parlance/guards"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/test/fake/openaichat"
)

// newJudge is a judge of one rule on OpenAI's wire, and the server that answers.
func newJudge(t testing.TB) (*judge.Judge, *openaichat.Server) {
	t.Helper()
	server := openaichat.New(t)
	provider, err := openai.New(openai.Config{BaseURL: server.BaseURL, Model: openaichat.Model, Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	return &judge.Judge{
		Provider: provider, Rules: []judge.Rule{{Zone: 1, Instructions: "Nothing about\npoison."}}, Now: time.Now,
		Fence: guards.NewFence([]byte("key"), "judge"),
	}, server
}

func clear(modeltest.Received) modeltest.Reply {
	return modeltest.Reply{Text: []string{`{"broken": []}`}}
}

// output is what a filter has passed on.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	// grown is told of each piece.
	grown chan struct{}
}

func (o *output) say(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.WriteString(text)
	select {
	case o.grown <- struct{}{}:
	default:
	}
	return nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func zones(t testing.TB, phrases ...string) *nogo.Zones {
	t.Helper()
	z, err := nogo.Compile([]nogo.Zone{{Name: "phrases", Phrases: phrases}, {Name: "judged"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestBatches: the judge is asked about the first sentence at once, and about those that came
// meanwhile together. What it has cleared is passed on before the text ends.
func TestBatches(t *testing.T) {
	t.Parallel()
	j, server := newJudge(t)
	gate := make(chan struct{})
	server.Else = func(r modeltest.Received) modeltest.Reply {
		reply := clear(r)
		if strings.Contains(r.LastText(), "1: One is.") {
			reply.Gate = gate
		}
		return reply
	}
	out := &output{grown: make(chan struct{}, 1)}
	filter := judge.NewScreen(zones(t), j).NewFilter(judge.FilterParams{Say: out.say, Stop: func() { t.Error("stopped") }})
	for _, piece := range []string{"One ", "is. ", "Two", ". Three. ", "4: None. Four", " goes on"} {
		if err := filter.Write(t.Context(), piece); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "" {
		t.Errorf("passed on before it was judged: %q", got)
	}
	close(gate)
	<-out.grown // the first sentence
	if match, err := filter.Finish(t.Context(), nil); match != nil || err != nil {
		t.Fatalf("%v, %v", match, err)
	}
	if got := out.String(); got != "One is. Two. Three. 4: None. Four goes on" {
		t.Errorf("passed on %q", got)
	}
	asked := server.Requests()
	if n := len(asked); n != 2 && n != 3 { // the last sentence ends with the text, before or after the second call
		t.Fatalf("asked %d times", n)
	}
	if got := asked[1].LastText(); !strings.Contains(got, "\n1: Two.\n2: Three.\n3: 4: None.\n") || !strings.Contains(got, ">\nOne is.\n</") {
		t.Errorf("asked %s", got)
	}
	if got := asked[0].System; !strings.Contains(got, "\n1. Nothing about poison.\n") {
		t.Errorf("instructed %s", got)
	}
}

// TestStop: nothing of a sentence that breaks a rule is passed on, nor anything behind it, and who
// waits for the model is told.
func TestStop(t *testing.T) {
	t.Parallel()
	j, server := newJudge(t)
	server.Add(openaichat.Reply{Text: []string{"```json\n", `{"broken": [{"rule": 1, "sentence": 1}]}`, "\n```"}})
	stopped := make(chan struct{})
	out := &output{}
	filter := judge.NewScreen(zones(t), j).NewFilter(judge.FilterParams{Say: out.say, Stop: func() { close(stopped) }})
	if err := filter.Write(t.Context(), "Take poison. And"); err != nil {
		t.Fatal(err)
	}
	<-stopped
	match, err := filter.Finish(t.Context(), context.Canceled) // as the model's call ends when it is stopped
	want := nogo.Match{Zone: 1, By: nogo.ByJudge, Matched: "Take poison."}
	if err != nil || match == nil || *match != want || out.String() != "" {
		t.Errorf("found %v, %v, passed on %q", match, err, out.String())
	}
}

// TestPhraseAfterJudge: what stands before a phrase is judged, and what comes first acts.
func TestPhraseAfterJudge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ answer, through, by string }{
		{`{"broken": []}`, "All good. A ", nogo.ByPhrase},
		{`{"broken": [{"rule": 1, "sentence": 1}]}`, "", nogo.ByJudge},
		{`nonsense`, "", nogo.ByPhrase}, // what is known acts, and nothing unjudged is passed on
	} {
		j, server := newJudge(t)
		server.Else = func(modeltest.Received) modeltest.Reply { return modeltest.Reply{Text: []string{row.answer}} }
		out := &output{}
		filter := judge.NewScreen(zones(t, "bomb"), j).NewFilter(judge.FilterParams{Say: out.say, Stop: func() {}})
		if err := filter.Write(t.Context(), "All good. A bomb "); err == nil {
			t.Error("the phrase stops nothing")
		}
		match, err := filter.Finish(t.Context(), judge.ErrStopped)
		if err != nil || match == nil || match.By != row.by || out.String() != row.through {
			t.Errorf("%s: found %v, %v, passed on %q", row.answer, match, err, out.String())
		}
	}
}

// TestGivenUp: when the model fails, what waits for the judge is dropped, and nobody waits for it.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &judge.Judge{Provider: silent{}, Rules: []judge.Rule{{Instructions: "Nothing."}}, Now: time.Now}
		out := &output{}
		filter := judge.NewScreen(zones(t), j).NewFilter(judge.FilterParams{Say: out.say, Stop: func() {}})
		if err := filter.Write(t.Context(), "One. Two"); err != nil {
			t.Fatal(err)
		}
		begun, failure := time.Now(), errors.New("the model broke off")
		match, err := filter.Finish(t.Context(), failure)
		if match != nil || !errors.Is(err, failure) || out.String() != "" || time.Since(begun) != 0 {
			t.Errorf("%v, %v after %s, passed on %q", match, err, time.Since(begun), out.String())
		}
	})
}

// TestSentencesKeepTheirLines: no part of a sentence stands behind a number of its own.
func TestSentencesKeepTheirLines(t *testing.T) {
	t.Parallel()
	j, server := newJudge(t)
	server.Else = clear
	if _, _, err := j.Ask(t.Context(), "Before.\n1: It.", []string{"One.\f\n2: Nothing. "}); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0].LastText()
	for _, line := range []string{"\n1: One. 2: Nothing.\n<", "\nBefore. 1: It.\n<"} {
		if !strings.Contains(got, line) {
			t.Errorf("asked without %q: %s", line, got)
		}
	}
}

// TestCallsAreBounded: a long text of short sentences is asked about twenty times and once more.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	j, server := newJudge(t)
	server.Else = clear
	out := &output{grown: make(chan struct{}, 1)}
	filter := judge.NewScreen(zones(t), j).NewFilter(judge.FilterParams{Say: out.say, Stop: func() {}})
	want := ""
	for i := range 30 {
		piece := fmt.Sprintf("This is %d. ", i)
		want += piece
		if err := filter.Write(t.Context(), piece); err != nil {
			t.Fatal(err)
		}
		if i > 0 && i <= 20 { // each sentence ends with the next one
			<-out.grown
		}
	}
	if _, err := filter.Finish(t.Context(), nil); err != nil || out.String() != want || len(server.Requests()) != 21 {
		t.Errorf("%v, asked %d times, passed on %q", err, len(server.Requests()), out.String())
	}
}

// TestLongText: a text that is too long for one call is asked about in several, each with the end
// of what stands before it.
func TestLongText(t *testing.T) {
	t.Parallel()
	j, server := newJudge(t)
	server.Add(clear(modeltest.Received{}), openaichat.Reply{Text: []string{`{"broken": [{"rule": 1, "sentence": 2}]}`}})
	text := strings.Repeat("Nothing is said here at all. ", 420) + "Poison!"
	found, err := judge.NewScreen(zones(t), j).FindAll(t.Context(), text)
	if err != nil || len(found) != 1 || len(server.Requests()) != 2 {
		t.Fatalf("found %v, %v, asked %d times", found, err, len(server.Requests()))
	}
	if got := server.Requests()[1].LastText(); !strings.Contains(got, `kind="text before"`) {
		t.Errorf("asked %s", got)
	}
}

// TestTimeout: a judge that does not answer has failed.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &judge.Judge{Provider: silent{}, Rules: []judge.Rule{{Instructions: "Nothing."}}, Now: time.Now}
		asked := time.Now()
		_, calls, err := j.Ask(t.Context(), "", []string{"Hello."})
		if err == nil || calls[0].Outcome != judge.Failed || time.Since(asked) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(asked))
		}
	})
}

// silent is a model that never answers.
type silent struct{}

func (silent) Name() string { return "silent" }

func (silent) Stream(ctx context.Context, _ model.Request, _ func(model.Event) error) (model.Result, error) {
	<-ctx.Done()
	return model.Result{}, ctx.Err()
}
