package analysis

import (
	"encoding/json"
	"maps"
	"strings"

	"parlance.dev/parlance/sessions"
)

// parlanceMember holds the overrides that ElevenLabs' shape has no place for, under our names.
const parlanceMember = "parlance"

// overridePlaces maps overrides to their paths in ElevenLabs' shape:
//
//	{"agent": {"prompt": {"prompt", "llm"}, "first_message", "language"},
//	 "tts": {"voice_id", …}, "asr": {"keywords"}}
//
// Package convai reads the same shape. member selects a member of the override's object.
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

// configOverride returns the overrides that a session was created with, as ElevenLabs' receivers
// know them; nil for none.
func configOverride(session sessions.Session) map[string]any {
	left := maps.Clone(session.Overrides)
	if left == nil {
		left = map[string]json.RawMessage{}
	}
	voice := membersIn(left["voice"])
	delete(left, "voice")
	maps.Copy(left, voice)
	maps.Copy(left, session.VoiceStackOverride) // applied after the overrides
	if name := left["model"]; len(name) > 0 && name[0] == '"' {
		left["model"] = encodeMembers(map[string]json.RawMessage{"name": name})
	}
	placed := map[string]any{}
	for _, place := range overridePlaces {
		if value := takeOverride(left, place.key, place.member); value != nil {
			setPath(placed, place.path, value)
		}
	}
	if len(left) > 0 {
		placed[parlanceMember] = left
	}
	if len(placed) == 0 {
		return nil
	}
	return placed
}

// takeOverride removes an override, or a member of its object, and returns it; nil when it is not
// there.
func takeOverride(from map[string]json.RawMessage, key, member string) json.RawMessage {
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
	if from[key] = encodeMembers(members); len(members) == 0 {
		delete(from, key)
	}
	return taken
}

// setPath writes a value to a path. No other path leads through it.
func setPath(into map[string]any, path string, value json.RawMessage) {
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

// membersIn returns the members of an object; nil for anything else.
func membersIn(object json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	return members
}

// encodeMembers encodes members that were decoded before.
func encodeMembers(members map[string]json.RawMessage) json.RawMessage {
	encoded, err := json.Marshal(members)
	if err != nil { // they were decoded before, so they encode
		panic(err)
	}
	return encoded
}
