package webhooks_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/gen/openapi"
	"parlance.dev/parlance/test/fake/receiver"
	"parlance.dev/parlance/workspaces"
)

// bodySchemas are the schemas of each event's request in the OpenAPI document.
func bodySchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON))
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Webhooks map[string]json.RawMessage `json:"webhooks"`
	}
	if err := json.Unmarshal(openapi.JSON, &said); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for name := range said.Webhooks {
		location := "openapi.json#/webhooks/" + name + "/post/requestBody/content/application~1json/schema"
		if schemas[name], err = compiler.Compile(location); err != nil {
			t.Fatal(err)
		}
	}
	return schemas
}

// TestCatalogIsDelivered takes each event from the outbox to a signed request and compares that
// with the contract; events of a tenant go to all its workspaces. It does the same for tests of
// endpoints.
func TestCatalogIsDelivered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var names []string
	for _, eventType := range events.PublicTypes() {
		names = append(names, string(eventType))
	}
	second, err := f.workspaces.CreateWorkspace(t.Context(), workspaces.Principal{
		TenantID: f.ref.TenantID,
		Scope:    workspaces.ScopeAdmin,
	}, "second")
	if err != nil {
		t.Fatal(err)
	}
	here, there, tested := receiver.New(t), receiver.New(t), receiver.New(t)
	f.endpoint(f.ref, here, names...)
	f.endpoint(workspaces.Ref{TenantID: f.ref.TenantID, ID: second.ID}, there, names...)
	probe := f.endpoint(f.ref, tested)
	schemas := bodySchemas(t)
	ids := map[string]events.Type{}
	wide := 0
	for _, eventType := range events.PublicTypes() {
		workspaceID := string(f.ref.ID)
		if eventType.TenantWide() {
			workspaceID = ""
		}
		id, err := events.Append(t.Context(), f.db, events.Event{
			TenantID: string(f.ref.TenantID), WorkspaceID: workspaceID, Type: eventType,
			Payload: events.Example(eventType), CreatedAt: f.clock.now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = eventType
		if eventType.TenantWide() {
			wide++
		}
		if _, err := f.hooks.Test(t.Context(), f.ref, probe.ID, string(eventType)); err != nil {
			t.Errorf("test %s: %v", eventType, err)
		}
	}
	f.deliver(f.relay())
	for _, request := range here.Requests() {
		if string(ids[request.EventID]) != request.Type {
			t.Errorf("%s came as %s", ids[request.EventID], request.Type)
		}
		delete(ids, request.EventID)
	}
	if len(ids) > 0 || len(here.Requests()) != len(names) || len(there.Requests()) != wide || len(tested.Requests()) != len(names) {
		t.Errorf("%d came here, %d there, %d tests; missing: %v", len(here.Requests()), len(there.Requests()), len(tested.Requests()), ids)
	}
	for _, r := range []*receiver.Receiver{here, there, tested} {
		inOrder(t, r.Requests())
		for _, request := range r.Requests() {
			body, err := jsonschema.UnmarshalJSON(bytes.NewReader(request.Body))
			if err != nil {
				t.Fatal(err)
			}
			if schemas[request.Type] == nil {
				t.Fatalf("the contract has no schema of %s", request.Type)
			}
			if err := schemas[request.Type].Validate(body); err != nil {
				t.Errorf("%s is not what the contract says: %v\n%s", request.Type, err, request.Body)
			}
		}
	}
}
