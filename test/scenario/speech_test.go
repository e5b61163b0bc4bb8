package scenario

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/fake/deepgram"
	"parlance.dev/parlance/test/fake/elevenlabs"
	"parlance.dev/parlance/test/fake/speechopenai"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/voice"
	"parlance.dev/parlance/workspaces"
)

// speechEnv is an installation that hears and speaks.
type speechEnv struct{ *harness.Env }

func newSpeechEnv(t *testing.T, guarded bool, settings map[string]string) speechEnv {
	t.Helper()
	doctools.NeedSpeech(t)
	return speechEnv{harness.Start(t, harness.Options{WithoutWorker: true, Guarded: guarded, Settings: settings})}
}

// ref is the tenant's workspace.
func (s speechEnv) ref() workspaces.Ref {
	return workspaces.Ref{TenantID: workspaces.TenantID(s.Tenant.ID), ID: workspaces.ID(s.Tenant.WorkspaceID)}
}

// choose is the stack of an agent with these parts; empty ones are left out.
func (s speechEnv) choose(t *testing.T, ref workspaces.Ref, stt, tts, language string) (voice.Stack, error) {
	t.Helper()
	stack, err := s.App.Stack(t.Context(), ref, agents.Voice{STT: json.RawMessage(stt), TTS: json.RawMessage(tts)}, language)
	if err == nil {
		t.Cleanup(stack.Close)
	}
	return stack, err
}

