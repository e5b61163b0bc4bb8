package tools_test

import (
	"encoding/json"
	"testing"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
)

// BenchmarkCall is a call with secrets and variables, its endpoint's part and its trace included.
func BenchmarkCall(b *testing.B) {
	f := newFixture(b)
	f.endpoint.Script(
		"/x", httptool.Step{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"order":"A-1007","state":"sent"}`},
	)
	params := f.orderParams("/x")
	params.AuthHeader, params.Config.AllowDynamicVars = "Bearer sk-0123456789abcdef", true
	params.Config.Headers = map[string]string{"X-Key": "{{secret__key}}", "X-User": "{{user}}"}
	entry := f.attached(b, f.create(b, params), 0)
	variables := tools.NewVariables(map[string]string{"user": "u-1", "secret__key": "k-0123456789"})
	b.ReportAllocs()
	for b.Loop() {
		outcome := f.Call(b.Context(), tools.CallParams{
			Ref: f.ref, SessionID: "ses_1", Entry: entry, Arguments: json.RawMessage(`{"id":"A-1007"}`), Variables: variables,
		})
		if outcome.Error != nil {
			b.Fatal(outcome.Error.Message)
		}
	}
}
