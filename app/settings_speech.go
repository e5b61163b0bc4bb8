package app

import (
	"errors"
	"fmt"
	"slices"

	"parlance.dev/parlance/provider/endmodel"
)

// Names of the providers that an agent may choose to hear and speak.
const (
	providerDeepgram   = "deepgram"
	providerRealtime   = "openai-realtime"
	providerElevenLabs = "elevenlabs"
	// providerOffline needs no server.
	providerOffline = "espeak-ng"
)

// The values of TTS_OFFLINE.
const (
	offlineAuto = "auto"
	offlineOff  = "off"
)

// Speech is a service that transcribes or speaks. The zero value is none.
type Speech struct {
	Provider
	// Kind is the name by which agents choose it. Empty is openai when the rest says that there is
	// one.
	Kind string
	// Voice speaks for agents that name none. Transcribers have none.
	Voice string
}

// IsSet reports whether there is a service.
func (s Speech) IsSet() bool { return s.Kind != "" || s.BaseURL != "" || s.APIKey.IsSet() }

// kind returns the provider of a service that is set.
func (s Speech) kind() string {
	if s.Kind == "" {
		return providerOpenAI
	}
	return s.Kind
}

// adoptKey takes the key from the variable that the provider's own programs use, when none is set.
// OpenAI's key makes OpenAI the default, and is sent to no other server.
// Errors: the key's file cannot be read.
func (s *Speech) adoptKey(src Source, isDefault bool) error {
	name := ""
	switch {
	case s.APIKey.IsSet():
	case s.Kind == providerDeepgram:
		name = "DEEPGRAM_API_KEY"
	case s.Kind == providerElevenLabs:
		name = "ELEVENLABS_API_KEY"
	case s.BaseURL == "" && (s.Kind == providerOpenAI || s.Kind == providerRealtime || s.Kind == "" && isDefault):
		name = "OPENAI_API_KEY"
	}
	if name == "" {
		return nil
	}
	value, origin, err := src.lookup(name, true)
	if err != nil {
		return fmt.Errorf("%s %w", origin, err)
	}
	return text(&s.APIKey)(value)
}

// check returns the errors of settings that cannot work together. prefix begins their names.
func (s Speech) check(prefix string) (problems []error) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(prefix+format, args...)) }
	switch {
	case !s.IsSet():
	case s.Kind == providerOffline:
		if s.BaseURL != "" || s.Name != "" || s.APIKey.IsSet() {
			add("_BASE_URL, _API_KEY and _NAME are for a server, and %s_PROVIDER %s has none", prefix, s.Kind)
		}
	case s.BaseURL == "" && !s.APIKey.IsSet():
		add("_PROVIDER %s needs %s_API_KEY or %s_BASE_URL", s.Kind, prefix, prefix)
	}
	return problems
}

// The models of servers with OpenAI's API for which none is named: the oldest names, which all of
// them know.
const (
	serverTranscriber = "whisper-1"
	serverSynthesizer = "tts-1"
)

// nameModel names the model of a server that is given by its address alone.
func (s *Speech) nameModel(model string) {
	if s.kind() == providerOpenAI && s.BaseURL != "" && s.Name == "" {
		s.Name = model
	}
}

// adoptSpeechKeys completes the keys and models of the services.
func (c *Config) adoptSpeechKeys(src Source) (problems []error) {
	c.STT.nameModel(serverTranscriber)
	c.STTFallback.nameModel(serverTranscriber)
	c.TTS.nameModel(serverSynthesizer)
	c.TTSFallback.nameModel(serverSynthesizer)
	told := map[string]bool{} // they share files
	for i, service := range []*Speech{&c.STT, &c.TTS, &c.STTFallback, &c.TTSFallback} {
		if err := service.adoptKey(src, i < 2); err != nil && !told[err.Error()] {
			told[err.Error()] = true
			problems = append(problems, err)
		}
	}
	return problems
}

// checkSpeech returns the errors of the settings of speech.
func (c *Config) checkSpeech() []error {
	problems := slices.Concat(c.STT.check("PARLANCE_STT"), c.STTFallback.check("PARLANCE_STT_FALLBACK"),
		c.TTS.check("PARLANCE_TTS"), c.TTSFallback.check("PARLANCE_TTS_FALLBACK"))
	if c.STTFallback.IsSet() && !c.STT.IsSet() {
		problems = append(problems, errors.New("PARLANCE_STT_FALLBACK_* needs PARLANCE_STT_*, which it stands in for"))
	}
	if c.TTSFallback.IsSet() && !c.TTS.IsSet() {
		problems = append(problems, errors.New("PARLANCE_TTS_FALLBACK_* needs PARLANCE_TTS_*, which it stands in for"))
	}
	if c.TTSOffline == offlineOff && (c.TTS.Kind == providerOffline || c.TTSFallback.Kind == providerOffline) {
		problems = append(problems, errors.New("PARLANCE_TTS_OFFLINE=off leaves out espeak-ng, which a PARLANCE_TTS_*PROVIDER names"))
	}
	if c.EndModel != "" && !endmodel.Built {
		problems = append(problems, fmt.Errorf("PARLANCE_STT_END_MODEL: %w", endmodel.ErrNotBuilt))
	}
	if c.ONNXRuntime != "" && c.EndModel == "" {
		problems = append(problems, errors.New("PARLANCE_ONNXRUNTIME needs PARLANCE_STT_END_MODEL, which it runs"))
	}
	return problems
}

