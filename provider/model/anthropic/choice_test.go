package anthropic_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/provider/model/anthropic"
)

// TestToolChoice looks at what the server is told of the choice.
func TestToolChoice(t *testing.T) {
	t.Parallel()
	rows := []struct {
		choice model.ToolChoice
		tools  []model.Tool
		want   any
	}{
		{model.ChooseAuto, []model.Tool{{Name: "look"}}, nil},
		{model.ChooseRequired, []model.Tool{{Name: "look"}}, map[string]any{"type": "any"}},
		{"look", []model.Tool{{Name: "look"}}, map[string]any{"type": "tool", "name": "look"}},
		{model.ChooseRequired, nil, nil},
	}
	for _, row := range rows {
		var asked struct {
			ToolChoice any `json:"tool_choice"`
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewDecoder(r.Body).Decode(&asked)
			w.WriteHeader(http.StatusBadRequest) // what was asked is all that matters here
		}))
		req := model.Request{Messages: []model.Message{{Role: model.RoleUser, Text: "hi"}}, Tools: row.tools, ToolChoice: row.choice}
		p, err := anthropic.New(anthropic.Config{BaseURL: server.URL, APIKey: "k", Model: "m", Client: &http.Client{}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = p.Stream(t.Context(), req, func(model.Event) error { return nil })
		server.Close()
		if diff := gocmp.Diff(row.want, asked.ToolChoice); diff != "" {
			t.Errorf("%q of %d tools (-want +got):\n%s", row.choice, len(row.tools), diff)
		}
	}
}