// stack is choose for the tenant's workspace, which must have a stack.
func (s speechEnv) stack(t *testing.T, stt, tts, language string) voice.Stack {
	t.Helper()
	stack, err := s.choose(t, s.ref(), stt, tts, language)
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// credential gives the workspace a key of its own.
func (s speechEnv) credential(t *testing.T, kind, provider, base, key string) (id string) {
	t.Helper()
	return s.Do(t, "POST", s.Tenant.In("/provider-credentials"), map[string]string{
		"kind": kind, "provider": provider, "base_url": base, "api_key": key,
	}).Must(t, 201).Text("id")
}

// hear has the stack hear a short sound.
func hear(t *testing.T, stack voice.Stack) (speech.Transcript, error) {
	t.Helper()
	return speech.Transcribe(t.Context(), stack.Transcriber, speech.Utterance{
		Samples: speechtest.Tone(8000), Options: speech.Options{Language: stack.Language, Hints: stack.Hints},
	})
}

// speak has the stack speak a sentence, and returns the samples and who spoke.
func speak(t *testing.T, stack voice.Stack) (samples []int16, by string, err error) {
	t.Helper()
	asked := stack.Speech
	asked.Text = "The boat leaves at noon."
	err = stack.Synthesizer.Speak(t.Context(), asked, func(p speech.Piece) error {
		samples, by = append(samples, p.Samples...), p.Provider
		return nil
	})
	return samples, by, err
}

// wantHeard checks who hears what.
func wantHeard(t *testing.T, stack voice.Stack, by, text string) {
	t.Helper()
	if heard, err := hear(t, stack); err != nil || heard.Provider != by || heard.Text != text {
		t.Errorf("%s heard %q (%v), want %s and %q", heard.Provider, heard.Text, err, by, text)
	}
}

// wantSpoken checks who speaks.
func wantSpoken(t *testing.T, stack voice.Stack, want string) {
	t.Helper()
	if samples, by, err := speak(t, stack); err != nil || by != want || len(samples) == 0 {
		t.Errorf("%d samples by %q (%v), want %s", len(samples), by, err, want)
	}
}

// wantFault checks the reason of an error and what it says.
func wantFault(t *testing.T, err error, reason fault.Reason, says string) {
	t.Helper()
	if !fault.IsReason(err, reason) || !strings.Contains(fault.From(err).Message, says) {
		t.Errorf("got %v, want %s with %q", err, reason, says)
	}
}

const offline = "espeak-ng"

// TestSpeechNotConfigured: nothing hears, and the program of this machine speaks the session's
// language.
func TestSpeechNotConfigured(t *testing.T) {
	t.Parallel()
	s := newSpeechEnv(t, true, nil)
	stack := s.stack(t, ``, ``, "fr")
	if stack.Transcriber != nil || stack.TranscriberName != "" || stack.Streaming || stack.Punctuated ||
		stack.SynthesizerName != offline || stack.Language != "" || stack.Speech.Language != "fr" {
		t.Errorf("got %+v", stack)
	}
	french, by, err := speak(t, stack)
	if err != nil || by != offline {
		t.Fatalf("%q spoke, %v", by, err)
	}
	for _, row := range []struct {
		tts, language string
		same          bool
	}{
		{`{"provider":"espeak-ng","language":"fr"}`, "en", true},
		{`{"voice":"fr-fr"}`, "fr", true},
		{`{"voice":"fr-fr+f3"}`, "fr", false},
		{`{"voice":"fr-fr+f3"}`, "en", false},
		{`{"speed":2}`, "fr", false},
		{``, "en", false},
	} {
		other, _, err := speak(t, s.stack(t, ``, row.tts, row.language))
		if err != nil || slices.Equal(other, french) != row.same {
			t.Errorf("%s in %q: the same as French is %t, %v", row.tts, row.language, !row.same, err)
		}
	}
	_, err = s.choose(t, s.ref(), `{"provider":"deepgram"}`, ``, "en")
	wantFault(t, err, fault.UpstreamFailed, `The agent's transcriber "deepgram" is not configured`)
	_, err = s.choose(t, s.ref(), ``, `{"provider":"openai"}`, "en")
	wantFault(t, err, fault.UpstreamFailed, `The agent's synthesizer "openai" is not configured`)

	silent := newSpeechEnv(t, true, map[string]string{"PARLANCE_TTS_OFFLINE": "off"})
	if stack := silent.stack(t, ``, ``, "en"); stack.Synthesizer != nil || stack.SynthesizerName != "" {
		t.Errorf("%q speaks although it is off", stack.SynthesizerName)
	}
	_, err = silent.choose(t, s.ref(), ``, `{"provider":"espeak-ng"}`, "en")
	wantFault(t, err, fault.UpstreamFailed, "switched off")
}

// TestSpeechInstalled: servers of the operator on loopback, which tenants may not reach, with what
// an agent says in place of the settings.
func TestSpeechInstalled(t *testing.T) {
	t.Parallel()
	server := speechopenai.New(t, installationKey)
	server.Form = speechopenai.FormPlain
	server.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Text: "Hello."} }
	server.Speaking.Else = func() speechtest.Spoken {
		return speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(100))}}
	}
	s := newSpeechEnv(t, true, map[string]string{
		"PARLANCE_STT_BASE_URL": server.BaseURL, "PARLANCE_STT_API_KEY": installationKey, "PARLANCE_STT_NAME": "whisper-ours",
		"PARLANCE_TTS_BASE_URL": server.BaseURL, "PARLANCE_TTS_API_KEY": installationKey, "PARLANCE_TTS_NAME": "kokoro-ours",
		"PARLANCE_TTS_VOICE": "af_heart",
	})
	stack := s.stack(t, ``, ``, "de-CH")
	if stack.TranscriberName != "openai/whisper-ours" || stack.SynthesizerName != "openai/kokoro-ours" || stack.Streaming || stack.Punctuated {
		t.Errorf("got %+v", stack)
	}
	wantHeard(t, stack, "openai", "Hello.")
	wantSpoken(t, stack, "openai")
	other := s.stack(t, `{"provider":"openai","language":"en","keywords":["Ada"]}`,
		`{"voice":"nova","speed":1.5,"instructions":"calm","stability":0.5}`, "de-CH")
	wantHeard(t, other, "openai", "Hello.")
	wantSpoken(t, other, "openai")
	third := s.stack(t, `{"model":"gpt-other"}`, `{"model":"other","language":"fr"}`, "de-CH")
	if third.TranscriberName != "openai/gpt-other" || third.SynthesizerName != "openai/other" || third.Speech.Language != "fr" {
		t.Errorf("got %+v", third)
	}
	wantHeard(t, third, "openai", "Hello.")
	wantSpoken(t, third, "openai")

	// A server that refuses verbose_json is asked for it once, not in each session.
	var heard []string
	for _, r := range server.Hearing.Requests() {
		heard = append(heard, strings.Join([]string{r.Model, r.Language, strings.Join(r.Hints, "+"), r.Values["response_format"][0]}, " "))
	}
	// Whisper detects the language, unless the agent says it; others are told.
	want := []string{"whisper-ours   verbose_json", "whisper-ours   json", "whisper-ours en Ada. json", "gpt-other de  json"}
	if !slices.Equal(heard, want) {
		t.Errorf("the transcriber got\n%q, want\n%q", heard, want)
	}
	said := server.Speaking.Requests()
	if len(said) != 3 || said[0].Voice != "af_heart" || said[0].Model != "kokoro-ours" || said[1].Voice != "nova" || said[1].Speed != 1.5 ||
		said[1].Instructions != "calm" || said[2].Model != "other" {
		t.Errorf("the synthesizer got %+v", said)
	}
}

