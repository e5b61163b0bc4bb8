package openai

import (
	"bytes"
	"encoding/json"
	"strconv"

	"parlance.dev/parlance/server/realtime/dialect"
)

// What a client asks for and does not exist here is answered by an error, and the rest of its event
// applies.

// unsupportedSettings are the errors of a session.update that was read.
func unsupportedSettings(raw json.RawMessage) []*refusal {
	var settings struct {
		Tools      json.RawMessage `json:"tools"`
		Prompt     json.RawMessage `json:"prompt"`
		Include    json.RawMessage `json:"include"`
		Truncation json.RawMessage `json:"truncation"`
	}
	_ = json.Unmarshal(raw, &settings) // raw is an object, and its members may be anything
	isOther := func(member json.RawMessage, supported string) bool {
		return dialect.IsPresent(member) && !bytes.Equal(bytes.TrimSpace(member), []byte(supported))
	}
	refused := unsupportedTools("session.tools", settings.Tools)
	if dialect.IsPresent(settings.Prompt) {
		refused = append(refused, invalid("session.prompt",
			"There are no stored prompts here; send instructions. It was left out."))
	}
	if isOther(settings.Include, "[]") {
		refused = append(refused, invalid("session.include",
			"Nothing can be included beside what the events have. It was left out."))
	}
	if isOther(settings.Truncation, `"auto"`) {
		refused = append(refused, invalid("session.truncation", `truncation is "auto": how much of a long`+
			` conversation the model sees is the agent's history_tokens. It was left out.`))
	}
	return refused
}

// unsupportedTools are the errors of a list of tools that was read. Clients can add functions only,
// not remote MCP servers for example.
func unsupportedTools(param string, raw json.RawMessage) []*refusal {
	var listed []struct {
		Type string `json:"type"`
	}
	if !dialect.IsPresent(raw) || json.Unmarshal(raw, &listed) != nil {
		return nil
	}
	var refused []*refusal
	for i, tool := range listed {
		if tool.Type != "function" {
			refused = append(refused, invalid(param+"["+strconv.Itoa(i)+"].type",
				"Tools of the type "+dialect.Quote(tool.Type)+" cannot be added by a client, and this one"+
					" was left out: attach it to the agent, as a tool of the kind mcp for example."))
		}
	}
	return refused
}
