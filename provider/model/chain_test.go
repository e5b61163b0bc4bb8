package model_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

// scripted says its words, then returns its error; it notes which model it was asked for.
type scripted struct {
	name  string
	words []string
	err   error
	asked []string
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Stream(_ context.Context, req model.Request, emit func(model.Event) error) (model.Result, error) {
	s.asked = append(s.asked, req.Model)
	for _, word := range s.words {
		if err := emit(model.TextDelta{Text: word}); err != nil {
			return model.Result{}, err
		}
	}
	return model.Result{Provider: s.name, Text: strings.Join(s.words, "")}, s.err
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
		ctx        context.Context //nolint:containedctx // a row's input
		one, two   scripted
		answeredBy string
		reason     fault.Reason
		words      string
	}{
		{"first answers", t.Context(), scripted{words: []string{"a"}}, scripted{words: []string{"b"}}, "one", "", ""},
		{"second answers", t.Context(), scripted{err: limited(0)}, scripted{words: []string{"b"}}, "two", "", ""},
		{"not after a word", t.Context(), scripted{words: []string{"a"}, err: down}, scripted{words: []string{"b"}}, "one", fault.UpstreamFailed, "two could not"},
		{"not after a hang-up", hangUp, scripted{err: context.Canceled}, scripted{words: []string{"b"}}, "one", fault.CallerCanceled, ""},
		{"all overloaded", t.Context(), scripted{err: limited(9 * time.Second)}, scripted{err: limited(4 * time.Second)}, "", fault.ServiceUnavailable, "No model answered"},
		{"one down", t.Context(), scripted{err: limited(9 * time.Second)}, scripted{err: down}, "", fault.UpstreamFailed, "limiting our rate. two could not"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.one.name, row.two.name = "one", "two"
			result, err := model.Chain(&row.one, &row.two).Stream(row.ctx, model.Request{Model: "big"}, func(model.Event) error { return nil })
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
	c := model.Chain(&scripted{err: limited(9 * time.Second)}, &scripted{err: limited(4 * time.Second)})
	_, err := c.Stream(t.Context(), model.Request{}, func(model.Event) error { return nil })
	if got := fault.From(err).RetryAfter; got != 4*time.Second {
		t.Errorf("retry after %s, want 4s", got)
	}
}
