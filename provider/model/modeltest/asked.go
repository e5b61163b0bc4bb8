package modeltest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/model"
)

// Asked is the body that a vendor's server gets for a request. provider makes the adapter for a
// server's URL.
func Asked(t *testing.T, provider func(url string) model.Provider, req model.Request) (body map[string]any) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusBadRequest) // what was asked is all that matters here
	}))
	defer server.Close()
	_, _ = provider(server.URL).Stream(t.Context(), req, func(model.Event) error { return nil })
	return body
}

// ToolChoice looks at what the server is told of the choice: required in the vendor's words, and
// the choice of the tool "look".
func ToolChoice(t *testing.T, provider func(url string) model.Provider, required, look any) {
	t.Helper()
	rows := []struct {
		choice model.ToolChoice
		tools  []model.Tool
		want   any
	}{
		{model.ChooseAuto, []model.Tool{{Name: "look"}}, nil},
		{model.ChooseRequired, []model.Tool{{Name: "look"}}, required},
		{"look", []model.Tool{{Name: "look"}}, look},
		{model.ChooseRequired, nil, nil},
	}
	for _, row := range rows {
		got := Asked(t, provider, model.Request{Messages: []model.Message{user("hi")}, Tools: row.tools, ToolChoice: row.choice})
		if diff := cmp.Diff(row.want, got["tool_choice"]); diff != "" {
			t.Errorf("%q of %d tools (-want +got):\n%s", row.choice, len(row.tools), diff)
		}
	}
}
