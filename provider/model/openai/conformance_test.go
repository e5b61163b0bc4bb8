package openai_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/provider/model/openai"
	"parlance.dev/parlance/test/fake/openaichat"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, func(t *testing.T, s modeltest.Setup) (model.Provider, *modeltest.Script) {
		fake := openaichat.NewWithKey(t, cmp.Or(s.Key, modeltest.Key), s.Replies...)
		return provider(t, openai.Config{BaseURL: cmp.Or(s.BaseURL, fake.BaseURL), APIKey: s.APIKey, Timeouts: s.Timeouts}), fake.Script
	})
}

func provider(t *testing.T, cfg openai.Config) *openai.Provider {
	t.Helper()
	cfg.Client, cfg.Model, cfg.MaxRetryDelay = &http.Client{}, openaichat.Model, time.Millisecond
	p, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLocalServer covers what careless and local servers do: no key, whole calls without index
// and id, and ids that must not collide with earlier rounds.
func TestLocalServer(t *testing.T) {
	t.Parallel()
	fake := openaichat.New(t, openaichat.Reply{Loose: true, NoFinish: true, NoUsage: true, Calls: []openaichat.Call{
		{Name: "a", Arguments: []string{`{"n":1}`}}, {Name: "a", Arguments: []string{`{"n":2}`}}, {Name: "b"},
	}})
	p := provider(t, openai.Config{BaseURL: fake.BaseURL + "/"})
	earlier := model.ToolCall{ID: "call_2", Name: "a", Arguments: json.RawMessage(`{}`)}
	result, err := p.Stream(t.Context(), model.Request{Messages: []model.Message{
		{Role: model.RoleUser, Text: "one"},
		{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{earlier}},
		{Role: model.RoleTool, ToolCallID: "call_2", Text: "done"},
		{Role: model.RoleUser, Text: "more"},
	}}, func(model.Event) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{earlier.ID: true}
	var got []string
	for _, c := range result.ToolCalls {
		got = append(got, c.Name+string(c.Arguments))
		if c.ID == "" || seen[c.ID] {
			t.Errorf("id %q is empty or taken", c.ID)
		}
		seen[c.ID] = true
	}
	if diff := gocmp.Diff(got, []string{`a{"n":1}`, `a{"n":2}`, `b{}`}); diff != "" {
		t.Error(diff)
	}
	if _, sent := fake.Requests()[0].Header["Authorization"]; sent {
		t.Error("an Authorization header was sent without a key")
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]openai.Config{
		"no client": {Model: "m"},
		"no model":  {Client: &http.Client{}},
		"no scheme": {Client: &http.Client{}, Model: "m", BaseURL: "localhost:11434/v1"},
	} {
		if _, err := openai.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
