package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// Bounds of overrides; those of the agent's own fields in agents.proto.
const (
	maxInstructionsChars = 100_000
	maxFirstMessageChars = 10_000
	maxTopK              = 50
	maxTemperature       = 2
	maxProviderChars     = 64
	maxModelChars        = 200
	maxOutputTokens      = 200_000
	maxFallbacks         = 5
)

var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// audioFormats are the values of input_audio_format and output_audio_format.
var audioFormats = []string{"pcm16_24000", "pcm16_16000", "g711_ulaw", "g711_alaw"}

// override writes one value into a configuration; its error says what the value must be.
type override func(config *agents.Config, value json.RawMessage) error

// sessionOverrides are the keys of overrides, voiceOverrides those of voice_stack_override.
// Source: decisions, Sessions.
var (
	sessionOverrides = map[string]override{
		"instructions":  setText("instructions", maxInstructionsChars, func(c *agents.Config) *string { return &c.Instructions }),
		"first_message": setText("first_message", maxFirstMessageChars, func(c *agents.Config) *string { return &c.FirstMessage }),
		"language":      setLanguage,
		"model":         setModel,
		"temperature":   setTemperature,
		"voice":         setVoice,
		"retrieval":     setRetrieval,
	}
	voiceOverrides = map[string]override{
		"stt":                 setPart(checkSpeech(workspaces.CredentialSTT), func(c *agents.Config) *json.RawMessage { return &c.Voice.STT }),
		"tts":                 setPart(checkSpeech(workspaces.CredentialTTS), func(c *agents.Config) *json.RawMessage { return &c.Voice.TTS }),
		"vad":                 setPart(checkVAD, func(c *agents.Config) *json.RawMessage { return &c.Voice.VAD }),
		"turn_detection":      setPart(checkTurnDetection, func(c *agents.Config) *json.RawMessage { return &c.Voice.TurnDetection }),
		"input_audio_format":  setFormat(func(c *agents.Config) *string { return &c.Voice.InputAudioFormat }),
		"output_audio_format": setFormat(func(c *agents.Config) *string { return &c.Voice.OutputAudioFormat }),
	}
	// nested are the keys within another that can be locked on their own.
	nested = map[string][]string{
		"model": {"temperature"},
		"voice": {"stt", "tts", "vad", "turn_detection", "input_audio_format", "output_audio_format"},
	}
)

// applyOverrides writes a creation's overrides into the configuration.
// Errors: Invalid invalid-request (unknown keys, wrong types), Invalid override-not-allowed.
func applyOverrides(config *agents.Config, params CreateParams) error {
	locked := config.LockedOverrides
	if err := applyGroup(config, "overrides", sessionOverrides, params.Overrides, locked); err != nil {
		return err
	}
	return applyGroup(config, "voice_stack_override", voiceOverrides, params.VoiceStackOverride, locked)
}

func applyGroup(config *agents.Config, group string, known map[string]override, values map[string]json.RawMessage, locked []string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		field := group + "." + key
		set, ok := known[key]
		if !ok {
			return fault.InvalidField(field, "unknown", "There is no such override. Use one of %s.", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if at, refused := refusedBy(locked, key, values[key]); refused {
			return fault.OnField(fault.OverrideNotAllowed, field, "The agent's locked_overrides has %q.", at)
		}
		if err := set(config, values[key]); err != nil {
			return notSet(field, err)
		}
	}
	return nil
}

// refusedBy says whether a list of keys names the override or something inside its value, and which.
// "temperature" is locked inside "model" too, and so is each part of "voice".
func refusedBy(keys []string, key string, value json.RawMessage) (at string, refused bool) {
	if slices.Contains(keys, key) {
		return key, true
	}
	if key == "temperature" || slices.Contains(nested["voice"], key) {
		parent := "voice"
		if key == "temperature" {
			parent = "model"
		}
		if slices.Contains(keys, parent) {
			return parent, true
		}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "", false // not an object: nothing inside
	}
	for _, inner := range nested[key] {
		if _, ok := members[inner]; ok && slices.Contains(keys, inner) {
			return inner, true
		}
	}
	return "", false
}

// clientOverrides applies what a socket asked for where the agent's client_overrides lets it;
// the rest is left out, as decisions say, and returned with the reason.
func ClientOverrides(config *agents.Config, values map[string]json.RawMessage) (refused []fault.Field) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if why := refusedToClient(*config, key, values[key]); why != "" {
			refused = append(refused, fault.Field{Field: key, Code: string(fault.OverrideNotAllowed), Message: why})
			continue
		}
		changed := *config
		if err := clientOverride(key)(&changed, values[key]); err != nil {
			refused = append(refused, fault.Field{Field: key, Code: "type", Message: err.Error() + "."})
			continue
		}
		*config = changed
	}
	return refused
}

