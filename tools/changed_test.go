package tools_test

import (
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