// TestSpeechStreams: which transcribers give words while the user speaks.
func TestSpeechStreams(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		settings              map[string]string
		stt, named            string
		streaming, punctuated bool
	}{
		"deepgram": {map[string]string{"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_STT_API_KEY": "k"}, ``, "deepgram/nova-3", true, true},
		"its model": {
			map[string]string{"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_STT_API_KEY": "k"}, `{"model":"nova-2"}`, "deepgram/nova-2", true, true,
		},
		"openai-realtime": {
			map[string]string{"PARLANCE_STT_PROVIDER": "openai-realtime", "OPENAI_API_KEY": "k"},
			``,
			"openai-realtime/gpt-live-transcribe", true, true,
		},
		"its older models": {
			map[string]string{"PARLANCE_STT_PROVIDER": "openai-realtime", "OPENAI_API_KEY": "k"},
			`{"model":"whisper-1"}`,
			"openai-realtime/whisper-1", false, false,
		},
		"openai": {map[string]string{"OPENAI_API_KEY": "k"}, ``, "openai/gpt-4o-mini-transcribe", false, false},
		"with a fallback that does not stream": {
			map[string]string{
				"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_STT_API_KEY": "k",
				"PARLANCE_STT_FALLBACK_PROVIDER": "openai", "OPENAI_API_KEY": "k",
			}, ``, "deepgram/nova-3", false, true,
		},
		"the fallback, chosen": {
			map[string]string{
				"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_STT_API_KEY": "k",
				"PARLANCE_STT_FALLBACK_PROVIDER": "openai", "OPENAI_API_KEY": "k",
			}, `{"provider":"openai"}`, "openai/gpt-4o-mini-transcribe", false, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stack := newSpeechEnv(t, true, row.settings).stack(t, row.stt, ``, "en")
			if stack.TranscriberName != row.named || stack.Streaming != row.streaming || stack.Punctuated != row.punctuated {
				t.Errorf("%s, streaming %t, punctuated %t", stack.TranscriberName, stack.Streaming, stack.Punctuated)
			}
		})
	}
}