// clientOverride is what writes a client's value; nil when there is no such override. Of the model a client has only
// the name: its provider, bounds and fallbacks are the agent's, and nothing in client_overrides names them.
func clientOverride(key string) override {
	switch set, ok := sessionOverrides[key]; {
	case key == "model":
		return setModelName
	case ok:
		return set
	default:
		return voiceOverrides[key]
	}
}

// ClientMay says that a client may override the key.
func ClientMay(config agents.Config, key string) bool { return refusedToClient(config, key, nil) == "" }

// refusedToClient is why a client's override is not applied, in words; empty: it may be. Who has "voice" has its parts,
// and what is locked is locked for clients too.
func refusedToClient(config agents.Config, key string, value json.RawMessage) string {
	listed := allows(config.ClientOverrides, key) || slices.Contains(nested["voice"], key) && allows(config.ClientOverrides, "voice")
	if !listed || clientOverride(key) == nil {
		return "The agent's client_overrides does not have " + strconv.Quote(key) + "."
	}
	if at, locked := refusedBy(config.LockedOverrides, key, value); locked {
		return "The agent's locked_overrides has " + strconv.Quote(at) + "."
	}
	return ""
}

// strict decodes value into target, refusing null, unknown members and anything behind it. A member's name is one to the
// letter, see unknownIn.
func DecodeStrict(value json.RawMessage, target any) error {
	if bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
		return errors.New("null")
	}
	if unknown := unknownIn(value, reflect.TypeOf(target).Elem()); unknown != nil { // of any case, which the decoder takes
		return unknown
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// cloned keeps the decoder, which writes through pointers, away from the original.
func cloned(number *float64) *float64 {
	if number == nil {
		return nil
	}
	copied := *number
	return &copied
}

func setText(key string, maxChars int, field func(*agents.Config) *string) override {
	return func(config *agents.Config, value json.RawMessage) error {
		var text string
		if DecodeStrict(value, &text) != nil || len([]rune(text)) > maxChars || !IsStorable(text) {
			return errors.New(key + " must be a string of at most " + strconv.Itoa(maxChars) + " characters, without the character U+0000")
		}
		*field(config) = text
		return nil
	}
}

func setLanguage(config *agents.Config, value json.RawMessage) error {
	var tag string
	if DecodeStrict(value, &tag) != nil {
		return errors.New(`language must be a BCP 47 tag such as "en" or "de-CH"`)
	}
	canonical, ok := CanonicalLanguage(tag)
	if !ok {
		return errors.New(`language must be the BCP 47 tag of a language, such as "en" or "de-CH"`)
	}
	config.Language = canonical
	return nil
}

// maxModelNameChars: source: AgentModel in agents.proto.
const maxModelNameChars = 200

// setModelName takes the model's name.
func setModelName(config *agents.Config, value json.RawMessage) error {
	var name string
	if DecodeStrict(value, &name) != nil || name == "" || len([]rune(name)) > maxModelNameChars || !IsStorable(name) {
		return errors.New("model must be a model's name, a string of at most " + strconv.Itoa(maxModelNameChars) + " characters")
	}
	config.Model.Name = name
	return nil
}

// setModel takes the model's name, or an object with fields of the agent's model.
func setModel(config *agents.Config, value json.RawMessage) error {
	var name string
	if DecodeStrict(value, &name) == nil {
		if name == "" || !nameable(name, maxModelChars) {
			return errors.New("model must name a model, with at most 200 characters")
		}
		config.Model.Name = name
		return nil
	}
	changed := config.Model
	changed.Temperature = cloned(changed.Temperature)
	if _, given := membersIn(value)["fallbacks"]; given {
		changed.Fallbacks = nil // else the decoder would write into the agent's, and keep what a new one leaves out
	}
	if err := DecodeStrict(value, &changed); err != nil || !validModel(changed) {
		return wrong(err, "model must be a model's name, or an object of provider, name (at most 200 characters), temperature (0 to 2), max_output_tokens (0 to 200,000), history_tokens (0, or 500 to 200,000) and fallbacks (at most 5)")
	}
	if err := checkProvider(workspaces.CredentialModel, changed.Provider, config.Model.Provider); err != nil {
		return err
	}
	for _, fallback := range changed.Fallbacks {
		if slices.Contains(config.Model.Fallbacks, fallback) {
			continue
		}
		if err := checkProvider(workspaces.CredentialModel, fallback.Provider, ""); err != nil {
			return err
		}
	}
	config.Model = changed
	return nil
}

// validModel: source: AgentModel in agents.proto.
func validModel(m agents.Model) bool {
	for _, ref := range append([]agents.ModelRef{{Provider: m.Provider, Name: m.Name}}, m.Fallbacks...) {
		if !nameable(ref.Provider, maxProviderChars) || !nameable(ref.Name, maxModelChars) {
			return false
		}
	}
	return m.MaxOutputTokens >= 0 && m.MaxOutputTokens <= maxOutputTokens && len(m.Fallbacks) <= maxFallbacks &&
		validHistory(m.HistoryTokens) && validTemperature(m.Temperature)
}

// nameable says that a name has at most so many characters, and can be stored.
func nameable(name string, maxChars int) bool {
	return utf8.RuneCountInString(name) <= maxChars && IsStorable(name)
}

// validHistory: source: agents.proto.
func validHistory(tokens int) bool { return tokens == 0 || tokens >= 500 && tokens <= 200_000 }

func validTemperature(t *float64) bool { return t == nil || (*t >= 0 && *t <= maxTemperature) }

func setTemperature(config *agents.Config, value json.RawMessage) error {
	var temperature float64
	if DecodeStrict(value, &temperature) != nil || !validTemperature(&temperature) {
		return errors.New("temperature must be a number from 0 to 2")
	}
	config.Model.Temperature = &temperature
	return nil
}

func setVoice(config *agents.Config, value json.RawMessage) error {
	var parts map[string]json.RawMessage
	if DecodeStrict(value, &parts) != nil {
		return errors.New("voice must be an object")
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		set, ok := voiceOverrides[key]
		if !ok {
			return &unknownMember{path: key, known: slices.Sorted(maps.Keys(voiceOverrides))}
		}
		if err := set(config, parts[key]); err != nil {
			if unknown, ok := errors.AsType[*unknownMember](err); ok {
				return unknown.inside(key)
			}
			return errors.New(key + ": " + err.Error())
		}
	}
	return nil
}

func setRetrieval(config *agents.Config, value json.RawMessage) error {
	changed := config.Retrieval
	changed.MinSimilarity = cloned(changed.MinSimilarity)
	if err := DecodeStrict(value, &changed); err != nil || changed.TopK < 1 || changed.TopK > maxTopK ||
		(changed.MinSimilarity != nil && (*changed.MinSimilarity < 0 || *changed.MinSimilarity > 1)) ||
		!slices.Contains([]string{"similarity", "hybrid"}, changed.Ranking) {
		return wrong(err, "retrieval must be an object of top_k (1 to 50), min_similarity (0 to 1), ranking (similarity or hybrid) and rerank (true or false)")
	}
	config.Retrieval = changed
	return nil
}

func setFormat(field func(*agents.Config) *string) override {
	return func(config *agents.Config, value json.RawMessage) error {
		var format string
		if DecodeStrict(value, &format) != nil || !slices.Contains(audioFormats, format) {
			return errors.New("it must be one of " + strings.Join(audioFormats, ", "))
		}
		*field(config) = format
		return nil
	}
}
