package openai_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/openai"
	"parlance.dev/parlance/provider/speech/speechtest"
	"parlance.dev/parlance/test/fake/speechopenai"
)

// whisper is a model that the fake writes verbose_json for.
const whisper = "whisper-1"

func TestTranscriberConformance(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]speechopenai.Form{"OpenAI": speechopenai.FormOpenAI, "WhisperCPP": speechopenai.FormWhisperCPP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := func(t *testing.T, s speechtest.HearingSetup) (speech.StreamTranscriber, *speechtest.HearingScript) {
				fake := speechopenai.New(t, speechtest.Key)
				fake.Form = form
				fake.Hearing.Add(s.Replies...)
				return speech.Whole(transcriber(t, openai.Config{
					BaseURL: cmp.Or(s.BaseURL, fake.BaseURL), APIKey: s.APIKey, Model: whisper, Timeouts: s.Timeouts,
				})), fake.Hearing
			}
			speechtest.RunTranscriber(t, speechtest.HearingTraits{NoSpeech: true}, start)
		})
	}
}

func TestSynthesizerConformance(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, s speechtest.SpeakingSetup) (speech.Synthesizer, *speechtest.SpeakingScript) {
		fake := speechopenai.New(t, speechtest.Key)
		fake.Speaking.Add(s.Replies...)
		return synthesizer(t, openai.Config{
			BaseURL: cmp.Or(s.BaseURL, fake.BaseURL), APIKey: s.APIKey, Timeouts: s.Timeouts,
		}), fake.Speaking
	}
	speechtest.RunSynthesizer(t, speechtest.SpeakingTraits{Instructions: true, Rate: 24000}, start)
}

func transcriber(t *testing.T, cfg openai.Config) *openai.Transcriber {
	t.Helper()
	cfg.Client = &http.Client{}
	tr, err := openai.NewTranscriber(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func synthesizer(t *testing.T, cfg openai.Config) *openai.Synthesizer {
	t.Helper()
	cfg.Client = &http.Client{}
	y, err := openai.NewSynthesizer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestResponseFormat: a server that refuses verbose_json is asked for it once; OpenAI's gpt- models
// never are.
func TestResponseFormat(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		model string
		want  []string // of the requests for two utterances
	}{
		{"local-model", []string{"verbose_json", "json", "json"}},
		{"", []string{"json", "json"}},
		{whisper, []string{"verbose_json", "verbose_json"}},
	} {
		fake := speechopenai.New(t, speechtest.Key)
		if row.model == "local-model" {
			fake.Form = speechopenai.FormPlain
		}
		fake.Hearing.Else = func() speechtest.Heard { return speechtest.Heard{Text: "Hello."} }
		tr := transcriber(t, openai.Config{BaseURL: fake.BaseURL, APIKey: speechtest.Key, Model: row.model})
		var got []string
		for range 2 {
			heard, err := tr.Transcribe(t.Context(), speech.Utterance{Samples: speechtest.Tone(1000)})
			if err != nil || heard.Text != "Hello." {
				t.Fatalf("%q: %q, %v", row.model, heard.Text, err)
			}
		}
		for _, request := range fake.Hearing.Requests() {
			got = append(got, request.Values["response_format"]...)
		}
		if diff := gocmp.Diff(got, row.want); diff != "" {
			t.Errorf("%q: %s", row.model, diff)
		}
	}
}

// TestLanguageNames: names and tags of languages become tags.
func TestLanguageNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"german": "de", "DE": "de", "haitian creole": "ht", "yue": "yue", "klingon": "", "": ""} {
		fake := speechopenai.New(t, speechtest.Key)
		fake.Hearing.Add(speechtest.Heard{Text: "Hello.", Language: name})
		heard, err := transcriber(t, openai.Config{BaseURL: fake.BaseURL, APIKey: speechtest.Key, Model: whisper}).
			Transcribe(t.Context(), speech.Utterance{Samples: speechtest.Tone(1000)})
		if err != nil || heard.Language != want {
			t.Errorf("%q became %q, %v", name, heard.Language, err)
		}
	}
}

// TestForms: the forms of audio that servers send.
func TestForms(t *testing.T) {
	t.Parallel()
	samples := speechtest.Tone(1000)
	bare := speechtest.Bytes(samples)
	both := speechtest.Bytes(audio.AppendInterleaved(nil, samples, samples))
	header := "RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x22\x56\x00\x00\x44\xac\x00\x00\x02\x00\x10\x00" +
		"data\xff\xff\xff\xff"
	stereo := []byte(strings.Replace(header, "\x01\x00\x01\x00", "\x01\x00\x02\x00", 1))
	for _, row := range []struct {
		name, contentType string
		pieces            [][]byte
		rate              int // 0: refused
	}{
		{"bare", "audio/pcm", [][]byte{bare}, 24000},
		{"bare, with a rate", "audio/L16; rate=16000; channels=1", [][]byte{bare}, 16000},
		{"bare, of no type", "application/octet-stream", [][]byte{bare}, 24000},
		{"WAV of unknown length", "audio/wav", [][]byte{[]byte(header[:20]), append([]byte(header[20:]), bare...)}, 22050},
		{"WAV with two channels", "audio/wav", [][]byte{stereo, both[:5], both[5:]}, 22050},
		{"WAV called PCM", "audio/pcm", [][]byte{append([]byte(header), bare...)}, 22050},
		{"MP3", "audio/mpeg", [][]byte{bare}, 0},
		{"MP3 called PCM", "audio/pcm", [][]byte{append([]byte("ID3\x04"), bare...)}, 0},
		{"nothing", "audio/pcm", nil, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			fake := speechopenai.New(t, speechtest.Key)
			fake.Speaking.Add(speechtest.Spoken{Pieces: row.pieces, ContentType: row.contentType})
			var got []int16
			rate := 0
			err := synthesizer(t, openai.Config{BaseURL: fake.BaseURL, APIKey: speechtest.Key}).
				Speak(t.Context(), speech.Speech{Text: "Hello."}, func(p speech.Piece) error {
					got, rate = append(got, p.Samples...), p.Rate
					return nil
				})
			if (err != nil) != (row.rate == 0) || rate != row.rate {
				t.Fatalf("%d Hz, %v", rate, err)
			}
			if diff := gocmp.Diff(got, samples); row.rate != 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSpeed: it is left out when it is the voice's own, and brought into OpenAI's range.
func TestSpeed(t *testing.T) {
	t.Parallel()
	fake := speechopenai.New(t, speechtest.Key)
	fake.Speaking.Else = func() speechtest.Spoken { return speechtest.Spoken{Pieces: [][]byte{{1, 2, 3, 4}}} }
	y := synthesizer(t, openai.Config{BaseURL: fake.BaseURL, APIKey: speechtest.Key})
	var got []float64
	for _, speed := range []float64{0, 1, 0.1, 9, 1.5} {
		if err := y.Speak(t.Context(), speech.Speech{Text: "Hello.", Speed: speed}, func(speech.Piece) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, request := range fake.Speaking.Requests() {
		got = append(got, request.Speed)
		if request.Voice != openai.DefaultVoice {
			t.Errorf("voice %q", request.Voice)
		}
	}
	if diff := gocmp.Diff(got, []float64{0, 0, 0.25, 4, 1.5}); diff != "" {
		t.Error(diff)
	}
}
