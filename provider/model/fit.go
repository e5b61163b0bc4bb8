package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// What vendors refuse a whole request for, whichever of its parts has it: names and ids that a
// model or a client made up stay in the conversation, and would end it.

const (
	// wireNameBytes bounds a tool's name. Source: OpenAI's and Anthropic's ^[a-zA-Z0-9_-]{1,64}$.
	wireNameBytes = 64
	// WireIDBytes bounds the id of a call. Source: OpenAI ("string too long. Expected a string with
	// maximum length 40").
	WireIDBytes = 40
)

// WireName is the name of a tool that was called, as vendors take it: that of every tool there is,
// is as it was; in one that a model made up other characters are underscores.
func WireName(name string) string {
	if len(name) <= wireNameBytes && isWord(name) {
		return name
	}
	name = cutAt(name, wireNameBytes)
	fit := strings.Map(func(r rune) rune {
		if wordRune(r) {
			return r
		}
		return '_'
	}, name)
	if fit == "" {
		return "_"
	}
	return fit
}

// WireID is the id of a call as vendors take it: as it was, or another that is always the same for
// it.
func WireID(id string) string {
	if len(id) <= WireIDBytes && isWord(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:])[:WireIDBytes-len("call_")]
}

// cutAt is the beginning of a text, of whole characters.
func cutAt(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// isWord says whether a text has letters, digits, underscores and hyphens of ASCII, and nothing
// else.
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

// WireSchema is Schema without what vendors refuse at its top. Arguments are checked against the
// whole of it where the tool is run, so a model that is told less is corrected.
func (t Tool) WireSchema() json.RawMessage {
	schema := t.Schema()
	if !bytes.Contains(schema, []byte(`Of"`)) && !bytes.Contains(schema, []byte(`"not"`)) || !unfitAtTop(schema) {
		return schema
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil {
		return schema
	}
	for name := range members {
		if unfit([]byte(name)) {
			delete(members, name)
		}
	}
	if members["type"] == nil { // it stood in what was taken out
		members["type"] = json.RawMessage(`"object"`)
	}
	fit, err := json.Marshal(members)
	if err != nil {
		return schema
	}
	return fit
}

// unfit are the keywords that make Anthropic ("does not support oneOf, allOf, or anyOf at the top
// level") or OpenAI ("schema must … not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
// level") refuse the request.
func unfit(keyword []byte) bool {
	switch string(keyword) {
	case "anyOf", "oneOf", "allOf", "not":
		return true
	}
	return false
}

// unfitAtTop says whether a JSON object has such a member itself, rather than further within: that
// is common, and nothing is wrong with it.
func unfitAtTop(schema []byte) bool {
	depth := 0
	for i := 0; i < len(schema); i++ {
		switch schema[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			begin := i + 1
			for i = begin; i < len(schema) && schema[i] != '"'; i++ {
				if schema[i] == '\\' {
					i++
				}
			}
			if depth == 1 && i < len(schema) && unfit(schema[begin:i]) && bytes.HasPrefix(bytes.TrimLeft(schema[i+1:], " \t\r\n"), []byte(":")) {
				return true
			}
		}
	}
	return false
}
