package tools_test

import (
	"context"
	"testing"

	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
	"parlance.dev/parlance/tools/failure"
)

// TestChangedMeanwhile: a turn that began before an operator deleted, detached, switched off or
// changed a tool does not call it any more.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what   string
		change func(f *fixture, tool tools.Tool) error
	}{
		{"deleted", func(f *fixture, tool tools.Tool) error { return f.Delete(t.Context(), f.ref, tool.ID) }},
		{"detached", func(f *fixture, tool tools.Tool) error { return f.Detach(t.Context(), f.ref, f.agent.ID, tool.ID) }},
		{"switched off", func(f *fixture, tool tools.Tool) error {
			_, err := f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID})
			return err
		}},
		{"at another address", func(f *fixture, tool tools.Tool) error {
			return f.change(t, tool, func(c *tools.Config) { c.WebhookURL = f.endpoint.URL + "/new" })
		}},
		{"for wishes only", func(f *fixture, tool tools.Tool) error {
			return f.change(t, tool, func(c *tools.Config) { c.RequiresUserIntent = true })
		}},
	} {
		f := newFixture(t)
		f.endpoint.Script("/x", httptool.Step{Body: "ok"})
		entry := f.attached(t, f.create(t, f.orderParams("/x")), 0)
		if outcome := f.call(t, entry, `{}`, nil); outcome.Error != nil {
			t.Fatalf("before it was %s: %+v", row.what, outcome.Error)
		}
		if err := row.change(f, entry.Tool); err != nil {
			t.Fatalf("%s: %v", row.what, err)
		}
		outcome := f.call(t, entry, `{}`, nil)
		if outcome.Error == nil || outcome.Error.Code != failure.Disabled || outcome.Attempts != 0 {
			t.Errorf("%s: %d attempts, %+v", row.what, outcome.Attempts, outcome.Error)
		}
		if n := len(f.endpoint.Requests("/x")) + len(f.endpoint.Requests("/new")); n != 1 {
			t.Errorf("%s: %d requests, want the one from before", row.what, n)
		}
	}
}

// TestBuiltinTurnedOffMeanwhile: a turn that began before an operator turned off a built-in tool
// does not call it any more. The settings of a draft stay as they are.
func TestBuiltinTurnedOffMeanwhile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what, tool string
		change     func(f *fixture) error
		onDraft    bool // it applies to sessions with a draft's settings too
	}{
		{"opt-in in disabled_tools", "schedule_callback", func(f *fixture) error {
			_, err := f.UpdateConfig(t.Context(), f.ref, f.agent.ID, []string{"schedule_callback"})
			return err
		}, false},
		{"memory in disabled_tools", "search_memory", func(f *fixture) error {
			_, err := f.UpdateConfig(t.Context(), f.ref, f.agent.ID, []string{"search_memory"})
			return err
		}, false},
		{"detached", "schedule_callback", func(f *fixture) error {
			return f.Detach(t.Context(), f.ref, f.agent.ID, "builtin:schedule_callback")
		}, true},
		{"attached with enabled false", "schedule_callback", func(f *fixture) error {
			_, err := f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: "builtin:schedule_callback"})
			return err
		}, true},
	} {
		f := newFixture(t)
		f.Register(row.tool, tools.BuiltinFunc(func(context.Context, tools.BuiltinCall) (string, error) { return "done", nil }))
		arguments := `{"query":"order"}`
		if row.tool == "schedule_callback" {
			arguments = `{"phone_number":"+12015550199","in_minutes":1,"timezone":"UTC","reason":"order"}`
			f.attached(t, tools.Tool{ID: "builtin:schedule_callback", Slug: row.tool}, 0)
		}
		entry, ofDraft := f.sessionEntry(t, row.tool, f.agent.Version), f.sessionEntry(t, row.tool, 0)
		for _, one := range []tools.Entry{entry, ofDraft} {
			if outcome := f.call(t, one, arguments, nil); outcome.Error != nil {
				t.Fatalf("before %s: %+v", row.what, outcome.Error)
			}
		}
		if err := row.change(f); err != nil {
			t.Fatalf("%s: %v", row.what, err)
		}
		if outcome := f.call(t, entry, arguments, nil); outcome.Error == nil || outcome.Error.Code != failure.Disabled {
			t.Errorf("%s: %+v", row.what, outcome)
		}
		if outcome := f.call(t, ofDraft, arguments, nil); (outcome.Error != nil) != row.onDraft {
			t.Errorf("%s, with a draft: %+v", row.what, outcome)
		}
		if got := f.sessionEntry(t, row.tool, f.agent.Version); got.Enabled {
			t.Errorf("%s: the next turn is offered %s", row.what, row.tool)
		}
		if got := f.sessionEntry(t, row.tool, 0); got.Enabled == row.onDraft {
			t.Errorf("%s: the next turn with a draft is offered %s: %v", row.what, row.tool, got.Enabled)
		}
	}
}

// sessionEntry is a tool in the registry of a session that began with the agent as the fixture made
// it. Version 0 gives it the settings of a draft.
func (f *fixture) sessionEntry(t *testing.T, name string, version int) tools.Entry {
	t.Helper()
	agent := f.agent
	agent.Version = version
	registry, err := f.ComposeSession(t.Context(), f.ref, agent, "ses_1", tools.Variables{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := registry.Find(name)
	if !ok {
		t.Fatalf("the registry has no %s", name)
	}
	return entry
}

func (f *fixture) change(t *testing.T, tool tools.Tool, apply func(*tools.Config)) error {
	t.Helper()
	_, err := f.Update(t.Context(), f.ref, tool.ID, tools.UpdateParams{Apply: apply})
	return err
}

// TestCapSetLate: calls that were made before a cap was set count.
func TestCapSetLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.endpoint.Script("/x", httptool.Step{Body: "ok"})
	entry := f.attached(t, f.create(t, f.orderParams("/x")), 0)
	for range 3 {
		if outcome := f.call(t, entry, `{}`, nil); outcome.Error != nil {
			t.Fatalf("without a cap: %+v", outcome.Error)
		}
	}
	f.attached(t, entry.Tool, 4)
	// entry is that of a turn that began before the cap was set.
	if outcome := f.call(t, entry, `{}`, nil); outcome.Error != nil {
		t.Errorf("the fourth call: %+v", outcome.Error)
	}
	if outcome := f.call(t, entry, `{}`, nil); outcome.Error == nil || outcome.Error.Code != failure.CallsExhausted {
		t.Errorf("the fifth call: %+v", outcome.Error)
	}
	if n := len(f.endpoint.Requests("/x")); n != 4 {
		t.Errorf("%d calls arrived, want 4", n)
	}
}
