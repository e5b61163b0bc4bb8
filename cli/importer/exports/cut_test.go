package exports_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/importer/exports"
)

// wantCut checks that a member became a field in part, and that its row says what is left out.
func wantCut(t *testing.T, plan *exports.Plan, path, to, why string) {
	t.Helper()
	got := row(plan, path)
	if got.Kind != exports.Cut || got.To != to || !strings.Contains(got.Why, why) {
		t.Errorf("%s: %+v, want %s in part: %s", path, got, to, why)
	}
}

// Of several languages an agent has the first, and the report names the others.
func TestSeveralLanguages(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.Retell, `{"agent_name": "A", "language": ["en-US", "es-ES", "fr-FR"], "response_engine": {"type": "retell-llm"},
		"retellLlmData": {"llm_id": "l", "general_prompt": "p"}}`)
	if got := plan.Agents[0].Want.GetLanguage(); got != "en-US" {
		t.Errorf("speaks %q", got)
	}
	wantCut(t, plan, "language", "agent.language", `"es-ES", "fr-FR"`)
	plan = read(t, exports.Retell, `{"agent_name": "A", "language": ["en-US"], "response_engine": {"type": "retell-llm"},
		"retellLlmData": {"llm_id": "l", "general_prompt": "p"}}`)
	if got := row(plan, "language"); got.Kind != exports.Mapped {
		t.Errorf("one language: %+v", got)
	}
}

// Time-outs and repetitions above what a tool can have are cut, which the report says.
func TestCutNumbers(t *testing.T) {
	t.Parallel()
	const timeout, attempts = "tool.timeout_seconds", "tool.retry.max_attempts"
	vapi := read(t, exports.Vapi, vapiTool(`{"type": "function", "function": {"name": "f"}, "server": {"url": "https://example.com",
		"timeoutSeconds": 300, "backoffPlan": {"maxRetries": 10}}},
		{"type": "apiRequest", "name": "g", "url": "https://example.com/g", "timeoutSeconds": 120, "backoffPlan": {"maxRetries": 4}}`))
	wantCut(t, vapi, "model.tools[0].server.timeoutSeconds", timeout, "at most 120 seconds")
	wantCut(t, vapi, "model.tools[0].server.backoffPlan.maxRetries", attempts, "it is repeated 4 times")
	for _, path := range []string{"model.tools[1].timeoutSeconds", "model.tools[1].backoffPlan.maxRetries"} {
		if got := row(vapi, path); got.Kind != exports.Mapped {
			t.Errorf("%s is not cut: %+v", path, got)
		}
	}
	retell := read(t, exports.Retell, retellEngine(`"general_tools": [{"type": "custom", "name": "f", "url": "https://example.com",
		"timeout_ms": 300000, "max_retry": 10}, {"type": "transfer_call", "name": "t",
		"transfer_destination": {"type": "predefined", "number": "+12015550123"}, "transfer_option": {"transfer_ring_duration_ms": 5500}}]`))
	wantCut(t, retell, "general_tools[0].timeout_ms", timeout, "at most 120 seconds")
	wantCut(t, retell, "general_tools[0].max_retry", attempts, "it is repeated 4 times")
	wantCut(t, retell, "general_tools[1].transfer_option.transfer_ring_duration_ms", "agent.handover.ring_seconds", "it is 5 s")
	eleven := read(t, exports.ElevenLabs, `{"name": "A", "conversation_config": {"agent": {"prompt": {"prompt": "p", "tools": [
		{"type": "webhook", "name": "f", "response_timeout_secs": 300, "api_schema": {"url": "https://example.com"}}]}},
		"conversation": {"max_duration_seconds": 60.5}, "turn": {"soft_timeout_config": {"timeout_seconds": 90}}}}`)
	wantCut(t, eleven, "conversation_config.agent.prompt.tools[0].response_timeout_secs", timeout, "at most 120 seconds")
	wantCut(t, eleven, "conversation_config.conversation.max_duration_seconds", "agent.max_duration_seconds", "it is 60 s")
	wantCut(t, eleven, "conversation_config.turn.soft_timeout_config.timeout_seconds", "agent.voice.waiting.filler_after_ms", "60 s")
}

