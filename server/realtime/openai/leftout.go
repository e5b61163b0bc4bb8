package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// What a client asks for that does not exist here is answered by an error event, and the rest of its event applies.

// leftOut are the errors of a session.update that was read.
func leftOut(raw json.RawMessage) []*refusal {
	var wished struct {
		Tools      json.RawMessage `json:"tools"`
		Prompt     json.RawMessage `json:"prompt"`
		Include    json.RawMessage `json:"include"`
		Truncation json.RawMessage `json:"truncation"`
	}
	_ = json.Unmarshal(raw, &wished) // it is an object, and these take anything
	refused := otherTools("session.tools", wished.Tools)
	if present(wished.Prompt) {
		refused = append(refused, invalid("session.prompt", "There are no stored prompts here; send instructions. It was left out."))
	}
	if present(wished.Include) && !bytes.Equal(bytes.TrimSpace(wished.Include), []byte("[]")) {
		refused = append(refused, invalid("session.include", "Nothing can be included beside what the events have. It was left out."))
	}
	if present(wished.Truncation) && !bytes.Equal(bytes.TrimSpace(wished.Truncation), []byte(`"auto"`)) {
		refused = append(refused, invalid("session.truncation", `truncation is "auto": how much of a long conversation the model sees is the agent's history_tokens. It was left out.`))
	}
	return refused
}

// otherTools are the errors of a list of tools that was read: those of other types than function, such as remote
// MCP servers, are not run for clients.
func otherTools(param string, raw json.RawMessage) []*refusal {
	var listed []struct {
		Type string `json:"type"`
	}
	if !present(raw) || json.Unmarshal(raw, &listed) != nil {
		return nil
	}
	var refused []*refusal
	for i, one := range listed {
		if one.Type != "function" {
			refused = append(refused, invalid(param+"["+strconv.Itoa(i)+"].type",
				"Tools of the type "+quote(one.Type)+" cannot be added by a client, and this one was left out: attach it to the agent, as a tool of the kind mcp for example."))
		}
	}
	return refused
}
