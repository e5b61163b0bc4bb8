package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/endmodel"
)

// named is a speech service with its key in clear.
type named struct{ kind, base, key, name, voice string }

func nameOf(s app.Speech) named {
	return named{s.Kind, s.BaseURL, s.APIKey.Reveal(), s.Name, s.Voice}
}

// TestSpeechKeys: whose key is used for which service.
func TestSpeechKeys(t *testing.T) {
	t.Parallel()
	const local = "http://127.0.0.1:8000/v1"
	theirs := map[string]string{"OPENAI_API_KEY": "of-openai", "DEEPGRAM_API_KEY": "of-deepgram", "ELEVENLABS_API_KEY": "of-elevenlabs"}
	for _, row := range []struct {
		name                       string
		env                        map[string]string
		stt, sttNext, tts, ttsNext named
	}{
		{name: "nothing"},
		{name: "keys of others", env: theirs, stt: named{key: "of-openai"}, tts: named{key: "of-openai"}},
		{name: "no key of OpenAI", env: map[string]string{"DEEPGRAM_API_KEY": "k", "ELEVENLABS_API_KEY": "k"}},
		{
			name: "local servers, to which OpenAI's key is not sent",
			env: with(theirs, "PARLANCE_STT_BASE_URL", local, "PARLANCE_STT_NAME", "whisper",
				"PARLANCE_TTS_BASE_URL", local, "PARLANCE_TTS_NAME", "kokoro", "PARLANCE_TTS_VOICE", "af_heart"),
			stt: named{base: local, name: "whisper"}, tts: named{base: local, name: "kokoro", voice: "af_heart"},
		},
		{
			name: "addresses alone", env: map[string]string{"PARLANCE_STT_BASE_URL": local, "PARLANCE_TTS_BASE_URL": local},
			stt: named{base: local, name: "whisper-1"}, tts: named{base: local, name: "tts-1"},
		},
		{
			name: "their providers",
			env:  with(theirs, "PARLANCE_STT_PROVIDER", "deepgram", "PARLANCE_TTS_PROVIDER", "elevenlabs"),
			stt:  named{kind: "deepgram", key: "of-deepgram"}, tts: named{kind: "elevenlabs", key: "of-elevenlabs"},
		},
		{
			name: "ours win",
			env:  with(theirs, "PARLANCE_STT_PROVIDER", "deepgram", "PARLANCE_STT_API_KEY", "ours", "PARLANCE_TTS_API_KEY", "ours"),
			stt:  named{kind: "deepgram", key: "ours"}, tts: named{key: "ours"},
		},
		{
			name: "fallbacks, which must be named",
			env: with(theirs, "PARLANCE_STT_PROVIDER", "deepgram", "PARLANCE_STT_FALLBACK_PROVIDER", "openai-realtime",
				"PARLANCE_TTS_PROVIDER", "elevenlabs", "PARLANCE_TTS_FALLBACK_PROVIDER", "openai"),
			stt: named{kind: "deepgram", key: "of-deepgram"}, sttNext: named{kind: "openai-realtime", key: "of-openai"},
			tts: named{kind: "elevenlabs", key: "of-elevenlabs"}, ttsNext: named{kind: "openai", key: "of-openai"},
		},
		{
			name: "a program needs no key",
			env:  with(theirs, "PARLANCE_TTS_PROVIDER", "espeak-ng", "PARLANCE_TTS_VOICE", "de+f3"),
			stt:  named{key: "of-openai"}, tts: named{kind: "espeak-ng", voice: "de+f3"},
		},
	} {
		c, err := app.Load(source(row.env, nil, nil))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		got := []named{nameOf(c.STT), nameOf(c.STTFallback), nameOf(c.TTS), nameOf(c.TTSFallback)}
		want := []named{row.stt, row.sttNext, row.tts, row.ttsNext}
		if diff := cmp.Diff(got, want, cmp.AllowUnexported(named{})); diff != "" {
			t.Errorf("%s (-got +want): %s", row.name, diff)
		}
	}
	c, err := app.Load(source(map[string]string{"OPENAI_API_KEY_FILE": "/run/key"}, map[string]string{"/run/key": "filed\n"}, nil))
	if err != nil || c.STT.APIKey.Reveal() != "filed" || c.TTS.APIKey.Reveal() != "filed" {
		t.Errorf("a key in a file: %q, %q, %v", c.STT.APIKey.Reveal(), c.TTS.APIKey.Reveal(), err)
	}
	_, err = app.Load(source(map[string]string{"PARLANCE_STT_PROVIDER": "deepgram", "DEEPGRAM_API_KEY_FILE": "/missing"}, nil, nil))
	if err == nil || strings.Count(err.Error(), "DEEPGRAM_API_KEY_FILE") != 1 {
		t.Errorf("a key in a file that is not there: %v", err)
	}
}