// Texts and lists that are longer than ours are cut, which the report says.
func TestCutTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2001)
	const fillers = "agent.voice.waiting.fillers"
	eleven := read(t, exports.ElevenLabs, fmt.Sprintf(`{"name": "A", "conversation_config": {"agent": {"prompt": {"prompt": "p",
		"tools": [{"type": "webhook", "name": "f", "description": %[1]q, "api_schema": {"url": "https://example.com"}},
			{"type": "client", "name": "c", "description": %[1]q}],
		"built_in_tools": {"transfer_to_number": {"name": "transfer_to_number", "params": {"system_tool_type": "transfer_to_number",
			"transfers": [{"phone_number": "+12015550123", "condition": %[1]q}, {"phone_number": "+12015550124", "condition": "sales"},
			{"phone_number": "+12015550125", "condition": "sales"}]}}}}},
		"asr": {"keywords": ["Kloster", %[1]q]},
		"turn": {"soft_timeout_config": {"timeout_seconds": 2, "message": %[1]q,
			"additional_soft_timeout_messages": ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]}}},
		"platform_settings": {"evaluation": {"criteria": [{"id": "c", "name": "c", "conversation_goal_prompt": %[1]q}]},
			"data_collection": {"d": {"type": "string", "description": %[1]q}, "e": {"type": "integer", "enum": [1, 2]}}}}`, long))
	const prompt = "conversation_config.agent.prompt."
	wantCut(t, eleven, prompt+"tools[0].description", "tool.description", "more than 2000 characters")
	wantCut(t, eleven, prompt+"tools[1].description", "agent.tools_config.client_tools", "more than 2000 characters")
	const transfers = prompt + "built_in_tools.transfer_to_number.params.transfers"
	wantCut(t, eleven, transfers+"[0].condition", "agent.handover.destinations", "more than 64 characters")
	if got := row(eleven, transfers+"[2].condition"); got.Kind != exports.Lost || !strings.Contains(got.Why, "destination 3") {
		t.Errorf("the second destination of a name: %+v", got)
	}
	wantCut(t, eleven, "conversation_config.asr.keywords", "agent.voice.stt", "1 of 2 are left out")
	wantCut(t, eleven, "conversation_config.turn.soft_timeout_config.message", fillers, "more than 200 characters")
	if got := row(eleven, "conversation_config.turn.soft_timeout_config.additional_soft_timeout_messages[9]"); got.Kind != exports.Lost {
		t.Errorf("the eleventh filler: %+v", got)
	}
	wantCut(t, eleven, "platform_settings.evaluation.criteria[0].conversation_goal_prompt", "agent.analysis.criteria", "2000 characters")
	wantCut(t, eleven, "platform_settings.data_collection.d.description", "agent.analysis.data", "more than 1000 characters")
	if got := row(eleven, "platform_settings.data_collection.e.enum"); got.Kind != exports.Lost {
		t.Errorf("a choice of numbers: %+v", got)
	}
	vapi := read(t, exports.Vapi, fmt.Sprintf(`{"name": "A", "firstMessage": "Hi", "model": {"provider": "openai", "model": "gpt-4.1",
		"fallbackModels": ["1", "2", "3", "4", "5", "6"]}, "voice": {"provider": "openai", "instructions": %[1]q},
		"transcriber": {"provider": "deepgram", "keywords": ["Kloster:2"]}, "analysisPlan": {"structuredDataPlan": {"schema": {
		"type": "object", "properties": {"d": {"type": "number", "minimum": 3}}}}}}`, long))
	wantCut(t, vapi, "model.fallbackModels", "agent.model.fallbacks", "1 are left out")
	wantCut(t, vapi, "voice.instructions", "agent.voice.tts", "more than 2000 characters")
	wantCut(t, vapi, "transcriber.keywords", "agent.voice.stt", "no weights")
	if got := row(vapi, "analysisPlan.structuredDataPlan.schema.properties.d.minimum"); got.Kind != exports.Lost {
		t.Errorf("the least value of a number: %+v", got)
	}
}

