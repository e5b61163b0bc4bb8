package anthropic_test

import (
	"cmp"
	"net/http"
	"testing"
	"time"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/anthropic"
	"parlance.dev/parlance/provider/model/modeltest"
	"parlance.dev/parlance/test/fake/anthropicmessages"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, func(t *testing.T, s modeltest.Setup) (model.Provider, *modeltest.Script) {
		fake := anthropicmessages.New(t, cmp.Or(s.Key, modeltest.Key), s.Replies...)
		p, err := anthropic.New(anthropic.Config{
			BaseURL: cmp.Or(s.BaseURL, fake.BaseURL), APIKey: s.APIKey, Timeouts: s.Timeouts,
			Model: "claude-fake", Client: &http.Client{}, MaxRetryDelay: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		return p, fake.Script
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]anthropic.Config{
		"no client": {Model: "m", APIKey: "k"},
		"no key":    {Model: "m", Client: &http.Client{}},
		"no scheme": {Model: "m", APIKey: "k", Client: &http.Client{}, BaseURL: "localhost"},
	} {
		if _, err := anthropic.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
