package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"parlance.dev/parlance/gen/openapi"
	"parlance.dev/parlance/test/contract"
)

type media struct {
	Schema   json.RawMessage
	Examples map[string]struct {
		Ref   string `json:"$ref"`
		Value json.RawMessage
	}
}

type document struct {
	Paths, Webhooks map[string]map[string]struct {
		RequestBody *struct{ Content map[string]media }
		Responses   map[string]struct{ Content map[string]media }
	}
	Components struct {
		Examples map[string]struct{ Value json.RawMessage }
		Schemas  map[string]json.RawMessage
	}
}

func load(t *testing.T) document {
	t.Helper()
	var doc document
	if err := json.Unmarshal(openapi.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestExamples: every operation has an example of what it takes and of what it answers, and each is
// what the schema beside it describes.
func TestExamples(t *testing.T) {
	t.Parallel()
	doc := load(t)
	check := func(contents map[string]media, place ...string) {
		for kind, content := range contents {
			at := append(append([]string{}, place...), kind, "schema")
			shown, ok := content.Examples["example"]
			if !ok && !strings.HasPrefix(kind, "application/problem") {
				t.Errorf("%s: no example", strings.Join(at, " "))
			}
			if !ok {
				continue
			}
			value := shown.Value
			if name, isRef := strings.CutPrefix(shown.Ref, "#/components/examples/"); isRef {
				value = doc.Components.Examples[name].Value
			}
			if err := contract.Validate(value, at...); err != nil {
				t.Errorf("%s: %v", strings.Join(at, " "), err)
			}
		}
	}
	for root, items := range map[string]map[string]map[string]struct {
		RequestBody *struct{ Content map[string]media }
		Responses   map[string]struct{ Content map[string]media }
	}{"paths": doc.Paths, "webhooks": doc.Webhooks} {
		for path, item := range items {
			for verb, operation := range item {
				if operation.RequestBody != nil {
					check(operation.RequestBody.Content, root, path, verb, "requestBody", "content")
				}
				for status, response := range operation.Responses {
					check(response.Content, root, path, verb, "responses", status, "content")
				}
			}
		}
	}
}

// TestAnswerIsCompared: the comparison refuses what the document does not allow.
func TestAnswerIsCompared(t *testing.T) {
	t.Parallel()
	good := `{"id":"ses_1","status":"pending","ws_url":"","chat_url":"","token":"","expires_at":"2026-01-02T03:04:05Z"}`
	for name, body := range map[string]string{
		"a value outside of a closed set": strings.Replace(good, "pending", "sleeping", 1),
		"null in place of a time":         strings.Replace(good, `"2026-01-02T03:04:05Z"`, "null", 1),
		"no token":                        strings.Replace(good, `"token":"",`, "", 1),
	} {
		if contract.Answer("POST", "/v1/sessions", 201, []byte(body)) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := contract.Answer("POST", "/v1/sessions?x=1", 201, []byte(good)); err != nil {
		t.Error(err)
	}
}

// TestTypesOfGenerators has what generators of types need: free objects say that they take any
// member, answers with an event stream are told apart, and REST shows nothing of the fields that
// only the other protocols have.
func TestTypesOfGenerators(t *testing.T) {
	t.Parallel()
	doc := load(t)
	var visit func(at string, node any)
	visit = func(at string, node any) {
		switch node := node.(type) {
		case []any:
			for _, one := range node {
				visit(at, one)
			}
		case map[string]any:
			kind := node["type"]
			if list, ok := kind.([]any); ok && len(list) > 0 {
				kind = list[0]
			}
			if _, said := node["additionalProperties"]; kind == "object" && node["properties"] == nil && !said {
				t.Errorf("%s: an object without properties is typed as an empty one", at)
			}
			for name, one := range node {
				visit(at+"."+name, one)
			}
		}
	}
	for name, raw := range doc.Components.Schemas {
		var schema any
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		visit(name, schema)
	}
	for _, field := range []string{"text_delta", "webhook_disabled"} {
		if strings.Contains(string(openapi.JSON), `"`+field+`"`) {
			t.Errorf("%s is in the document", field)
		}
	}
	for _, operation := range []struct{ path, verb string }{
		{"/v1/sessions/{session_id}/turns", "post"},
		{"/v1/sessions/{session_id}/turns/{turn_id}", "get"},
		{"/v1/workspaces/{workspace_id}/events", "get"},
	} {
		var stream struct {
			Type      string
			EventData struct {
				Ref string `json:"$ref"`
			} `json:"x-event-data"`
		}
		content := doc.Paths[operation.path][operation.verb].Responses["200"].Content
		if err := json.Unmarshal(content["text/event-stream"].Schema, &stream); err != nil {
			t.Fatal(err)
		}
		if stream.Type != "string" || stream.EventData.Ref == "" || content["application/json"].Schema == nil {
			t.Errorf("%s %s: %+v", operation.verb, operation.path, stream)
		}
	}
}
