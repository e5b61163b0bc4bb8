package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/workspaces"
)

// languageTag is the shape of a BCP 47 tag.
var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// voiceOverrides are the keys of voice_stack_override. Source: decisions, Sessions.
var voiceOverrides = map[string]override{
	"stt":                 setPart(checkTranscriber, func(c *agents.Config) *json.RawMessage { return &c.Voice.STT }),
	"tts":                 setPart(checkSynthesizer, func(c *agents.Config) *json.RawMessage { return &c.Voice.TTS }),
	"vad":                 setPart(checkVAD, func(c *agents.Config) *json.RawMessage { return &c.Voice.VAD }),
	"turn_detection":      setPart(checkTurnDetection, func(c *agents.Config) *json.RawMessage { return &c.Voice.TurnDetection }),
	"input_audio_format":  setFormat(func(c *agents.Config) *string { return &c.Voice.InputAudioFormat }),
	"output_audio_format": setFormat(func(c *agents.Config) *string { return &c.Voice.OutputAudioFormat }),
}

// nestedKeys are the keys within another that can be locked by themselves.
var nestedKeys = map[string][]string{
	"model": {"temperature"},
	"voice": {"stt", "tts", "vad", "turn_detection", "input_audio_format", "output_audio_format"},
}

// checkTranscriber checks stt.
func checkTranscriber(part, own json.RawMessage) error {
	chosen, err := agents.ParseTranscriber(part)
	agent := agents.Voice{STT: own}.Transcriber()
	return cmp.Or(err, checkTag(chosen.Language), checkProvider(workspaces.CredentialSTT, chosen.Provider, agent.Provider))
}

// checkSynthesizer checks tts.
func checkSynthesizer(part, own json.RawMessage) error {
	chosen, err := agents.ParseSynthesizer(part)
	agent := agents.Voice{TTS: own}.Synthesizer()
	return cmp.Or(err, checkTag(chosen.Language), checkProvider(workspaces.CredentialTTS, chosen.Provider, agent.Provider))
}

func checkTag(language string) error {
	if language != "" && !languageTag.MatchString(language) {
		return errors.New(`language must be a BCP 47 tag such as "en" or "de-CH"`)
	}
	return nil
}

// checkVAD checks the settings of voice activity detection.
func checkVAD(part, _ json.RawMessage) error {
	var chosen struct {
		Threshold         float64 `json:"threshold"`
		PrefixPaddingMS   int     `json:"prefix_padding_ms"`
		SilenceDurationMS int     `json:"silence_duration_ms"`
	}
	if err := jsonvalue.DecodeStrict(part, &chosen); err != nil || chosen.Threshold < 0 || chosen.Threshold > 1 ||
		chosen.PrefixPaddingMS < 0 || chosen.PrefixPaddingMS > maxPauseMS ||
		chosen.SilenceDurationMS < 0 || chosen.SilenceDurationMS > maxPauseMS {
		return refusal(err, "it is an object of threshold (0 to 1), prefix_padding_ms and silence_duration_ms (whole numbers to 60,000)")
	}
	return nil
}

// checkTurnDetection checks the settings of turn detection.
func checkTurnDetection(part, _ json.RawMessage) error {
	var chosen struct {
		Type              string `json:"type"`
		InterruptResponse bool   `json:"interrupt_response"`
		CreateResponse    bool   `json:"create_response"`
		StartEarly        bool   `json:"start_early"`
	}
	if err := jsonvalue.DecodeStrict(part, &chosen); err != nil || !slices.Contains([]string{"", "server_vad", "semantic_vad"}, chosen.Type) {
		return refusal(err, "it is an object of type (server_vad or semantic_vad), interrupt_response, create_response and start_early "+
			"(true or false)")
	}
	return nil
}

// setVoice applies an object of the keys of voice_stack_override.
func setVoice(config *agents.Config, value json.RawMessage) error {
	var parts map[string]json.RawMessage
	if jsonvalue.DecodeStrict(value, &parts) != nil {
		return errors.New("voice must be an object")
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		set, ok := voiceOverrides[key]
		if !ok {
			return &jsonvalue.UnknownMember{Path: key, Known: slices.Sorted(maps.Keys(voiceOverrides))}
		}
		if err := set(config, parts[key]); err != nil {
			if unknown, ok := errors.AsType[*jsonvalue.UnknownMember](err); ok {
				return unknown.Within(key)
			}
			return errors.New(key + ": " + err.Error())
		}
	}
	return nil
}
