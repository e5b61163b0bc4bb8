package espeak_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/espeak"
)

// synthesizer is the real espeak-ng in a sandbox. On Debian as root it is installed when it is
// missing; elsewhere the test fails with the line to run.
func synthesizer(t testing.TB, cfg espeak.Config) *espeak.Synthesizer {
	t.Helper()
	if err := devstack.InstallTools(t.Context(), devstack.Options{Tools: devstack.SpeechTools(), Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(t.Context(), sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg.Sandbox = box
	s, err := espeak.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// speak returns the samples, and checks the pieces.
func speak(t testing.TB, s speech.Synthesizer, asked speech.Speech) ([]int16, error) {
	t.Helper()
	var samples []int16
	err := s.Speak(t.Context(), asked, func(p speech.Piece) error {
		if len(p.Samples) == 0 || p.Rate != 22050 || p.Provider != s.Name() {
			t.Errorf("a piece of %d samples at %d Hz by %q", len(p.Samples), p.Rate, p.Provider)
		}
		samples = append(samples, p.Samples...)
		return nil
	})
	return samples, err
}

func seconds(samples []int16) float64 { return float64(len(samples)) / 22050 }

// loud is the share of samples that are no silence.
func loud(samples []int16) float64 {
	n := 0
	for _, s := range samples {
		if s > 500 || s < -500 {
			n++
		}
	}
	return float64(n) / float64(max(1, len(samples)))
}

func TestSpeak(t *testing.T) {
	t.Parallel()
	s := synthesizer(t, espeak.Config{})
	const sentence = "The library is open on working days from nine to seven."
	plain, err := speak(t, s, speech.Speech{Text: sentence})
	if err != nil {
		t.Fatal(err)
	}
	if seconds(plain) < 2 || seconds(plain) > 6 || loud(plain) < 0.3 {
		t.Errorf("%.1f s, of which %.0f %% is loud", seconds(plain), 100*loud(plain))
	}
	for name, row := range map[string]struct {
		speech   speech.Speech
		min, max float64 // of the plain one's length
	}{
		"fast":                         {speech.Speech{Text: sentence, Speed: 2}, 0.3, 0.7},
		"slow":                         {speech.Speech{Text: sentence, Speed: 0.6}, 1.3, 2},
		"slower than it can":           {speech.Speech{Text: sentence, Speed: 0.01}, 1.5, 3},
		"another service's voice":      {speech.Speech{Text: sentence, Voice: "alloy"}, 1, 1},
		"a voice":                      {speech.Speech{Text: sentence, Voice: "en-gb+f3", Language: "de"}, 0.7, 1.4},
		"no option of the program":     {speech.Speech{Text: "--version"}, 0.1, 1},
		"no phonemes":                  {speech.Speech{Text: "[[h@loU]] [[h@loU]] [[h@loU]]"}, 0.5, 9},
		"no voice that is an argument": {speech.Speech{Text: sentence, Voice: "-f/etc/passwd"}, 1, 1},
		"other scripts":                {speech.Speech{Text: "Zürich — „ja“ 😀", Language: "de-CH"}, 0.1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := speak(t, s, row.speech)
			if err != nil {
				t.Fatal(err)
			}
			if ratio := seconds(got) / seconds(plain); ratio < row.min || ratio > row.max {
				t.Errorf("%.2f of the plain sentence's length", ratio)
			}
		})
	}
}

// TestLanguages: each language has a voice of its own, and one that it does not have is refused.
func TestLanguages(t *testing.T) {
	t.Parallel()
	s := synthesizer(t, espeak.Config{Variant: "f3"})
	languages := s.Languages()
	for _, language := range []string{"de", "en", "en-gb", "es", "fr", "no", "pt-br", "zh"} {
		if !slices.Contains(languages, language) {
			t.Errorf("%s is not listed", language)
		}
	}
	texts := map[string]string{}
	for _, language := range []string{"de-AT", "en", "en-US", "fr", "it", "no", "pt-BR", "zh-Hans-CN"} {
		samples, err := speak(t, s, speech.Speech{Text: "Parlance 2026", Language: language})
		if err != nil {
			t.Errorf("%q: %v", language, err)
		}
		var key strings.Builder
		for _, sample := range samples[:min(len(samples), 22050)] {
			key.WriteRune(rune(sample) & 0xfff)
		}
		if other, taken := texts[key.String()]; taken {
			t.Errorf("%q sounds like %q", language, other)
		}
		texts[key.String()] = language
	}
	for language, best := range map[string]string{"en": "en-gb", "pt": "pt", "zh-CN": "cmn", "nb-NO": "nb"} {
		got, err := speak(t, s, speech.Speech{Text: "Parlance 2026", Language: language})
		want, wantErr := speak(t, s, speech.Speech{Text: "Parlance 2026", Voice: best + "+f3"})
		if err != nil || wantErr != nil || !slices.Equal(got, want) {
			t.Errorf("%s is not spoken by %s: %v, %v", language, best, err, wantErr)
		}
	}
	for variant, best := range map[string]string{"": "en-us", "m3": "en-us+m3"} {
		got, err := speak(t, s.WithVariant(variant), speech.Speech{Text: "Parlance 2026"})
		want, wantErr := speak(t, s, speech.Speech{Text: "Parlance 2026", Voice: best})
		if err != nil || wantErr != nil || !slices.Equal(got, want) {
			t.Errorf("without a language %s does not speak: %v, %v", best, err, wantErr)
		}
	}
	for _, language := range []string{"de", "en-gb", "fr", "pt-br"} {
		plain, err := speak(t, s.WithVariant(""), speech.Speech{Text: "Parlance 2026", Language: language})
		varied, variedErr := speak(t, s, speech.Speech{Text: "Parlance 2026", Language: language})
		if err != nil || variedErr != nil || slices.Equal(plain, varied) {
			t.Errorf("the variant changes nothing in %s: %v, %v", language, err, variedErr)
		}
	}
	_, err := speak(t, s, speech.Speech{Text: "Hello.", Language: "tlh"})
	if f := fault.From(err); f.Reason != fault.UpstreamFailed || !strings.Contains(f.Message, `no voice for the language "tlh"`) {
		t.Errorf("error %v", err)
	}
}

func TestNothingToSay(t *testing.T) {
	t.Parallel()
	if samples, err := speak(t, synthesizer(t, espeak.Config{}), speech.Speech{Text: " \n"}); err != nil || len(samples) > 0 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
}

func TestListenerStops(t *testing.T) {
	t.Parallel()
	s := synthesizer(t, espeak.Config{})
	enough, pieces := errors.New("enough"), 0
	err := s.Speak(t.Context(), speech.Speech{Text: "One two three four five six."}, func(speech.Piece) error {
		pieces++
		return enough
	})
	if !errors.Is(err, enough) || pieces != 1 {
		t.Errorf("%v after %d pieces", err, pieces)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Speak(ctx, speech.Speech{Text: "One."}, func(speech.Piece) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	s := synthesizer(t, espeak.Config{})
	if _, err := speak(t, s, speech.Speech{Text: strings.Repeat("word ", 4000)}); !fault.IsReason(err, fault.UpstreamFailed) {
		t.Errorf("a text of 20 kB: %v", err)
	}
	box, err := sandbox.New(t.Context(), sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, voice := range []string{"alloy", "de+", "de+../x"} {
		if _, err := espeak.New(t.Context(), espeak.Config{Sandbox: box, Voice: voice}); err == nil {
			t.Errorf("the voice %q was taken", voice)
		}
	}
}

// BenchmarkSpeak: a sentence of eleven words, sandbox included.
func BenchmarkSpeak(b *testing.B) {
	s := synthesizer(b, espeak.Config{})
	for b.Loop() {
		if _, err := speak(b, s, speech.Speech{Text: "The library is open on working days from nine to seven."}); err != nil {
			b.Fatal(err)
		}
	}
}
