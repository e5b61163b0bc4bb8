package convai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/realtime/dialect"
)

// initiationMembers are the members of the initiation data.
var initiationMembers = []string{
	"type", overrideMember, "dynamic_variables", "custom_llm_extra_body", "user_id", "tool_mock_config",
	"source_info",
}

// overrideMembers are the members of the objects in conversation_config_override, by the objects'
// paths.
var overrideMembers = map[string][]string{
	"":             {"agent", "tts", "asr", "conversation"},
	"agent":        {"prompt", "first_message", "language", "native_mcp_server_ids"},
	"agent.prompt": {"prompt", "llm"},
	"tts":          {"voice_id", "speed", "stability", "similarity_boost"},
	"asr":          {"keywords"},
	"conversation": {"text_only", "client_events"},
}

// maxUnknownMembers bounds the members that one error names.
const maxUnknownMembers = 16

// refuseUnknownMembers answers the initiation data with an error about members and overrides that
// do not exist here.
func (d *Dialect) refuseUnknownMembers(e clientEvent) {
	unknown := unknownMembers(e.raw, "", initiationMembers, "There is no such member here.")
	for _, path := range slices.Sorted(maps.Keys(overrideMembers)) {
		at := strings.TrimSuffix(overrideMember+"."+path, ".")
		unknown = append(unknown, unknownMembers(memberAt(e.Overrides, path), at,
			overrideMembers[path], "There is no such override here.")...)
	}
	d.refuseFields(typeValue, fault.InvalidRequest, unknown[:min(len(unknown), maxUnknownMembers)])
}

// unknownMembers are the members of an object, which stands at a path, that are not known.
func unknownMembers(object json.RawMessage, path string, known []string, message string) []errorField {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil // it is absent, or was refused already
	}
	var unknown []errorField
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if dialect.IsPresent(members[name]) && !slices.Contains(known, name) {
			at := strings.TrimPrefix(path+"."+dialect.Shorten(name), ".")
			unknown = append(unknown, errorField{Field: at, Code: typeValue, Message: message})
		}
	}
	return unknown
}

// memberAt is the member at a path of names with dots between them; nil when there is none.
func memberAt(object json.RawMessage, path string) json.RawMessage {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object, path = members[name], rest
	}
	return object
}
