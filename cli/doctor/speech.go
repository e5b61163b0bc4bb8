package doctor

import (
	"context"
	"strings"
	"time"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/provider/speech"
)

// slowSpeech is a delay that people take for a broken connection.
const slowSpeech = 3 * time.Second

// checkSpeech has each synthesizer speak a sentence, and each transcriber hear it.
func checkSpeech(ctx context.Context, d Deps, r *report) {
	parts, done, err := app.InspectSpeech(ctx, d.Config)
	if err != nil {
		r.fail("settings", "Correct PARLANCE_STT_* and PARLANCE_TTS_*.", "%v", err)
		return
	}
	defer func() { _ = done() }() // a directory that is left is removed by the next start
	var sentence []int16
	hears, speaks := false, false
	for _, part := range parts {
		if part.Transcriber != nil {
			hears = true
			continue
		}
		speaks = true
		if spoken := checkSynthesizer(ctx, d, r, part); spoken != nil {
			sentence = spoken
		}
	}
	for _, part := range parts {
		if part.Transcriber != nil {
			checkTranscriber(ctx, d, r, part, sentence)
		}
	}
	if !hears {
		r.skip("hear", "not configured: voice sessions take text")
	}
	if !speaks {
		r.skip("speak", "not configured: voice sessions answer with text")
	}
}

// checkSynthesizer returns the samples of the sentence; nil when there are none.
func checkSynthesizer(ctx context.Context, d Deps, r *report, part app.SpeechPart) []int16 {
	check := "speak" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(part.Setting, "PARLANCE_TTS"), "_", "-"))
	if part.Synthesizer == nil {
		r.warn(check, "Where a server runs: apt-get install espeak-ng bubblewrap, or the image's target full. Or set "+
			"PARLANCE_TTS_OFFLINE=off.", "%s cannot speak when no other synthesizer does: %v", part.Name, part.Err)
		return nil
	}
	spoken, err := speech.ProbeSynthesizer(ctx, part.Synthesizer, speech.Speech{Language: "en"}, d.Now)
	switch {
	case err != nil:
		r.fail(check, "See that "+part.Setting+"_BASE_URL, _API_KEY, _NAME, _VOICE and _PROVIDER are right and the server runs.",
			"%s: %v", part.Name, err)
		return nil
	case spoken.FirstAudio > slowSpeech:
		r.warn(check, "Give the server more, or take a smaller model: people wait for each sentence.",
			"%s began to speak after %s", part.Name, spoken.FirstAudio.Round(time.Millisecond))
	default:
		r.ok(check, "%s spoke %.1f s of sound, the first after %s", part.Name, spoken.Seconds(), spoken.FirstAudio.Round(time.Millisecond))
	}
	return spoken.Samples
}

func checkTranscriber(ctx context.Context, d Deps, r *report, part app.SpeechPart, sentence []int16) {
	check := "hear" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(part.Setting, "PARLANCE_STT"), "_", "-"))
	heard, took, err := speech.ProbeTranscriber(ctx, part.Transcriber, sentence, d.Now)
	switch {
	case err != nil:
		r.fail(check, "See that "+part.Setting+"_BASE_URL, _API_KEY, _NAME and _PROVIDER are right and the server runs.",
			"%s: %v", part.Name, err)
	case took > slowSpeech:
		r.warn(check, "Give the server more, or take a smaller model: people wait for it after each sentence.",
			"%s heard a sentence in %s", part.Name, took.Round(time.Millisecond))
	case len(sentence) == 0:
		r.ok(check, "%s answered in %s; nothing spoke a sentence for it to hear", part.Name, took.Round(time.Millisecond))
	default:
		r.ok(check, "%s heard %q in %s", part.Name, heard.Text, took.Round(time.Millisecond))
	}
}