// TestSpeechFailsOver: a broken transcriber's utterance is heard by the second one, and a sentence
// is spoken by the second synthesizer, and at last by this machine in a voice that is near.
func TestSpeechFailsOver(t *testing.T) {
	t.Parallel()
	first := deepgram.New(t, "first-key")
	first.Else = func() speechtest.Heard { return speechtest.Heard{Refusal: speechtest.Refusal{Status: 500}} }
	voices := elevenlabs.New(t, "voice-key")
	voices.Else = func() speechtest.Spoken { return speechtest.Spoken{Refusal: speechtest.Refusal{Status: 500}} }
	second := speechopenai.New(t, installationKey)
	second.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Text: "Hello."} }
	second.Speaking.Add(speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(100))}})
	second.Speaking.Else = voices.Else
	s := newSpeechEnv(t, true, map[string]string{
		"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_STT_BASE_URL": first.BaseURL, "PARLANCE_STT_API_KEY": "first-key",
		"PARLANCE_STT_FALLBACK_BASE_URL": second.BaseURL, "PARLANCE_STT_FALLBACK_API_KEY": installationKey,
		"PARLANCE_STT_FALLBACK_NAME": "whisper",
		"PARLANCE_TTS_PROVIDER":      "elevenlabs", "PARLANCE_TTS_BASE_URL": voices.BaseURL, "PARLANCE_TTS_API_KEY": "voice-key",
		"PARLANCE_TTS_FALLBACK_BASE_URL": second.BaseURL, "PARLANCE_TTS_FALLBACK_API_KEY": installationKey,
		"PARLANCE_TTS_FALLBACK_NAME": "kokoro",
	})
	stack := s.stack(t, ``, `{"voice":"one-of-theirs"}`, "en-US")
	wantHeard(t, stack, "openai", "Hello.")
	wantSpoken(t, stack, "openai")
	wantSpoken(t, stack, offline)
	near := func(tts string) []int16 {
		t.Helper()
		samples, by, err := speak(t, s.stack(t, ``, tts, "en-US"))
		if err != nil || by != offline {
			t.Errorf("%s: %q spoke, %v", tts, by, err)
		}
		return samples
	}
	man, woman := near(`{"provider":"espeak-ng"}`), near(`{"provider":"espeak-ng","voice":"en-us+f3"}`)
	if !slices.Equal(near(`{"voice":"one-of-theirs"}`), man) || !slices.Equal(near(`{"provider":"openai","voice":"nova"}`), woman) ||
		!slices.Equal(near(`{"provider":"openai","voice":"bf_emma"}`), woman) || slices.Equal(man, woman) {
		t.Error("the voice after a fail-over is not the near one")
	}
}

// TestSpeechVoiceSettings: those that only ElevenLabs has.
func TestSpeechVoiceSettings(t *testing.T) {
	t.Parallel()
	server := elevenlabs.New(t, installationKey)
	server.Else = func() speechtest.Spoken {
		return speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(100))}}
	}
	s := newSpeechEnv(t, true, map[string]string{
		"PARLANCE_TTS_PROVIDER": "elevenlabs", "PARLANCE_TTS_BASE_URL": server.BaseURL, "PARLANCE_TTS_API_KEY": installationKey,
		"PARLANCE_TTS_VOICE": "ours",
	})
	stack := s.stack(t, ``, `{"stability":0.25,"similarity_boost":9,"voice":"theirs"}`, "en")
	wantSpoken(t, stack, "elevenlabs")
	stack.Close()
	stack.Close()
	wantSpoken(t, s.stack(t, ``, ``, "en"), "elevenlabs")
	got := server.Requests()
	if len(got) != 2 || got[0].Voice != "theirs" || got[0].Stability == nil || *got[0].Stability != 0.25 || got[0].Similarity != nil ||
		got[1].Voice != "ours" || got[1].Stability != nil || got[0].Model != "eleven_flash_v2_5" {
		t.Errorf("got %+v", got)
	}
}

