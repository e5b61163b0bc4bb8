package anthropic_test

import (
	"net/http"
	"testing"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/anthropic"
	"parlance.dev/parlance/provider/model/modeltest"
)

func TestToolChoice(t *testing.T) {
	t.Parallel()
	at := func(url string) model.Provider {
		p, err := anthropic.New(anthropic.Config{BaseURL: url, APIKey: "k", Model: "m", Client: &http.Client{}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	modeltest.ToolChoice(t, at, map[string]any{"type": "any"}, map[string]any{"type": "tool", "name": "look"})
}
