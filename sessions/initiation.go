package sessions

import (
	"encoding/json"
	"maps"
	"strings"
)

// What a session was created with is told in post_call_transcription as ElevenLabs' receivers know it, and what their shape has
// no place for beside it, under our names:
//
//	{"agent": {"prompt": {"prompt", "llm"}, "first_message", "language"}, "tts": {"voice_id", …}, "asr": {"keywords"}, "parlance": {…}}

// ownOverrides is the member of ours in it.
const ownOverrides = "parlance"

// overridePlaces are where overrides stand in that shape: the other way round, package convai reads it. A member is one of the
// override's own object.
var overridePlaces = []struct{ key, member, path string }{
	{"instructions", "", "agent.prompt.prompt"},
	{"model", "name", "agent.prompt.llm"},
	{"first_message", "", "agent.first_message"},
	{"language", "", "agent.language"},
	{"tts", "voice", "tts.voice_id"},
	{"tts", "speed", "tts.speed"},
	{"tts", "stability", "tts.stability"},
	{"tts", "similarity_boost", "tts.similarity_boost"},
	{"stt", "keywords", "asr.keywords"},
}

// configOverride is what a session was created with; nil for nothing.
func ConfigOverride(session Session) map[string]any {
	left := maps.Clone(session.Overrides)
	if left == nil {
		left = map[string]json.RawMessage{}
	}
	voice := membersIn(left["voice"])
	delete(left, "voice")
	maps.Copy(left, voice)
	maps.Copy(left, session.VoiceStackOverride) // applied behind the overrides
	if name := left["model"]; len(name) > 0 && name[0] == '"' {
		left["model"] = encodedMembers(map[string]json.RawMessage{"name": name})
	}
	placed := map[string]any{}
	for _, place := range overridePlaces {
		if value := take(left, place.key, place.member); value != nil {
			put(placed, place.path, value)
		}
	}
	if len(left) > 0 {
		placed[ownOverrides] = left
	}
	if len(placed) == 0 {
		return nil
	}
	return placed
}

// take takes an override out, or a member of its object; nil: it is not there.
func take(from map[string]json.RawMessage, key, member string) json.RawMessage {
	value := from[key]
	if member == "" {
		delete(from, key)
		return value
	}
	members := membersIn(value)
	taken, ok := members[member]
	if !ok {
		return nil
	}
	delete(members, member)
	if from[key] = encodedMembers(members); len(members) == 0 {
		delete(from, key)
	}
	return taken
}

// put writes a value to a path, which no other one goes through.
func put(into map[string]any, path string, value json.RawMessage) {
	for {
		name, rest, deeper := strings.Cut(path, ".")
		if !deeper {
			into[name] = value
			return
		}
		inner, ok := into[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[name] = inner
		}
		into, path = inner, rest
	}
}

// membersIn are those of an object; nil for anything else.
func membersIn(object json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members
}

func encodedMembers(members map[string]json.RawMessage) json.RawMessage {
	encoded, err := json.Marshal(members)
	if err != nil { // they were decoded: it cannot be
		panic(err)
	}
	return encoded
}