func (c *Config) speechSettings() []Setting {
	stt := []string{providerOpenAI, providerRealtime, providerDeepgram}
	tts := []string{providerOpenAI, providerElevenLabs, providerOffline}
	return group("Speech",
		setting("STT_BASE_URL", "", address(&c.STT.BaseURL, "http", "https"),
			"Server that transcribes speech, where its API begins (…/v1): any with OpenAI's POST …/audio/transcriptions "+
				"(Speaches, LocalAI, whisper.cpp), or that of STT_PROVIDER. Default: the provider's own, if there is a key."),
		setting("STT_API_KEY", "", text(&c.STT.APIKey),
			"Its API key; local servers need none. Default: OPENAI_API_KEY, if STT_BASE_URL is unset; DEEPGRAM_API_KEY for deepgram.").secret(),
		setting("STT_NAME", "", text(&c.STT.Name),
			"Name of its model. Default: gpt-4o-mini-transcribe at openai, gpt-live-transcribe at openai-realtime, nova-3 at "+
				"deepgram; whisper-1 with STT_BASE_URL for openai."),
		setting("STT_PROVIDER", "", choice(&c.STT.Kind, stt...),
			"Protocol of the server: openai, openai-realtime or deepgram. The last two transcribe while the user speaks. Default: openai."),
		setting("STT_FALLBACK_BASE_URL", "", address(&c.STTFallback.BaseURL, "http", "https"),
			"A second transcriber, which hears the same utterance when the first one fails."),
		setting("STT_FALLBACK_API_KEY", "", text(&c.STTFallback.APIKey), "Its STT_API_KEY.").secret(),
		setting("STT_FALLBACK_NAME", "", text(&c.STTFallback.Name), "Its STT_NAME."),
		setting("STT_FALLBACK_PROVIDER", "", choice(&c.STTFallback.Kind, stt...), "Its STT_PROVIDER."),
		setting("STT_END_MODEL", "", text(&c.EndModel),
			"File of a model that judges from the sound whether a speaker has finished: Smart Turn v3 (smart-turn-v3.2-cpu.onnx). "+
				"For servers; refused by programs that were built without the tag onnxruntime."),
		setting("ONNXRUNTIME", "", text(&c.ONNXRuntime),
			"File of onnxruntime's shared library, 1.24 or newer, which runs STT_END_MODEL. Default: libonnxruntime.so, where the "+
				"system has its libraries."),
		setting("TTS_BASE_URL", "", address(&c.TTS.BaseURL, "http", "https"),
			"Server that speaks, where its API begins (…/v1): any with OpenAI's POST …/audio/speech (Speaches, LocalAI, "+
				"Kokoro-FastAPI), or that of TTS_PROVIDER. Default: the provider's own, if there is a key."),
		setting("TTS_API_KEY", "", text(&c.TTS.APIKey),
			"Its API key. Default: OPENAI_API_KEY, if TTS_BASE_URL is unset; ELEVENLABS_API_KEY for elevenlabs.").secret(),
		setting("TTS_NAME", "", text(&c.TTS.Name),
			"Name of its model. Default: gpt-4o-mini-tts at openai, eleven_flash_v2_5 at elevenlabs; tts-1 with TTS_BASE_URL "+
				"for openai."),
		setting("TTS_VOICE", "", text(&c.TTS.Voice),
			"Name or id of its voice, for agents that name none. Default: alloy at openai, Rachel at elevenlabs, that of the "+
				"language with espeak-ng."),
		setting("TTS_PROVIDER", "", choice(&c.TTS.Kind, tts...),
			"Protocol of the server: openai, elevenlabs, or espeak-ng, which is a program on this machine. Default: openai."),
		setting("TTS_FALLBACK_BASE_URL", "", address(&c.TTSFallback.BaseURL, "http", "https"),
			"A second synthesizer, which speaks a sentence when the first one fails before its first sound."),
		setting("TTS_FALLBACK_API_KEY", "", text(&c.TTSFallback.APIKey), "Its TTS_API_KEY.").secret(),
		setting("TTS_FALLBACK_NAME", "", text(&c.TTSFallback.Name), "Its TTS_NAME."),
		setting("TTS_FALLBACK_VOICE", "", text(&c.TTSFallback.Voice), "Its TTS_VOICE."),
		setting("TTS_FALLBACK_PROVIDER", "", choice(&c.TTSFallback.Kind, tts...), "Its TTS_PROVIDER."),
		setting("TTS_OFFLINE", offlineAuto, choice(&c.TTSOffline, offlineAuto, offlineOff),
			"auto has espeak-ng speak, if the program is installed, when no other synthesizer does; off leaves it out."),
	)
}
