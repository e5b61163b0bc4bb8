package callbacks_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/telephony/callbacks"
	"parlance.dev/parlance/tools"
)

// TestToolVariables: a callback that is planned in a session knows what the session knows, as much
// of it as another session takes.
func TestToolVariables(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	plan := func(user string, more map[string]string) map[string]string {
		t.Helper()
		variables := map[string]string{"system__user_id": user, "system__agent_id": string(f.agent.ID), "system__timezone": "UTC"}
		for name, value := range more {
			variables[name] = value
		}
		_, err := f.Builtins()["schedule_callback"].RunBuiltin(t.Context(), tools.BuiltinCall{
			Ref: f.ref, SessionID: "ses_1", Variables: variables,
			Arguments: []byte(`{"phone_number":"+12015550123","at":"2026-01-14T09:00","timezone":"America/New_York"}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := f.List(t.Context(), f.ref, callbacks.ListParams{UserID: user})
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0].DynamicVariables
	}
	if diff := cmp.Diff(map[string]string{"name": "Ada"}, plan("u", map[string]string{"name": "Ada"})); diff != "" {
		t.Errorf("variables (-want +got)\n%s", diff)
	}
	many := map[string]string{}
	for i := range 70 {
		many[fmt.Sprintf("v%02d", i)] = "x"
	}
	if got := plan("v", many); len(got) != 64 || got["v00"] != "x" || got["v64"] != "" {
		t.Errorf("%d variables: %v", len(got), got)
	}
}
