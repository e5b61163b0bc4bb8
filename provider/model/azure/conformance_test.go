package azure_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/azure"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/openaichat"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{"v1": "", "dated": "2024-10-21"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modeltest.Run(t, func(t *testing.T, s modeltest.Setup) (model.Provider, *modeltest.Script) {
				fake := openaichat.NewAzure(t, cmp.Or(s.Key, modeltest.Key), "", s.Replies...)
				return open(
					t, azure.Config{BaseURL: cmp.Or(s.BaseURL, fake.BaseURL), APIVersion: version, APIKey: s.APIKey, Timeouts: s.Timeouts},
				), fake.Script
			})
		})
	}
}

func open(t *testing.T, cfg azure.Config) model.Provider {
	t.Helper()
	cfg.Client, cfg.MaxRetryDelay = &http.Client{}, time.Millisecond
	cfg.Deployment = cmp.Or(cfg.Deployment, "chat-of-ours")
	p, err := azure.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(t *testing.T, p model.Provider, req model.Request) (model.Result, error) {
	t.Helper()
	req.Messages = []model.Message{{Role: model.RoleUser, Text: "hi"}}
	return p.Stream(t.Context(), req, func(model.Event) error { return nil })
}

// TestForms: every form of the base URL finds the deployment.
func TestForms(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, path, version string }{
		{"endpoint", "/", ""},
		{"v1", "/openai/v1/", ""},
		{"v1 of a preview", "/openai/v1?api-version=preview", ""},
		{"openai", "/openai", "2024-10-21"},
		{"target URI", "/openai/deployments/chat-of-ours/chat/completions?api-version=2025-01-01-preview", ""},
		{"old version", "", "2024-02-01"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			fake := openaichat.NewAzure(t, modeltest.Key, "chat-of-ours", openaichat.Reply{Text: []string{"here"}})
			p := open(t, azure.Config{BaseURL: fake.BaseURL + row.path, APIVersion: row.version, APIKey: modeltest.Key})
			result, err := ask(t, p, model.Request{MaxOutputTokens: 9})
			if err != nil || result.Text != "here" || p.Name() != "azure" {
				t.Fatalf("got %q, %v", result.Text, err)
			}
		})
	}
}

func TestOtherDeployment(t *testing.T) {
	t.Parallel()
	fake := openaichat.NewAzure(t, modeltest.Key, "chat-of-ours", openaichat.Reply{Text: []string{"here"}})
	for _, version := range []string{"", "2024-10-21"} {
		_, err := ask(
			t, open(t, azure.Config{BaseURL: fake.BaseURL, APIVersion: version, APIKey: modeltest.Key, Deployment: "chat-of-theirs"}),
			model.Request{},
		)
		if f := fault.From(err); f.Reason != fault.UpstreamFailed || !strings.Contains(f.Message, "no such deployment") {
			t.Errorf("with version %q: %v", version, err)
		}
	}
}

// TestContentFilter: what Azure's filter refuses, withholds and cuts.
func TestContentFilter(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		reply  openaichat.Reply
		words  string
		text   string
		finish model.FinishReason
	}{
		{
			"prompt",
			openaichat.Reply{Status: http.StatusBadRequest, Body: openaichat.FilteredPrompt},
			"content filter objects to something in the conversation (jailbreak, violence)", "", "",
		},
		{"whole answer", openaichat.Reply{Finish: "content_filter"}, "withheld its whole answer", "", ""},
		{"rest of the answer", openaichat.Reply{Text: []string{"First you "}, Finish: "content_filter"}, "", "First you ", model.FinishFiltered},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			fake := openaichat.NewAzure(t, modeltest.Key, "", row.reply)
			result, err := ask(t, open(t, azure.Config{BaseURL: fake.BaseURL, APIKey: modeltest.Key}), model.Request{})
			if row.words == "" {
				if err != nil || result.Text != row.text || result.FinishReason != row.finish {
					t.Errorf("got %q, %s, %v", result.Text, result.FinishReason, err)
				}
				return
			}
			if f := fault.From(err); f.Reason != fault.UpstreamFailed || !strings.Contains(f.Message, row.words) {
				t.Errorf("got %v, want one with %q", err, row.words)
			}
			if n := len(fake.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	const host = "https://ours.openai.azure.com"
	for name, cfg := range map[string]azure.Config{
		"no client":     {BaseURL: host, APIKey: "k", Deployment: "d"},
		"no key":        {BaseURL: host, Client: &http.Client{}, Deployment: "d"},
		"no deployment": {BaseURL: host, APIKey: "k", Client: &http.Client{}},
		"no URL":        {APIKey: "k", Client: &http.Client{}, Deployment: "d"},
		"elsewhere":     {BaseURL: host + "/openai/assistants", APIKey: "k", Client: &http.Client{}, Deployment: "d"},
		"a query":       {BaseURL: host + "?code=1", APIKey: "k", Client: &http.Client{}, Deployment: "d"},
	} {
		if _, err := azure.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
