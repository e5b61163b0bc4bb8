package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The text of a server about a failure comes from outside. Only names of our own tools and known
// words of it are shown, and what is logged does not contain the key.

const (
	// maxCauseBytes bounds the part of an answer that is logged.
	maxCauseBytes = 2000
	// maxSearchedBytes bounds the part of an answer that is searched.
	maxSearchedBytes = 64 << 10
	// maxSpelled is how many layers of escapes are decoded: JSON in JSON in a URL.
	maxSpelled = 3
)

// masked replaces the key.
const masked = "***"

// escapes matches the escapes of JSON and of URLs.
var escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\[^u]|%[0-9a-fA-F]{2}`)

// cause is the part of a text from outside that is logged. If the key appears only after escapes
// are decoded, nothing is logged.
func (p Party) cause(text string) error {
	text = cutAt(text, maxSearchedBytes)
	if p.Secret != "" {
		text = strings.ReplaceAll(text, p.Secret, masked)
		plain := text
		for range maxSpelled {
			if plain = escapes.ReplaceAllStringFunc(plain, unescaped); strings.Contains(plain, p.Secret) {
				return errors.New("(left out, since it repeats the API key)")
			}
		}
	}
	return errors.New(strings.ToValidUTF8(cutAt(text, maxCauseBytes), ""))
}

// unescaped decodes one escape.
func unescaped(escape string) string {
	switch {
	case escape[0] == '%':
		if n, err := strconv.ParseUint(escape[1:], 16, 8); err == nil {
			return string([]byte{byte(n)})
		}
	case len(escape) == len(`\u0000`):
		if n, err := strconv.ParseUint(escape[2:], 16, 32); err == nil {
			return string(rune(n))
		}
	}
	return escape[1:]
}

// code is the code of an error in the JSON of vendors.
var code = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// codeIn is the code of a refusal, or its type, or a placeholder.
func codeIn(detail string) string {
	var body struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(detail), &body) // a body of another form has no code
	if named := fmt.Sprint(body.Error.Code); body.Error.Code != nil && code.MatchString(named) {
		return named
	}
	if code.MatchString(body.Error.Type) {
		return body.Error.Type
	}
	return "(no code)"
}

// The forms in which vendors name a tool that they refuse: "tools.3.custom.input_schema: …",
// "tools[3].function.parameters", "Invalid schema for function 'name': …".
var (
	toolByIndex = regexp.MustCompile(`\btools(?:\.|\[)(\d{1,4})\b`)
	toolByName  = regexp.MustCompile("(?i)\\b(?:function|tool)s?(?: name)?:? *\\\\?[\"'`]([a-zA-Z0-9_-]{1,64})\\\\?[\"'`]")
)

// objectedTo is the name of the offered tool that a refusal is about, or empty.
func objectedTo(tools []Tool, detail string) string {
	name := ""
	if found := toolByIndex.FindStringSubmatch(detail); found != nil {
		if at, err := strconv.Atoi(found[1]); err == nil && at < len(tools) {
			name = tools[at].Name
		}
	}
	found := toolByName.FindStringSubmatch(detail)
	if found != nil && slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == found[1] }) {
		name = found[1]
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf(": it objects to the tool %q. Look at the tool's name, description and input_schema", name)
}
