package doctor_test

import (
	"testing"
	"time"

	"parlance.dev/parlance/cli/doctor"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/fake/elevenlabs"
	"parlance.dev/parlance/test/fake/speechopenai"
)

func TestSpeech(t *testing.T) {
	t.Parallel()
	doctools.NeedSpeech(t)
	in := install(t)
	standing := func(d *doctor.Deps) { d.Now = func() time.Time { return time.Unix(0, 0) } }
	passing := func(d *doctor.Deps) {
		at := time.Unix(0, 0)
		d.Now = func() time.Time { at = at.Add(4 * time.Second); return at }
	}
	found := in.examine(t, "speech", standing)
	wants(t, found, "hear", doctor.Skipped, "not configured")
	wants(t, found, "speak-offline", doctor.OK, "espeak-ng spoke ")
	found = in.with("PARLANCE_TTS_OFFLINE", "off").examine(t, "speech", standing)
	wants(t, found, "speak", doctor.Skipped, "not configured")

	const key = "sk-speech"
	server, voices := speechopenai.New(t, key), elevenlabs.New(t, key)
	server.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Text: speech.ProbeText} }
	server.Speaking.Else = func() speechtest.Spoken {
		return speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(24000))}}
	}
	voices.Else = server.Speaking.Else
	in = in.with(
		"PARLANCE_STT_BASE_URL", server.BaseURL, "PARLANCE_STT_API_KEY", key, "PARLANCE_STT_NAME", "whisper",
		"PARLANCE_STT_FALLBACK_PROVIDER", "openai-realtime", "PARLANCE_STT_FALLBACK_BASE_URL", server.BaseURL,
		"PARLANCE_STT_FALLBACK_API_KEY", key,
		"PARLANCE_TTS_PROVIDER", "elevenlabs", "PARLANCE_TTS_BASE_URL", voices.BaseURL, "PARLANCE_TTS_API_KEY", key,
		"PARLANCE_TTS_FALLBACK_BASE_URL", server.BaseURL, "PARLANCE_TTS_FALLBACK_API_KEY", key, "PARLANCE_TTS_FALLBACK_NAME", "kokoro",
	)
	found = in.examine(t, "speech", standing)
	wants(t, found, "hear", doctor.OK, "openai/whisper at "+server.BaseURL+" heard \""+speech.ProbeText)
	wants(t, found, "hear-fallback", doctor.OK, "openai-realtime/gpt-live-transcribe at ")
	wants(t, found, "speak", doctor.OK, "elevenlabs/eleven_flash_v2_5 at "+voices.BaseURL+" spoke 1.0 s of sound")
	wants(t, found, "speak-fallback", doctor.OK, "openai/kokoro at ")
	wants(t, found, "speak-offline", doctor.OK, "espeak-ng")
	found = in.examine(t, "speech", passing)
	wants(t, found, "hear", doctor.Warning, "heard a sentence in 4s")
	wants(t, found, "speak", doctor.Warning, "began to speak after 4s")

	found = in.with("PARLANCE_STT_API_KEY", "wrong", "PARLANCE_TTS_API_KEY", "wrong",
		"PARLANCE_STT_FALLBACK_BASE_URL", "http://127.0.0.1:1/v1").examine(t, "speech", standing)
	wants(t, found, "hear", doctor.Failed, "refused the API key")
	wants(t, found, "hear-fallback", doctor.Failed, "could not be reached")
	wants(t, found, "speak", doctor.Failed, "refused the API key")
	wants(t, found, "speak-fallback", doctor.OK, "")
	server.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{} }
	wants(t, in.examine(t, "speech", standing), "hear", doctor.Failed, "it heard no word")
	wants(t, in.with("PARLANCE_TTS_PROVIDER", "espeak-ng", "PARLANCE_TTS_BASE_URL", "", "PARLANCE_TTS_API_KEY", "", "PARLANCE_TTS_VOICE",
		"no-such-voice").examine(t, "speech", standing), "speak-offline", doctor.Warning, "no voice \"no-such-voice\"")
}