// with returns a copy of an environment with more variables.
func with(env map[string]string, pairs ...string) map[string]string {
	more := map[string]string{}
	for name, value := range env {
		more[name] = value
	}
	for i := 0; i < len(pairs); i += 2 {
		more[pairs[i]] = pairs[i+1]
	}
	return more
}

// TestSpeechRefused: settings that cannot work together, each said once, and all at once.
func TestSpeechRefused(t *testing.T) {
	t.Parallel()
	const local = "http://127.0.0.1:8000/v1"
	for name, row := range map[string]struct {
		env  map[string]string
		says []string
	}{
		"unknown provider": {map[string]string{"PARLANCE_STT_PROVIDER": "elevenlabs"}, []string{
			"PARLANCE_STT_PROVIDER must be one of openai, openai-realtime, deepgram",
		}},
		"provider without a key": {map[string]string{
			"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_TTS_PROVIDER": "elevenlabs", "OPENAI_API_KEY": "k",
		}, []string{
			"PARLANCE_STT_PROVIDER deepgram needs PARLANCE_STT_API_KEY or PARLANCE_STT_BASE_URL",
			"PARLANCE_TTS_PROVIDER elevenlabs needs PARLANCE_TTS_API_KEY or PARLANCE_TTS_BASE_URL",
		}},
		"fallback of nothing": {map[string]string{
			"PARLANCE_STT_FALLBACK_API_KEY": "k", "PARLANCE_TTS_FALLBACK_BASE_URL": local, "PARLANCE_TTS_FALLBACK_NAME": "n",
		}, []string{"PARLANCE_STT_FALLBACK_* needs PARLANCE_STT_*", "PARLANCE_TTS_FALLBACK_* needs PARLANCE_TTS_*"}},
		"program with a server": {map[string]string{"PARLANCE_TTS_PROVIDER": "espeak-ng", "PARLANCE_TTS_BASE_URL": local}, []string{
			"PARLANCE_TTS_BASE_URL, _API_KEY and _NAME are for a server",
		}},
		"program that is off": {map[string]string{"PARLANCE_TTS_PROVIDER": "espeak-ng", "PARLANCE_TTS_OFFLINE": "off"}, []string{
			"PARLANCE_TTS_OFFLINE=off leaves out espeak-ng",
		}},
		"no URL, and another problem": {map[string]string{"PARLANCE_TTS_BASE_URL": "ftp://x", "PARLANCE_TTS_OFFLINE": "on"}, []string{
			"PARLANCE_TTS_BASE_URL must be", "PARLANCE_TTS_OFFLINE must be one of auto, off",
		}},
	} {
		_, err := app.Load(source(row.env, nil, nil))
		if err == nil {
			t.Errorf("%s was accepted", name)
			continue
		}
		for _, says := range row.says {
			if strings.Count(err.Error(), says) != 1 {
				t.Errorf("%s: %q is not said once in:\n%v", name, says, err)
			}
		}
		if lines := strings.Count(err.Error(), "\n") + 1; lines != len(row.says) {
			t.Errorf("%s: %d problems, want %d:\n%v", name, lines, len(row.says), err)
		}
	}
}

// TestEndModelSettings: a program that cannot run the model refuses it, and says which one can; a
// library alone is for nothing.
func TestEndModelSettings(t *testing.T) {
	t.Parallel()
	c, err := app.Load(source(map[string]string{
		"PARLANCE_STT_END_MODEL": "/models/smart-turn.onnx", "PARLANCE_ONNXRUNTIME": "/lib/libonnxruntime.so",
	}, nil, nil))
	switch {
	case !endmodel.Built:
		if err == nil || !strings.Contains(err.Error(), "PARLANCE_STT_END_MODEL: ") || !strings.Contains(err.Error(), "-tags onnxruntime") {
			t.Errorf("got %v", err)
		}
	case err != nil:
		t.Error(err)
	case c.EndModel != "/models/smart-turn.onnx" || c.ONNXRuntime != "/lib/libonnxruntime.so":
		t.Errorf("the model is %q and its library %q", c.EndModel, c.ONNXRuntime)
	}
	_, err = app.Load(source(map[string]string{"PARLANCE_ONNXRUNTIME": "/lib/libonnxruntime.so"}, nil, nil))
	if err == nil || !strings.Contains(err.Error(), "PARLANCE_ONNXRUNTIME needs PARLANCE_STT_END_MODEL") {
		t.Errorf("a library without a model: %v", err)
	}
}
