package convai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
)

// initiationMembers are those of the event itself.
var initiationMembers = []string{
	"type", overrideMember, "dynamic_variables", "custom_llm_extra_body", "user_id", "tool_mock_config", "source_info",
}

// overrideMembers are the members of the objects in conversation_config_override, by where these stand.
var overrideMembers = map[string][]string{
	"":             {"agent", "tts", "asr", "conversation"},
	"agent":        {"prompt", "first_message", "language", "native_mcp_server_ids"},
	"agent.prompt": {"prompt", "llm"},
	"tts":          {"voice_id", "speed", "stability", "similarity_boost"},
	"asr":          {"keywords"},
	"conversation": {"text_only", "client_events"},
}

// maxStrange bounds the members that one error tells of.
const maxStrange = 16

// refuseStrange tells of members and overrides that do not exist here.
func (d *Dialect) refuseStrange(f frame) {
	var fields []errorField
	tell := func(object json.RawMessage, at string, known []string, words string) {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return // it is not there, or refused already
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if present(members[name]) && !slices.Contains(known, name) && len(fields) < maxStrange {
				fields = append(fields, errorField{Field: strings.TrimPrefix(at+"."+clipped(name), "."), Code: typeValue, Message: words})
			}
		}
	}
	tell(f.raw, "", initiationMembers, "There is no such member here.")
	for _, at := range slices.Sorted(maps.Keys(overrideMembers)) {
		tell(memberAt(f.Overrides, at), strings.TrimSuffix(overrideMember+"."+at, "."), overrideMembers[at], "There is no such override here.")
	}
	d.refuseFields(typeValue, fault.InvalidRequest, fields)
}

// memberAt is what stands at a path of names with dots between them; nil when nothing does.
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
