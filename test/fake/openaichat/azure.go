package openaichat

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"parlance.dev/parlance/provider/model/modeltest"
)

// azure is what Azure does otherwise. Source: Azure OpenAI's REST reference, and its documentation
// of content filtering.
type azure struct{ deployment string }

// NewAzure starts a server that answers as Azure OpenAI does for one deployment, on both its
// interfaces: the dated one, with the deployment in the path and an api-version, and v1, with the
// deployment as the model. BaseURL is the resource's endpoint. An empty deployment is any.
func NewAzure(t testing.TB, key, deployment string, script ...Reply) *Server {
	t.Helper()
	s := &Server{Script: modeltest.NewScript(script...), key: key, azure: &azure{deployment: deployment}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /openai/deployments/{deployment}/chat/completions", s.complete)
	mux.HandleFunc("POST /openai/v1/chat/completions", s.complete)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "404", "Resource not found")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.BaseURL = server.URL
	return s
}

var dated = regexp.MustCompile(`^20\d\d-\d\d-\d\d(-preview)?$`)

// admits checks the key and the version.
func (a *azure) admits(w http.ResponseWriter, r *http.Request, key string) bool {
	if r.Header.Get("Authorization") != "" || r.Header.Get("Api-Key") != key {
		refuse(w, http.StatusUnauthorized, "401",
			"Access denied due to invalid subscription key or wrong API endpoint. You sent "+r.Header.Get("Api-Key"))
		return false
	}
	if r.PathValue("deployment") != "" && !dated.MatchString(r.URL.Query().Get("api-version")) {
		refuse(w, http.StatusNotFound, "404", "Resource not found")
		return false
	}
	return true
}

// named checks the deployment, and what the version does not know, and returns the body with the
// deployment as its model; nil when it was refused.
func (a *azure) named(w http.ResponseWriter, r *http.Request, body []byte) []byte {
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return nil
	}
	asked, _ := fields["model"].(string)
	if inPath := r.PathValue("deployment"); inPath != "" {
		asked = inPath
		version := r.URL.Query().Get("api-version")
		for _, unknown := range []string{"stream_options", "max_completion_tokens"} {
			if _, sent := fields[unknown]; sent && version < "2024-09-01" {
				refuse(w, http.StatusBadRequest, "invalid_request_error", "Unrecognized request argument supplied: "+unknown)
				return nil
			}
		}
		fields["model"] = asked
	}
	if a.deployment != "" && asked != a.deployment {
		refuse(w, http.StatusNotFound, "DeploymentNotFound",
			"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please "+
				"wait a moment and try again.")
		return nil
	}
	if limit, sent := fields["max_tokens"]; sent && limit != nil && r.URL.Query().Get("api-version") == "" {
		refuse(w, http.StatusBadRequest, "unsupported_parameter",
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		return nil
	}
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it was JSON
	}
	return body
}

// harmless is what the filter says of each piece that it lets through.
func harmless() object {
	results := object{}
	for _, category := range []string{"hate", "self_harm", "sexual", "violence"} {
		results[category] = object{"filtered": false, "severity": "safe"}
	}
	return results
}

// FilteredPrompt is Azure's body for a prompt that its filter refuses (status 400).
const FilteredPrompt = `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content ` +
	`management policy. Please modify your prompt and retry.","type":null,"param":"prompt","code":"content_filter",` +
	`"status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{` +
	`"hate":{"filtered":false,"severity":"safe"},"violence":{"filtered":true,"severity":"medium"},` +
	`"jailbreak":{"filtered":true,"detected":true}}}}}`
