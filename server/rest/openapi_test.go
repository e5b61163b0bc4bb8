package rest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parlance.dev/parlance/gen/openapi"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1connect"
	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
)

// TestDocumentHasEveryRoute compares the OpenAPI document with the route table that is served:
// the same operations, each with its success, its errors and its event stream.
func TestDocumentHasEveryRoute(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []map[string]any
			RequestBody *struct{ Content map[string]any }
			Responses   map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(openapi.JSON, &document); err != nil {
		t.Fatal(err)
	}
	operations := 0
	for _, item := range document.Paths {
		operations += len(item)
	}
	if operations != len(parlancev1rest.Routes) {
		t.Errorf("%d operations, %d routes", operations, len(parlancev1rest.Routes))
	}
	for _, route := range parlancev1rest.Routes {
		operation, ok := document.Paths[route.Pattern][strings.ToLower(route.Method)]
		if !ok {
			t.Errorf("%s %s is not in the document", route.Method, route.Pattern)
			continue
		}
		success, ok := operation.Responses[strconv.Itoa(route.Status)]
		if !ok {
			t.Errorf("%s %s: no response %d", route.Method, route.Pattern, route.Status)
		}
		if (route.Status == http.StatusNoContent) != (success.Content == nil) {
			t.Errorf("%s %s: content of %d: %v", route.Method, route.Pattern, route.Status, success.Content)
		}
		events := !route.Manual && (route.ServerStream || route.EventProcedure != "")
		if _, said := success.Content["text/event-stream"]; said != events {
			t.Errorf("%s %s: event stream %v, want %v", route.Method, route.Pattern, said, events)
		}
		keyed := slices.ContainsFunc(operation.Parameters,
			func(p map[string]any) bool { return p["$ref"] == "#/components/parameters/IdempotencyKey" })
		reads := route.Procedure == parlancev1connect.KnowledgeServiceQueryKnowledgeProcedure ||
			route.Procedure == parlancev1connect.AgentServiceCheckGuardsProcedure
		if want := route.Method != http.MethodGet && !reads; keyed != want {
			t.Errorf("%s %s: Idempotency-Key %v, want %v", route.Method, route.Pattern, keyed, want)
		}
		if _, said := operation.Responses["default"]; !said {
			t.Errorf("%s %s: no default response", route.Method, route.Pattern)
		}
		if (route.Body != "") != (operation.RequestBody != nil) && !route.Manual {
			t.Errorf("%s %s: body %q, documented %v", route.Method, route.Pattern, route.Body, operation.RequestBody)
		}
	}
}

// TestDocumentRefs follows every $ref.
func TestDocumentRefs(t *testing.T) {
	t.Parallel()
	var document map[string]any
	if err := json.Unmarshal(openapi.JSON, &document); err != nil {
		t.Fatal(err)
	}
	var visit func(any)
	visit = func(node any) {
		switch node := node.(type) {
		case []any:
			for _, element := range node {
				visit(element)
			}
		case map[string]any:
			if ref, ok := node["$ref"].(string); ok && !resolves(document, ref) {
				t.Errorf("%s leads nowhere", ref)
			}
			for _, value := range node {
				visit(value)
			}
		}
	}
	visit(document)
}

func resolves(document map[string]any, ref string) bool {
	var node any = document
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		object, ok := node.(map[string]any)
		if !ok {
			return false
		}
		node = object[part]
	}
	return node != nil
}

// TestDocumentAllowsWhatIsAnswered has the values that answers hold when nothing was chosen.
func TestDocumentAllowsWhatIsAnswered(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	if err := json.Unmarshal(openapi.JSON, &document); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"input_audio_format", "output_audio_format"} {
		if values := document.Components.Schemas["AgentVoice"].Properties[field].Enum; !slices.Contains(values, "") || len(values) < 2 {
			t.Errorf("%s: %q, but an agent without a choice is answered with \"\"", field, values)
		}
	}
	if values := document.Components.Schemas["CreateSessionRequest"].Properties["modality"].Enum; slices.Contains(values, "") {
		t.Errorf("modality of a request: %q; leaving it out is the way to say nothing", values)
	}
}