// Fillers that are switched off did not become anything.
func TestFillersOff(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, `{"name": "A", "conversation_config": {"agent": {"prompt": {"prompt": "p"}},
		"turn": {"soft_timeout_config": {"timeout_seconds": -1, "message": "Hm", "additional_soft_timeout_messages": ["Ah"]}}}}`)
	for _, name := range []string{"message", "additional_soft_timeout_messages"} {
		if got := row(plan, "conversation_config.turn.soft_timeout_config."+name); got.Kind != exports.Empty {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An agent whose prompt cannot be brought over is not made.
func TestPromptTooLong(t *testing.T) {
	t.Parallel()
	half, long := strings.Repeat("x", 60000), strings.Repeat("x", 100001)
	for name, one := range map[string]struct {
		provider exports.Provider
		text     string
	}{
		"ElevenLabs":         {exports.ElevenLabs, fmt.Sprintf(`{"conversation_config": {"agent": {"prompt": {"prompt": %q}}}}`, long)},
		"ElevenLabs, a list": {exports.ElevenLabs, `{"conversation_config": {"agent": {"prompt": {"prompt": ["a"]}}}}`},
		"Vapi": {exports.Vapi, fmt.Sprintf(`{"firstMessage": "Hi", "model": {"messages": [{"role": "system", "content": %q},
			{"role": "system", "content": %[1]q}]}}`, half)},
		"Vapi, a list": {exports.Vapi, `{"firstMessage": "Hi", "model": {"messages": [{"role": "system", "content": [{"text": "a"}]}]}}`},
		"Retell":       {exports.Retell, fmt.Sprintf(`{"llm_id": "l", "general_prompt": %q}`, long)},
		"Retell, flow": {exports.Retell, fmt.Sprintf(`{"conversation_flow_id": "l", "global_prompt": %q}`, long)},
	} {
		plan := read(t, one.provider, one.text)
		if got := plan.Agents[0]; !strings.HasPrefix(got.Obstacle, "its prompt cannot be brought over") || got.Want.GetInstructions() != "" {
			t.Errorf("%s: cannot be made: %q", name, got.Obstacle)
		}
	}
	plan := read(t, exports.Vapi, fmt.Sprintf(`{"firstMessage": "Hi", "model": {"messages": [{"role": "system", "content": %q}]}}`, half))
	if got := plan.Agents[0]; got.Obstacle != "" || len(got.Want.GetInstructions()) != len(half) {
		t.Errorf("a long prompt cannot be made: %q", got.Obstacle)
	}
}

// A tool that an agent names by its id in two places is read once.
func TestToolNamedTwice(t *testing.T) {
	t.Parallel()
	plan := read(t, exports.ElevenLabs, `{"conversation_config": {"agent": {"prompt": {"prompt": "p", "tool_ids": ["tool_1"]}}},
		"workflow": {"nodes": {"a": {"type": "start"}, "b": {"additional_tool_ids": ["tool_1"]}}, "edges": {}}}`,
		`{"id": "tool_1", "tool_config": {"type": "client", "name": "show", "description": "Shows"}}`)
	if got := row(plan, "tool_config.name"); got.Kind != exports.Mapped {
		t.Errorf("a tool that is named twice: %+v", got)
	}
	if got := len(plan.Agents[0].Want.GetToolsConfig().GetClientTools()); got != 1 {
		t.Errorf("%d tools", got)
	}
}

// Nothing of an analysis is mapped when there is none, because nothing is kept.
func TestNothingToAnalyse(t *testing.T) {
	t.Parallel()
	for provider, text := range map[exports.Provider]string{
		exports.ElevenLabs: `{"conversation_config": {"agent": {"prompt": {"prompt": "p"}}}, "platform_settings": {
			"privacy": {"zero_retention_mode": true}, "data_collection": {"d": {"type": "string", "description": "d"}},
			"evaluation": {"criteria": [{"id": "c", "name": "c", "conversation_goal_prompt": "p"}]}}}`,
		exports.Vapi: `{"firstMessage": "Hi", "compliancePlan": {"hipaaEnabled": true}, "analysisPlan": {"structuredDataPlan": {
			"schema": {"type": "object", "properties": {"d": {"type": "string", "description": "d"}}}}}}`,
		exports.Retell: `{"agent_name": "A", "response_engine": {"type": "retell-llm"}, "data_storage_setting": "basic_attributes_only",
			"retellLlmData": {"llm_id": "l", "general_prompt": "p"}, "post_call_analysis_data": [
			{"type": "system-presets", "name": "call_summary"}, {"type": "string", "name": "d", "description": "d"}]}`,
	} {
		for _, one := range read(t, provider, text).Rows {
			if strings.HasPrefix(one.To, "agent.analysis") {
				t.Errorf("%s: %s became %s", provider, one.Path, one.To)
			}
		}
	}
}
