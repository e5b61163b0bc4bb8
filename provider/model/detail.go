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

// What is made of a server's own words about a failure. They come from outside: of them nothing is
// shown but what is ours (a tool's name) or a known kind of word, and what is logged does not hold
// the key.

const (
	// maxCauseBytes bounds what a log line keeps of a server's answer.
	maxCauseBytes = 2000
	// maxSearchedBytes bounds what of it is searched.
	maxSearchedBytes = 64 << 10
	// maxSpelled is how many escapes within escapes are read: JSON in JSON in a URL.
	maxSpelled = 3
)

// masked stands where the key was.
const masked = "***"

// escapes are those of JSON and of URLs.
var escapes = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\[^u]|%[0-9a-fA-F]{2}`)

// cause is what is logged of a text from outside. A key that it spells in escapes is not looked for
// letter by letter: then nothing is logged of it.
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

// unescaped is what an escape stands for.
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

// code is what vendors name a kind of error by.
var code = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// codeIn is the code of a refusal, or its type; a word for that there is none.
func codeIn(detail string) string {
	var body struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(detail), &body) // what is not of that shape has no code
	if named := fmt.Sprint(body.Error.Code); body.Error.Code != nil && code.MatchString(named) {
		return named
	}
	if code.MatchString(body.Error.Type) {
		return body.Error.Type
	}
	return "(no code)"
}

// The ways in which vendors name a tool that they refuse: "tools.3.custom.input_schema: …",
// "tools[3].function.parameters", "Invalid schema for function 'name': …".
var (
	toolByIndex = regexp.MustCompile(`\btools(?:\.|\[)(\d{1,4})\b`)
	toolByName  = regexp.MustCompile("(?i)\\b(?:function|tool)s?(?: name)?:? *\\\\?[\"'`]([a-zA-Z0-9_-]{1,64})\\\\?[\"'`]")
)

// objectedTo names the tool that a refusal is about, if it is about one of those that were offered.
func objectedTo(tools []Tool, detail string) string {
	name := ""
	if found := toolByIndex.FindStringSubmatch(detail); found != nil {
		if at, err := strconv.Atoi(found[1]); err == nil && at < len(tools) {
			name = tools[at].Name
		}
	}
	if found := toolByName.FindStringSubmatch(detail); found != nil && slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == found[1] }) {
		name = found[1]
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf(": it objects to the tool %q. Look at the tool's name, description and input_schema", name)
}
