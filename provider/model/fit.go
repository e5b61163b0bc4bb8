package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vendors refuse a whole request because of one name or id. Names and ids that a model or a client
// made up stay in the conversation, so each later request would be refused.

const (
	// wireNameBytes bounds the name of a tool. Source: OpenAI's and Anthropic's ^[a-zA-Z0-9_-]{1,64}$.
	wireNameBytes = 64
	// WireIDBytes bounds the id of a call. Source: OpenAI ("string too long. Expected a string with
	// maximum length 40").
	WireIDBytes = 40
)

// WireName is the name of a called tool as vendors accept it. Names of existing tools are
// unchanged. In a name that a model made up other characters become underscores.
func WireName(name string) string {
	if len(name) <= wireNameBytes && isWord(name) {
		return name
	}
	accepted := strings.Map(func(r rune) rune {
		if wordRune(r) {
			return r
		}
		return '_'
	}, cutAt(name, wireNameBytes))
	return cmp.Or(accepted, "_")
}

// WireID is the id of a call as vendors accept it: unchanged, or one derived from it.
func WireID(id string) string {
	if len(id) <= WireIDBytes && isWord(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:])[:WireIDBytes-len("call_")]
}

// cutAt is the beginning of a text without a partial character.
func cutAt(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// isWord says whether a text has only ASCII letters, digits, underscores and hyphens.
func isWord(text string) bool {
	for _, r := range text {
		if !wordRune(r) {
			return false
		}
	}
	return text != ""
}

func wordRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// refusedAtTop are the keywords that make Anthropic ("does not support oneOf, allOf, or anyOf at
// the top level") or OpenAI ("schema must … not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the
// top level") refuse the request, and $schema, which is for the check of arguments.
var refusedAtTop = []string{"anyOf", "oneOf", "allOf", "not", "$schema"}

// WireSchema is Schema without keywords that vendors refuse at its top. Package tools checks
// arguments against the whole schema.
func (t Tool) WireSchema() json.RawMessage {
	schema := t.Schema()
	refused := func(keyword string) bool { return bytes.Contains(schema, []byte(`"`+keyword+`"`)) }
	var members map[string]json.RawMessage
	if !slices.ContainsFunc(refusedAtTop, refused) || json.Unmarshal(schema, &members) != nil {
		return schema
	}
	all := len(members)
	for _, keyword := range refusedAtTop {
		delete(members, keyword)
	}
	if len(members) == all {
		return schema
	}
	if members["type"] == nil { // it was in a keyword that was removed
		members["type"] = json.RawMessage(`"object"`)
	}
	accepted, err := json.Marshal(members)
	if err != nil {
		return schema
	}
	return accepted
}