// TestOwnSpeechKeys: a workspace's credentials take the place of the installation's services, for
// its own sessions only. When one fails, no other party gets the user's voice, and whose key it was
// is said without the key.
func TestOwnSpeechKeys(t *testing.T) {
	t.Parallel()
	installed := speechopenai.New(t, installationKey)
	installed.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Text: "Installed."} }
	installed.Speaking.Else = func() speechtest.Spoken {
		return speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(100))}}
	}
	s := newSpeechEnv(t, false, map[string]string{
		"PARLANCE_STT_BASE_URL": installed.BaseURL, "PARLANCE_STT_API_KEY": installationKey, "PARLANCE_STT_NAME": "whisper-ours",
		"PARLANCE_TTS_BASE_URL": installed.BaseURL, "PARLANCE_TTS_API_KEY": installationKey, "PARLANCE_TTS_NAME": "kokoro-ours",
	})
	stranger := s.NewTenant(t, "enterprise")
	own := speechopenai.New(t, ownKey)
	own.Hearing.Add(speechtest.Heard{Text: "Own."})
	own.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Refusal: speechtest.Refusal{Status: 401}} }
	streams := deepgram.New(t, ownKey, speechtest.Heard{Text: "Own stream."})
	voices := elevenlabs.New(t, ownKey, speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(100))}})
	voices.Else = func() speechtest.Spoken { return speechtest.Spoken{Refusal: speechtest.Refusal{Status: 401}} }
	id := s.credential(t, "stt", "openai", own.BaseURL, ownKey)
	s.credential(t, "stt", "deepgram", streams.BaseURL, ownKey)
	s.credential(t, "tts", "elevenlabs", voices.BaseURL, ownKey)

	stack := s.stack(t, ``, ``, "en")
	if stack.TranscriberName != "openai/gpt-4o-mini-transcribe" || stack.SynthesizerName != "openai/kokoro-ours" {
		t.Errorf("%s hears and %s speaks", stack.TranscriberName, stack.SynthesizerName)
	}
	wantHeard(t, stack, "openai", "Own.")
	wantSpoken(t, stack, "openai")
	_, err := hear(t, stack)
	wantFault(t, err, fault.UpstreamFailed, "With the workspace's own credential "+id)
	if strings.Contains(err.Error(), ownKey) || len(installed.Hearing.Requests()) != 0 {
		t.Errorf("the key is in %q, or the installation's transcriber was asked", err)
	}
	chosen := s.stack(t, `{"provider":"deepgram"}`, `{"provider":"elevenlabs"}`, "en")
	if !chosen.Streaming || chosen.SynthesizerName != "elevenlabs/eleven_flash_v2_5" {
		t.Errorf("got %+v", chosen)
	}
	wantHeard(t, chosen, "deepgram", "Own stream.")
	wantSpoken(t, chosen, "elevenlabs")
	chosen.Close()
	again := s.stack(t, ``, `{"provider":"elevenlabs"}`, "en")
	wantSpoken(t, again, offline) // its key is refused now

	elsewhere := workspaces.Ref{TenantID: workspaces.TenantID(stranger.ID), ID: workspaces.ID(stranger.WorkspaceID)}
	theirs, err := s.choose(t, elsewhere, ``, ``, "en")
	if err != nil || theirs.TranscriberName != "openai/whisper-ours" {
		t.Fatalf("%s hears for a stranger, %v", theirs.TranscriberName, err)
	}
	wantHeard(t, theirs, "openai", "Installed.")
	_, err = s.choose(t, elsewhere, `{"provider":"deepgram"}`, ``, "en")
	wantFault(t, err, fault.UpstreamFailed, "not configured")
	s.Do(t, "DELETE", s.Tenant.In("/provider-credentials/"+id), nil).Must(t, 204)
	wantHeard(t, s.stack(t, ``, ``, "en"), "openai", "Installed.")
}

// TestOwnSpeechKeyAlone: in an installation without services, agents that name none use the
// workspace's.
func TestOwnSpeechKeyAlone(t *testing.T) {
	t.Parallel()
	s := newSpeechEnv(t, false, nil)
	streams := deepgram.New(t, ownKey, speechtest.Heard{Text: "Own."})
	s.credential(t, "stt", "deepgram", streams.BaseURL, ownKey)
	stack := s.stack(t, ``, ``, "en")
	wantHeard(t, stack, "deepgram", "Own.")
	if !stack.Streaming || !stack.Punctuated || stack.SynthesizerName != offline {
		t.Errorf("got %+v", stack)
	}
}

