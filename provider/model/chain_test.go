package model_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

// scripted says its words, then returns its error; it notes which model it was asked for.
type scripted struct {
	name  string
	words []string
	err   error
	// finish is FinishStop when empty.
	finish model.FinishReason
	asked  []string
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Stream(_ context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	s.asked = append(s.asked, req.Model)
	for _, word := range s.words {
		if err := emit(model.TextDelta{Text: word}); err != nil {
			return model.Result{}, err
		}
	}
	return model.Result{
		Provider: s.name, Text: strings.Join(s.words, ""), FinishReason: cmp.Or(s.finish, model.FinishStop),
		Usage: model.Usage{InputTokens: 2, Incomplete: s.err != nil},
	}, s.err
}

func chained(providers ...model.Provider) model.Provider {
	return model.Chain(model.ChainParams{Providers: providers, Now: time.Now})
}

func limited(after time.Duration) error {
	err := fault.New(fault.ServiceUnavailable, "one is limiting our rate.")
	err.RetryAfter = after
	return err
}

func TestChain(t *testing.T) {
	t.Parallel()
	down := fault.New(fault.UpstreamFailed, "two could not be reached.")
	hangUp, cancel := context.WithCancel(t.Context())
	cancel()
	rows := []struct {
		name       string
		ctx        context.Context
		one, two   scripted
		answeredBy string
		reason     fault.Reason
		words      string
	}{
		{"first answers", t.Context(), scripted{words: []string{"a"}}, scripted{words: []string{"b"}}, "one", "", ""},
		{"second answers", t.Context(), scripted{err: limited(0)}, scripted{words: []string{"b"}}, "two", "", ""},
		{
			"not after a word", t.Context(),
			scripted{words: []string{"a"}, err: down},
			scripted{words: []string{"b"}},
			"one",
			fault.UpstreamFailed, "two could not",
		},
		{"not after a hang-up", hangUp, scripted{err: context.Canceled}, scripted{words: []string{"b"}}, "one", fault.CallerCanceled, ""},
		{
			"all overloaded", t.Context(),
			scripted{err: limited(9 * time.Second)},
			scripted{err: limited(4 * time.Second)},
			"",
			fault.ServiceUnavailable, "No model answered",
		},
		{
			"one down", t.Context(),
			scripted{err: limited(9 * time.Second)},
			scripted{err: down},
			"", fault.UpstreamFailed,
			"limiting our rate. two could not",
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.one.name, row.two.name = "one", "two"
			result, err := chained(&row.one, &row.two).Stream(row.ctx, model.Request{Model: "big"}, func(model.Event) error { return nil })
			if fault.ReasonOf(err) != row.reason || (err != nil && !strings.Contains(fault.From(err).Message, row.words)) {
				t.Errorf("error %v, want %s with %q", err, row.reason, row.words)
			}
			if row.answeredBy != "" && result.Provider != row.answeredBy {
				t.Errorf("answered by %q, want %q", result.Provider, row.answeredBy)
			}
			if row.answeredBy == "one" && len(row.two.asked) != 0 {
				t.Error("the second was asked too")
			}
			if len(row.two.asked) > 0 && row.two.asked[0] != "" {
				t.Errorf("the second was asked for the first's model %q", row.two.asked[0])
			}
		})
	}
}

func TestChainTellsTheSoonestRetry(t *testing.T) {
	t.Parallel()
	c := chained(&scripted{err: limited(9 * time.Second)}, &scripted{err: limited(4 * time.Second)})
	_, err := c.Stream(t.Context(), model.Request{}, func(model.Event) error { return nil })
	if got := fault.From(err).RetryAfter; got != 4*time.Second {
		t.Errorf("retry after %s, want 4s", got)
	}
}

