package exports_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/cli/importer/exports"
)

// Tools that an agent of ElevenLabs names by id are in the agent, in a file, or left to do.
func TestElevenToolIDs(t *testing.T) {
	t.Parallel()
	const agent = `{"agent_id": "a", "name": "A", "conversation_config": {"agent": {"prompt": {"prompt": "p", "tool_ids": [%s],
		"tools": [%s]}}}}`
	webhook := func(id, name string) string {
		return `{` + id + `"type": "webhook", "name": "` + name + `", "description": "d",
			"api_schema": {"url": "https://example.com/` + name + `"}}`
	}
	const system, client = `{"type": "system", "name": "end_call", "params": {"system_tool_type": "end_call"}}`,
		`{"type": "client", "name": "show", "description": "d"}`
	file := `{"id": "t2", "tool_config": ` + webhook("", "two") + `}`
	for name, one := range map[string]struct {
		ids, tools string
		files      []string
		missing    string
		made       int
	}{
		"a system tool":       {`"t1"`, system, nil, "t1", 0},
		"all in full":         {`"t1", "t2"`, webhook("", "one") + "," + system + "," + webhook("", "two"), nil, "", 2},
		"one of two":          {`"t1", "t2"`, webhook("", "one"), nil, "t1 t2", 1},
		"one of two with id":  {`"t1", "t2"`, webhook(`"id": "t1", `, "one"), nil, "t2", 1},
		"one of two in files": {`"t1", "t2"`, webhook(`"tool_id": "t1", `, "one"), []string{file}, "", 2},
		"a client tool":       {`"t1", "t2"`, client, []string{file}, "t1", 1},
		"none in full":        {`"t1"`, "", nil, "t1", 0},
		"the same in a file":  {`"t2"`, webhook("", "two"), []string{file}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := read(t, exports.ElevenLabs, append([]string{fmt.Sprintf(agent, one.ids, one.tools)}, one.files...)...)
			var missing []string
			for _, todo := range plan.Agents[0].Todos {
				if rest, ok := strings.CutPrefix(todo.What, "Export the tool "); ok {
					missing = append(missing, strings.Fields(rest)[0])
				}
			}
			if diff := cmp.Diff(strings.Join(missing, " "), one.missing); diff != "" {
				t.Error(diff)
			}
			if len(plan.Agents[0].Tools) != one.made || len(plan.Tools) != one.made {
				t.Errorf("made %v", plan.Tools)
			}
		})
	}
}

// What the steps of a workflow use the agent uses; the steps are left to do.
func TestElevenWorkflow(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, `{"name": "A", "conversation_config": {"agent": {"prompt": {"prompt": "p", "tool_ids": ["t0"]}}},
		"workflow": {"edges": {"e": {"source": "s", "target": "a"}}, "nodes": {"s": {"type": "start"},
		"a": {"type": "override_agent", "additional_prompt": "x", "additional_tool_ids": ["t0", "t1", "t2"],
			"additional_knowledge_base": [{"id": "d", "type": "url", "name": "https://example.com/page"},
			{"id": "f", "type": "file", "name": "a.pdf"}]},
		"b": {"type": "tool", "tools": [{"tool_id": "t1"}, {"tool_id": "t3"}]}}}}`,
		`{"id": "t1", "tool_config": {"type": "webhook", "name": "one", "description": "d", "api_schema": {"url": "https://example.com"}}}`)
	agent := plan.Agents[0]
	if len(agent.Tools) != 1 || len(agent.Sources) != 1 {
		t.Errorf("uses %v and %v", agent.Tools, agent.Sources)
	}
	said := fmt.Sprint(agent.Todos)
	for _, want := range []string{
		"what its workflow did in steps", "Export the tool t0", "Export the tool t2", "Export the tool t3", `"a.pdf"`,
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("left to do has not once %q: %s", want, said)
		}
	}
	if strings.Contains(said, "Export the tool t1") {
		t.Errorf("left to do: %s", said)
	}
}

// Two objects of one export are never one agent; the same object twice is.
func TestAgentsOfTheSameName(t *testing.T) {
	t.Parallel()
	twin := func(id, tool string) string {
		return `{` + id + `"name": "Twin", "firstMessage": "Hi", "model": {"tools": [{"type": "apiRequest", "name": "` + tool + `",
			"url": "https://example.com"}]}}`
	}
	plan := read(t, exports.Vapi, `[`+twin(`"id": "a", `, "one")+`,`+twin(`"id": "b", `, "two")+`,`+twin(``, "three")+`]`,
		twin(`"id": "a", `, "one"))
	var names []string
	for _, agent := range plan.Agents {
		names = append(names, agent.Want.GetName()+": "+agent.Tools[0].Want.GetSlug())
	}
	if diff := cmp.Diff(names, []string{"Twin: one", "Twin (b): two", "Twin (2): three"}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plan.Agents[0].Names(), []string{"Twin (a)", "Twin"}); diff != "" {
		t.Error(diff)
	}
}

// An agent of Retell cannot be made without its engine, which has its prompt.
func TestRetellWithoutEngine(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		`"type": "retell-llm", "llm_id": "l"`:                          "the export lacks its response engine, ",
		`"type": "conversation-flow", "conversation_flow_id": "f"`:     "the export lacks its conversation flow, ",
		`"type": "custom-llm", "llm_websocket_url": "wss://localhost"`: "",
	} {
		plan := read(t, exports.Retell, `{"agent_name": "A", "response_engine": {`+kind+`}}`)
		if got := plan.Agents[0].Obstacle; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: cannot be made: %q", kind, got)
		}
	}
}