// TestSpeechEgress: the services of workspaces are on the public internet, whatever is stored;
// those of the operator need not be.
func TestSpeechEgress(t *testing.T) {
	t.Parallel()
	first := deepgram.New(t, installationKey, speechtest.Heard{Text: "Hello."})
	voices := elevenlabs.New(t, installationKey, speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(100))}})
	s := newSpeechEnv(t, true, map[string]string{
		"PARLANCE_STT_PROVIDER": "deepgram", "PARLANCE_STT_BASE_URL": first.BaseURL, "PARLANCE_STT_API_KEY": installationKey,
		"PARLANCE_TTS_PROVIDER": "elevenlabs", "PARLANCE_TTS_BASE_URL": voices.BaseURL, "PARLANCE_TTS_API_KEY": installationKey,
	})
	stack := s.stack(t, ``, ``, "en")
	wantHeard(t, stack, "deepgram", "Hello.")
	wantSpoken(t, stack, "elevenlabs")

	trap := speechopenai.New(t, ownKey)
	for kind, providers := range map[string][]string{"stt": {"openai", "openai-realtime", "deepgram"}, "tts": {"openai", "elevenlabs"}} {
		for _, provider := range providers {
			checkProblem(t, s.Do(t, "POST", s.Tenant.In("/provider-credentials"), map[string]string{
				"kind": kind, "provider": provider, "base_url": trap.BaseURL, "api_key": ownKey,
			}), 400, "invalid-request")
			s.credential(t, kind, provider, "https://8.8.8.8/v1", ownKey)
		}
	}
	s.Exec(t, "UPDATE provider_credentials SET base_url = $1", trap.BaseURL)
	for _, provider := range []string{"openai", "openai-realtime", "deepgram"} {
		_, err := hear(t, s.stack(t, `{"provider":"`+provider+`"}`, ``, "en"))
		wantFault(t, err, fault.UpstreamFailed, "could not be reached")
	}
	for _, provider := range []string{"openai", "elevenlabs"} {
		wantSpoken(t, s.stack(t, ``, `{"provider":"`+provider+`"}`, "en"), offline)
	}
	if n := len(trap.Hearing.Requests()) + len(trap.Speaking.Requests()); n > 0 {
		t.Errorf("a private server got %d requests", n)
	}
}

// TestSpeechCredentialTests: a call with a stored key says how it went.
func TestSpeechCredentialTests(t *testing.T) {
	t.Parallel()
	s := newSpeechEnv(t, false, nil)
	server := speechopenai.New(t, ownKey)
	server.Hearing.Add(speechtest.Heard{Text: "The boat leaves the harbour at noon."}, speechtest.Heard{})
	server.Speaking.Add(speechtest.Spoken{Pieces: [][]byte{speechtest.Bytes(speechtest.Tone(8000))}},
		speechtest.Spoken{Pieces: [][]byte{make([]byte, 4000)}})
	try := func(id string, ok bool, says string) {
		t.Helper()
		tried := s.Do(t, "POST", s.Tenant.In("/provider-credentials/"+id+"/test"), `{}`).Must(t, 200)
		if tried.At("ok") != ok || !strings.Contains(tried.Text("detail"), says) || strings.Contains(string(tried.Body), ownKey) {
			t.Errorf("got %s, want %q", tried.Body, says)
		}
	}
	hears, speaks := s.credential(t, "stt", "openai", server.BaseURL, ownKey), s.credential(t, "tts", "openai", server.BaseURL, ownKey)
	try(hears, true, "openai answered with the model gpt-4o-mini-transcribe.")
	try(hears, false, "it heard no word")
	try(speaks, true, "openai answered with the model gpt-4o-mini-tts.")
	try(speaks, false, "without a sound")
	wrong := s.credential(t, "tts", "elevenlabs", elevenlabs.New(t, installationKey).BaseURL, ownKey)
	try(wrong, false, "refused the API key")
	if requests := server.Hearing.Requests(); len(requests[0].Samples) < 16000 {
		t.Errorf("it heard %d samples of a sentence", len(requests[0].Samples))
	}
}