// TestChainTellsItsAttempts: who was asked, why it did not answer, and what all of it cost.
func TestChainTellsItsAttempts(t *testing.T) {
	t.Parallel()
	silent := func() model.Provider { return &scripted{name: "silent"} }
	cut := &scripted{name: "cut", finish: model.FinishLength}
	rows := []struct {
		name      string
		providers []model.Provider
		want      []string
		tokens    model.Usage
		failed    bool
	}{
		{
			"first answers",
			[]model.Provider{&scripted{name: "one", words: []string{"a"}}, silent()},
			[]string{"one "},
			model.Usage{InputTokens: 2},
			false,
		},
		{
			"empty is failed over",
			[]model.Provider{silent(), &scripted{name: "two", words: []string{"b"}}},
			[]string{"silent empty-answer", "two "},
			model.Usage{InputTokens: 4},
			false,
		},
		{
			"the last may be empty",
			[]model.Provider{&scripted{name: "one", err: limited(0)}, silent()},
			[]string{"one unavailable", "silent "},
			model.Usage{InputTokens: 4, Incomplete: true},
			false,
		},
		{"cut is not empty", []model.Provider{cut, silent()}, []string{"cut "}, model.Usage{InputTokens: 2}, false},
		{
			"none",
			[]model.Provider{&scripted{name: "one", err: limited(0)}, &scripted{name: "two", err: limited(0)}},
			[]string{"one unavailable", "two unavailable"},
			model.Usage{InputTokens: 4, Incomplete: true},
			true,
		},
		{
			"alone",
			[]model.Provider{&scripted{name: "one", err: limited(0)}},
			[]string{"one unavailable"},
			model.Usage{InputTokens: 2, Incomplete: true},
			true,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			result, err := chained(row.providers...).Stream(t.Context(), model.Request{}, func(model.Event) error { return nil })
			var got []string
			for _, a := range result.Attempts {
				got = append(got, a.Provider+" "+a.Reason)
				if (a.Reason == "") != (a.Message == "") {
					t.Errorf("attempt %+v has a reason or a sentence, not both", a)
				}
			}
			if !slices.Equal(got, row.want) || result.Usage != row.tokens || (err != nil) != row.failed {
				t.Errorf("got %q, %+v, %v; want %q, %+v", got, result.Usage, err, row.want, row.tokens)
			}
		})
	}
}

// TestGuard: a provider that failed in a row is not asked, its chain goes on at once, and it is
// tried again when its pause is over.
func TestGuard(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	registry := prometheus.NewRegistry()
	params := model.GuardParams{
		Breaker: model.Breaker(), Key: "one", Now: func() time.Time { return now }, Metrics: model.NewMetrics(registry),
	}
	broken := fault.New(fault.UpstreamFailed, "one broke off in the middle of its answer.")
	broken.Meta = map[string]string{"provider": "one"}
	refused := fault.New(fault.UpstreamFailed, "one (status 401) refused the API key.")
	refused.Meta = map[string]string{"provider": "one", "status": "401"}
	one := &scripted{name: "one", err: refused}
	guarded := model.Guard(one, params)
	ask := func(p model.Provider) (model.Result, error) {
		return p.Stream(t.Context(), model.Request{}, func(model.Event) error { return nil })
	}
	for range 6 { // the server is there
		_, _ = ask(guarded)
	}
	one.err = broken
	for range 5 {
		_, _ = ask(guarded)
	}
	if len(one.asked) != 11 {
		t.Fatalf("asked %d times, want 11", len(one.asked))
	}
	_, err := ask(model.Chain(model.ChainParams{Providers: []model.Provider{guarded}, Now: params.Now}))
	if f := fault.From(err); f.Reason != fault.ServiceUnavailable || f.RetryAfter != 15*time.Second ||
		!strings.Contains(f.Message, "try again in 15 s") {
		t.Errorf("got %v, want unavailable for 15 s", err)
	}
	result, err := ask(chained(guarded, &scripted{name: "two", words: []string{"b"}}))
	if err != nil || result.Provider != "two" || result.Attempts[0].Reason != model.ReasonCircuitOpen || len(one.asked) != 11 {
		t.Errorf("got %+v, %v after %d questions", result, err, len(one.asked))
	}
	now = now.Add(15 * time.Second)
	one.err, one.words = nil, []string{"back"}
	if result, err := ask(guarded); err != nil || result.Text != "back" {
		t.Errorf("the trial said %q, %v", result.Text, err)
	}
	if result, err := ask(guarded); err != nil || result.Text != "back" {
		t.Errorf("after the trial: %q, %v", result.Text, err)
	}
	if n := testutil.CollectAndCount(registry, "parlance_model_circuits_opened_total"); n != 1 {
		t.Errorf("%d openings are shown", n)
	}
}

// TestTrialIsOverAtTheFirstToken: others need not wait for the end of its answer.
func TestTrialIsOverAtTheFirstToken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	params := model.GuardParams{Breaker: model.Breaker(), Key: "one", Now: func() time.Time { return now }}
	broken := fault.New(fault.UpstreamFailed, "one could not be reached.")
	broken.Meta = map[string]string{"provider": "one"}
	one := &scripted{name: "one", err: broken}
	guarded := model.Guard(one, params)
	for range 5 {
		_, _ = guarded.Stream(t.Context(), model.Request{}, func(model.Event) error { return nil })
	}
	now = now.Add(time.Minute)
	one.err, one.words = nil, []string{"first"}
	_, err := guarded.Stream(t.Context(), model.Request{}, func(model.Event) error {
		_, err := model.Guard(&scripted{name: "one"}, params).Stream(t.Context(), model.Request{}, nil)
		return err
	})
	if err != nil {
		t.Errorf("beside a trial that speaks: %v", err)
	}
}
