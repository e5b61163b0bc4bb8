package modeltest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
)

func (s suite) refusals(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		reply  Reply
		reason fault.Reason
		words  string
		after  time.Duration
	}{
		{"forbidden", Reply{Status: http.StatusForbidden}, fault.UpstreamFailed, "(status 403) refused the API key", 0},
		{"no such model", Reply{Status: http.StatusNotFound}, fault.UpstreamFailed, "(status 404)", 0},
		{"bad request", Reply{Status: http.StatusBadRequest}, fault.UpstreamFailed, "(status 400)", 0},
		{"rate limited", Reply{Status: http.StatusTooManyRequests, RetryAfter: "17"}, fault.ServiceUnavailable, "(status 429)", 17 * time.Second},
		{"server error", Reply{Status: http.StatusInternalServerError}, fault.UpstreamFailed, "(status 500)", 0},
		{"no JSON", Reply{Status: http.StatusBadGateway, Body: "<html>Bad Gateway</html>"}, fault.UpstreamFailed, "(status 502)", 0},
		{
			"odd JSON",
			Reply{Status: http.StatusNotFound, Body: `{"error":"model not found, " + "pull it"}`},
			fault.UpstreamFailed,
			"(status 404)", 0,
		},
		{"string error", Reply{Status: http.StatusBadRequest, Body: `{"error":"no tools"}`}, fault.UpstreamFailed, "(status 400)", 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, _ := s.with(t, row.reply, row.reply)
			_, events, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
			f := failed(t, err, row.reason, p.Name()+" "+row.words)
			if f.RetryAfter != row.after || len(events) != 0 {
				t.Errorf("retry after %s, %d events", f.RetryAfter, len(events))
			}
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		t.Parallel()
		p, script := s.start(t, Setup{APIKey: wrongKey})
		_, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
		failed(t, err, fault.UpstreamFailed, p.Name()+" (status 401) refused the API key")
		if n := len(script.Requests()); n != 0 {
			t.Errorf("%d requests got in", n)
		}
	})
}

// repeats: once more after a failure that may pass, not after one that asks for a long wait.
func (s suite) repeats(t *testing.T) {
	t.Parallel()
	p, script := s.with(t, Reply{Status: http.StatusServiceUnavailable}, Reply{Text: []string{"here"}})
	result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
	if err != nil || result.Text != "here" || len(script.Requests()) != 2 {
		t.Errorf("got %q, %v after %d requests", result.Text, err, len(script.Requests()))
	}
	p, script = s.with(t, Reply{Status: http.StatusTooManyRequests, RetryAfter: "17"}, Reply{Text: []string{"here"}})
	_, _, err = ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
	failed(t, err, fault.ServiceUnavailable, "429")
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d requests although the server asked for 17 s", n)
	}
}

// breaksOff: an answer that is not whole is an error, keeps its words, and runs no tool.
func (s suite) breaksOff(t *testing.T) {
	t.Parallel()
	calls := []Call{{ID: "c1", Name: weather.Name, Arguments: []string{`{"place":"Rome"}`}}}
	for name, end := range map[string]End{"error event": EndError, "cut": EndCut, "short": EndShort} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, script := s.with(t, Reply{Text: []string{"Half an "}, Calls: calls, End: end})
			result, events, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
			failed(t, err, fault.UpstreamFailed, "in the middle of its answer")
			same(t, "events", events, []model.Event{model.TextDelta{Text: "Half an "}})
			if !result.Usage.Incomplete || result.Usage.OutputTokens == Usage.OutputTokens {
				t.Errorf("the usage of half an answer is %+v", result.Usage)
			}
			if result.Text != "Half an " || len(result.ToolCalls) != 0 || len(script.Requests()) != 1 {
				t.Errorf("result %+v after %d requests", result, len(script.Requests()))
			}
		})
	}
}

// silence: the waits for the first and for the next token are bounded.
func (s suite) silence(t *testing.T) {
	t.Parallel()
	t.Run("first token", func(t *testing.T) {
		t.Parallel()
		p, _ := s.start(
			t,
			Setup{
				APIKey: Key, Timeouts: model.Timeouts{FirstToken: waitShort, BetweenTokens: waitLong},
				Replies: []Reply{{Text: []string{"never"}, Gate: make(chan struct{})}},
			},
		)
		_, events, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
		failed(t, err, fault.UpstreamFailed, p.Name()+" did not begin to answer in time")
		if len(events) != 0 {
			t.Errorf("%d events", len(events))
		}
	})
	t.Run("events that say nothing", func(t *testing.T) {
		t.Parallel()
		p, _ := s.start(
			t, Setup{APIKey: Key, Timeouts: model.Timeouts{FirstToken: 4 * waitShort, BetweenTokens: waitLong}, Replies: []Reply{{Idle: true}}},
		)
		_, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
		failed(t, err, fault.UpstreamFailed, "did not begin to answer in time")
	})
	t.Run("next token", func(t *testing.T) {
		t.Parallel()
		gate := make(chan struct{}, 1)
		gate <- struct{}{}
		p, _ := s.start(
			t,
			Setup{
				APIKey: Key, Timeouts: model.Timeouts{FirstToken: waitLong, BetweenTokens: waitShort},
				Replies: []Reply{{Text: []string{"one ", "two"}, Gate: gate}},
			},
		)
		result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
		failed(t, err, fault.UpstreamFailed, "fell silent")
		if result.Text != "one " {
			t.Errorf("text %q", result.Text)
		}
	})
}

