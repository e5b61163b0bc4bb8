package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/provider/model/extractive"
	"parlance.dev/parlance/workspaces"
)

// override writes one value into a configuration. Its error says what the value must be.
type override func(config *agents.Config, value json.RawMessage) error

// cloneNumber copies the number, because the decoder writes through pointers.
func cloneNumber(number *float64) *float64 {
	if number == nil {
		return nil
	}
	return new(*number)
}

// setText returns an override of a text field.
func setText(key string, maxChars int, field func(*agents.Config) *string) override {
	return func(config *agents.Config, value json.RawMessage) error {
		var text string
		if jsonvalue.DecodeStrict(value, &text) != nil || !isValidText(text, maxChars) {
			return errors.New(key + " must be a string of at most " + strconv.Itoa(maxChars) + " characters, without the character U+0000")
		}
		*field(config) = text
		return nil
	}
}

// setFormat returns an override of an audio format.
func setFormat(field func(*agents.Config) *string) override {
	return func(config *agents.Config, value json.RawMessage) error {
		var format string
		if jsonvalue.DecodeStrict(value, &format) != nil || !slices.Contains(audioFormats, format) {
			return errors.New("it must be one of " + strings.Join(audioFormats, ", "))
		}
		*field(config) = format
		return nil
	}
}

// setPart returns an override of an object. check gets the new object and the agent's, which may be
// empty.
func setPart(check func(part, own json.RawMessage) error, field func(*agents.Config) *json.RawMessage) override {
	return func(config *agents.Config, value json.RawMessage) error {
		var object map[string]any
		if jsonvalue.DecodeStrict(value, &object) != nil || bytes.Contains(value, []byte(`\u0000`)) {
			return errors.New("it must be an object")
		}
		if err := check(value, *field(config)); err != nil {
			return err
		}
		*field(config) = slices.Clone(value)
		return nil
	}
}

// isValidText reports whether a name can be stored and has at most maxChars characters.
func isValidText(name string, maxChars int) bool {
	return utf8.RuneCountInString(name) <= maxChars && IsStorable(name)
}

const (
	// builtInVoice is the provider that needs no server.
	builtInVoice = "espeak-ng"
	// maxPauseMS is far longer than any pause in a sentence.
	maxPauseMS = 60_000
)

// providersOf returns the providers that a session may choose.
func providersOf(kind workspaces.CredentialKind) []string {
	known := workspaces.Providers(kind)
	switch kind {
	case workspaces.CredentialModel:
		return append(known, extractive.Name)
	case workspaces.CredentialTTS:
		return append(known, builtInVoice)
	case workspaces.CredentialSTT, workspaces.CredentialTelephony:
	}
	return known
}

// checkProvider refuses a provider that does not exist. own is the agent's provider, which is
// always allowed.
func checkProvider(kind workspaces.CredentialKind, name, own string) error {
	known := providersOf(kind)
	if name == "" || name == own || slices.Contains(known, name) {
		return nil
	}
	return errors.New("there is no " + string(kind) + " provider of that name; use one of " + strings.Join(known, ", "))
}

// refusal returns the error for a value that was refused: the unknown member if that is the cause,
// else must.
func refusal(err error, must string) error {
	if unknown, ok := errors.AsType[*jsonvalue.UnknownMember](err); ok {
		return unknown
	}
	return errors.New(must)
}

// audioFormats are the values of input_audio_format and output_audio_format.
var audioFormats = []string{"pcm16_24000", "pcm16_16000", "g711_ulaw", "g711_alaw"}
