package tools_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/tools"
)

func TestAttach(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tool := f.create(t, f.orderParams("/x"))
	attach := func(id tools.ID, enabled bool, maxCalls int) (tools.Attachment, error) {
		return f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: id, Enabled: enabled, MaxCallsPerSession: &maxCalls})
	}
	first, err := attach(tool.ID, true, 3)
	if err != nil || first.Slug != "find_order" || !first.Enabled || first.MaxCallsPerSession != 3 {
		t.Fatalf("got %+v, %v", first, err)
	}
	second, err := attach(tool.ID, false, 0)
	if err != nil || second.Enabled || second.MaxCallsPerSession != 0 || !second.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("the second attach: %+v, %v", second, err)
	}
	if _, err := attach(tool.ID, false, 7); err != nil {
		t.Fatal(err)
	}
	kept, err := f.Attach(t.Context(), f.ref, tools.AttachParams{AgentID: f.agent.ID, ToolID: tool.ID})
	if err != nil || kept.MaxCallsPerSession != 7 {
		t.Errorf("an attach that does not speak of the cap: %+v, %v", kept, err)
	}
	if entry := f.entry(t, "find_order"); entry.Enabled || entry.DisabledReason != tools.ReasonAttachmentDisabled {
		t.Errorf("got %+v", entry)
	}
	for range 2 {
		if err := f.Detach(t.Context(), f.ref, f.agent.ID, tool.ID); err != nil {
			t.Error(err)
		}
	}
	_, err = attach("system:end_call", false, 0)
	wantFault(t, err, fault.SystemToolAlwaysOn, "enabled")
	_, err = attach("builtin:search_memory", false, 0)
	wantFault(t, err, fault.InvalidRequest, "enabled")
	_, err = attach(tool.ID, true, 10_001)
	wantFault(t, err, fault.InvalidRequest, "max_calls_per_session")
	_, err = attach("builtin:nonsense", true, 0)
	wantFault(t, err, fault.ResourceNotFound, "")
	wantFault(t, f.Detach(t.Context(), f.ref, f.agent.ID, "system:end_call"), fault.SystemToolAlwaysOn, "")
	wantFault(t, f.Detach(t.Context(), f.ref, f.agent.ID, "builtin:search_memory"), fault.InvalidRequest, "")
	wantFault(t, f.Detach(t.Context(), f.ref, f.agent.ID, "0198c0de-0000-7000-8000-000000000000"), fault.ResourceNotFound, "")
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"search_memory", "schedule_callback", "end_call"} {
		f.Register(name, tools.BuiltinFunc(func(context.Context, tools.BuiltinCall) (string, error) { return "done", nil }))
	}
	f.attached(t, f.create(t, f.orderParams("/x")), 2)
	if _, err := f.UpdateConfig(t.Context(), f.ref, f.agent.ID, []string{"add_memory_note", "add_memory_note"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"find_order: ", "search_memory: ", "add_memory_note: disabled_tools", "record_persona_statement: not_available",
		"schedule_callback: not_enabled", "manage_callback: not_enabled", "end_call: ",
		"language_detection: not_available", "skip_turn: not_available",
	}
	if diff := cmp.Diff(want, f.registry(t)); diff != "" {
		t.Error(diff)
	}
	// An opt-in tool is enabled by attaching it; disabled_tools turns it off and gives it back as it
	// was.
	if _, err := f.Attach(
		t.Context(), f.ref,
		tools.AttachParams{AgentID: f.agent.ID, ToolID: "builtin:schedule_callback", Enabled: true, MaxCallsPerSession: new(1)},
	); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		disabled []string
		reason   tools.DisabledReason
	}{{nil, ""}, {[]string{"schedule_callback"}, tools.ReasonDisabledTools}, {[]string{}, ""}} {
		if _, err := f.UpdateConfig(t.Context(), f.ref, f.agent.ID, step.disabled); err != nil {
			t.Fatal(err)
		}
		if entry := f.entry(t, "schedule_callback"); entry.DisabledReason != step.reason || entry.MaxCallsPerSession != 1 {
			t.Errorf("disabled %v: got %+v", step.disabled, entry)
		}
	}
	_, err := f.UpdateConfig(t.Context(), f.ref, f.agent.ID, []string{"search_memory", "find_order"})
	wantFault(t, err, fault.InvalidRequest, "disabled_tools[1]")
	_, err = f.UpdateConfig(t.Context(), f.ref, f.agent.ID, []string{"end_call"})
	wantFault(t, err, fault.SystemToolAlwaysOn, "disabled_tools[0]")
}

// registry lists "name: reason" of the fixture's agent.
func (f *fixture) registry(t *testing.T) []string {
	t.Helper()
	registry, err := f.ListAgentTools(t.Context(), f.ref, f.agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, entry := range registry {
		if entry.Enabled != (entry.DisabledReason == "") {
			t.Errorf("%s is enabled: %v for the reason %q", entry.Name, entry.Enabled, entry.DisabledReason)
		}
		lines = append(lines, entry.Name+": "+string(entry.DisabledReason))
	}
	return lines
}