// tooLongAnAnswer: one that goes on for ever is ended, and keeps its words.
func (s suite) tooLongAnAnswer(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	p, _ := s.start(
		t,
		Setup{
			APIKey: Key, Timeouts: model.Timeouts{FirstToken: waitLong, BetweenTokens: waitLong, Whole: 10 * waitShort},
			Replies: []Reply{{Text: []string{"one ", "two"}, Gate: gate}},
		},
	)
	result, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
	failed(t, err, fault.UpstreamFailed, "did not come to the end of its answer in time")
	if result.Text != "one " && result.Text != "" { // a machine that is slow enough has not even begun
		t.Errorf("text %q", result.Text)
	}
}

// standby: while another provider stands by nothing is repeated and nothing waited for.
func (s suite) standby(t *testing.T) {
	t.Parallel()
	p, script := s.with(t, Reply{Status: http.StatusServiceUnavailable, RetryAfter: "0.001"}, Reply{Text: []string{"here"}})
	_, _, err := ask(t.Context(), p, model.Request{Standby: true, Messages: []model.Message{user("hi")}})
	failed(t, err, fault.ServiceUnavailable, "503")
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d requests although another stands by", n)
	}
}

// aboutTheConversation: refusals that the vendor's words tell apart from other bad requests, and
// what a chain makes of each.
func (s suite) aboutTheConversation(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, body, words string
		failsOver         bool
	}{
		{
			"too long for OpenAI", `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`,
			"cannot read a conversation of this length", true,
		},
		{
			"too long for Anthropic",
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`,
			"history_tokens", true,
		},
		{
			"filtered",
			`{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management " +
				"policy.","code":"content_filter"}}`,
			"content filter", false,
		},
		{"bad", `{"error":{"message":"tools[0].name is bad"}}`, "did not accept the request", false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, _ := s.with(t, Reply{Status: http.StatusBadRequest, Body: row.body})
			other, script := s.with(t, Reply{Text: []string{"other"}})
			both := model.Chain(model.ChainParams{Providers: []model.Provider{p, other}, Now: time.Now})
			result, _, err := ask(t.Context(), both, model.Request{Messages: []model.Message{user("hi")}})
			if row.failsOver != (err == nil && result.Text == "other") || row.failsOver != (len(script.Requests()) == 1) {
				t.Errorf("the other one said %q, %v", result.Text, err)
			}
			if got := result.Attempts[0]; got.Reason != string(fault.UpstreamFailed) || !strings.Contains(got.Message, row.words) {
				t.Errorf("attempt %+v, want one with %q", got, row.words)
			}
		})
	}
}

// listenerStops: an error of emit ends the answer and comes back.
func (s suite) listenerStops(t *testing.T) {
	t.Parallel()
	p, _ := s.with(t, Reply{Text: []string{"one ", "two ", "three"}})
	result, err := p.Stream(
		t.Context(), model.Request{Messages: []model.Message{user("hi")}}, func(model.Event) error { return errOfListener },
	)
	if !errors.Is(err, errOfListener) || result.Text != "one " {
		t.Errorf("got %q, %v", result.Text, err)
	}
}

func (s suite) callerHangsUp(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{}, 1)
	gate <- struct{}{}
	p, _ := s.with(t, Reply{Text: []string{"one ", "two"}, Gate: gate})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := p.Stream(ctx, model.Request{Messages: []model.Message{user("hi")}}, func(model.Event) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || !fault.IsReason(err, fault.CallerCanceled) {
		t.Errorf("got %v", err)
	}
}

// nobodyThere: port 1 of this machine listens to nobody.
func (s suite) nobodyThere(t *testing.T) {
	t.Parallel()
	p, _ := s.start(t, Setup{APIKey: Key, BaseURL: "http://127.0.0.1:1/v1"})
	_, _, err := ask(t.Context(), p, model.Request{Messages: []model.Message{user("hi")}})
	failed(t, err, fault.UpstreamFailed, p.Name()+" could not be reached")
}

func (s suite) probe(t *testing.T) {
	t.Parallel()
	p, _ := s.with(t)
	for _, step := range model.Probe(t.Context(), p, time.Now) {
		if !step.OK || step.Advice != "" {
			t.Errorf("%s failed: %s %s", step.Name, step.Detail, step.Advice)
		}
	}
	p, _ = s.with(t, Reply{Text: []string{"hel", "lo"}}, Reply{Text: []string{"I would rather talk."}})
	steps := model.Probe(t.Context(), p, time.Now)
	if len(steps) != 2 || !steps[0].OK || steps[1].OK || steps[1].Advice == "" {
		t.Errorf("a model without tools: %+v", steps)
	}
	p, _ = s.start(t, Setup{APIKey: wrongKey})
	steps = model.Probe(t.Context(), p, time.Now)
	if len(steps) != 1 || steps[0].OK || steps[0].Advice == "" {
		t.Errorf("a wrong key: %+v", steps)
	}
}
