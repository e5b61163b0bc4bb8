package recogniser_test

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance.dev/parlance/provider/speech"
	"parlance.dev/parlance/provider/speech/openai"
	"parlance.dev/parlance/test/recogniser"
	"parlance.dev/parlance/test/voices"
)

var questions = []string{
	"What are your opening hours on Sunday?", "How much is the delivery to Norway?", "Where can I find the serial number?",
	"Does the price include breakfast?", "Can I return it after thirty days?", "Which documents do I need to open an account?",
	"Do you have this jacket in blue?", "How long does the battery of the small model last?", "Is there a parking space near the hotel?",
	"My washing machine does not drain any more.", "Could you move my appointment to Thursday afternoon?",
	"I ordered a lamp last week, and it has not arrived.", "Please send me the invoice for March.",
	"I was charged twice for the same order.", "What is the name of the lighthouse keeper's cat?",
	"When was the lamp of Brevik first lit?", "Who takes care of the garden?", "What happens when I lose my key?",
	"Tell me more about the second option.", "May I bring a dog?",
}

// transcriber is the product's own client of the wire.
func transcriber(t *testing.T, url string) *openai.Transcriber {
	t.Helper()
	made, err := openai.NewTranscriber(openai.Config{
		BaseURL: url, Model: "whisper-1", Client: &http.Client{}, Timeouts: speech.Timeouts{Transcript: 5 * time.Minute}, // a busy machine
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func hear(t *testing.T, client *openai.Transcriber, samples []int16) speech.Transcript {
	t.Helper()
	heard, err := client.Transcribe(t.Context(), speech.Utterance{Samples: samples, Options: speech.Options{Language: "en-US"}})
	if err != nil {
		t.Error(err)
	}
	return heard
}

// TestWordErrors: with its sentences a recogniser understands three voices of flite and one of
// espeak-ng, also in noise, and gives the text as it is written.
func TestWordErrors(t *testing.T) {
	t.Parallel()
	client := transcriber(t, recogniser.Start(t, questions...).URL)
	speakers := [][2]string{{"flite", "slt"}, {"flite", "rms"}, {"flite", "awb"}, {"espeak-ng", "en-us"}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	errors, words := map[string]int{}, 0
	for i, question := range questions {
		wg.Go(func() {
			by := speakers[i%len(speakers)]
			clean := voices.Say(t, by[0], by[1], question, speech.HearingRate)
			for kind, samples := range map[string][]int16{"clean": clean, "noise": voices.WithNoise(clean, 20, uint64(i))} {
				heard := hear(t, client, samples).Text
				mu.Lock()
				if heard != question {
					t.Logf("%s, %s: %q was heard as %q", by[1], kind, question, heard)
				}
				errors[kind] += distance(strings.Fields(heard), strings.Fields(question))
				mu.Unlock()
			}
			mu.Lock()
			words += len(strings.Fields(question))
			mu.Unlock()
		})
	}
	wg.Wait()
	for _, kind := range []string{"clean", "noise"} {
		rate := 100 * float64(errors[kind]) / float64(words)
		t.Logf("%s: %d word errors in %d words, %.1f %%", kind, errors[kind], words, rate)
		if rate > 10 {
			t.Errorf("%s: %.1f %% word errors, at most 10", kind, rate)
		}
	}
}

// distance is how many words must be put in, taken out or replaced.
func distance(got, want []string) int {
	row := make([]int, len(want)+1)
	for j := range row {
		row[j] = j
	}
	for i, g := range got {
		diagonal := row[0]
		row[0] = i + 1
		for j, w := range want {
			cost := 1
			if g == w {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(want)]
}

// TestPartsOfSentences: somebody who pauses or is cut off says consecutive words of a sentence.
func TestPartsOfSentences(t *testing.T) {
	t.Parallel()
	client := transcriber(t, recogniser.Start(t, questions...).URL)
	for _, part := range []string{"What are your", "opening hours on Sunday?", "My washing machine", "the lighthouse keeper's cat?"} {
		if heard := hear(t, client, voices.Say(t, "flite", "rms", part, speech.HearingRate)).Text; heard != part {
			t.Errorf("%q was heard as %q", part, heard)
		}
	}
}

// TestWordTimes: words come in order, within the utterance.
func TestWordTimes(t *testing.T) {
	t.Parallel()
	client := transcriber(t, recogniser.Start(t, questions...).URL)
	samples := voices.Say(t, "flite", "slt", questions[0], speech.HearingRate)
	heard := hear(t, client, samples)
	var all []string
	at := 0
	for _, word := range heard.Words {
		if word.StartMS < at || word.EndMS <= word.StartMS || word.EndMS > len(samples)*1000/speech.HearingRate+50 {
			t.Errorf("%q from %d to %d ms", word.Text, word.StartMS, word.EndMS)
		}
		at, all = word.EndMS, append(all, word.Text)
	}
	if got := strings.Join(all, " "); got != strings.TrimRight(questions[0], "?") || heard.Language != "en" {
		t.Errorf("words %q in %q", got, heard.Language)
	}
}

// TestUnknownWords: words that no dictionary has are pronounced by flite, and numbers too.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	sentences := []string{"Is Parlance a Xylomatic?", "It takes 30 days – at most.", "Yes!"}
	client := transcriber(t, recogniser.Start(t, sentences...).URL)
	for _, sentence := range sentences {
		if heard := hear(t, client, voices.Say(t, "flite", "slt", sentence, speech.HearingRate)).Text; heard != sentence {
			t.Errorf("%q was heard as %q", sentence, heard)
		}
	}
}

// TestNobodySpeaks: silence and noise have no words, with sentences and without.
func TestNobodySpeaks(t *testing.T) {
	t.Parallel()
	silence := make([]int16, 2*speech.HearingRate)
	noise := voices.AtLevel(voices.PinkNoise(rand.New(rand.NewPCG(1, 0)), len(silence)), -35)
	for _, sentences := range [][]string{questions, nil} {
		client := transcriber(t, recogniser.Start(t, sentences...).URL)
		for name, samples := range map[string][]int16{"silence": silence, "noise": noise} {
			if heard := hear(t, client, samples); heard.Text != "" {
				t.Errorf("%d sentences, %s: %q", len(sentences), name, heard.Text)
			}
		}
	}
}

// TestGeneralModel: without sentences most words of flite are understood.
func TestGeneralModel(t *testing.T) {
	t.Parallel()
	client := transcriber(t, recogniser.Start(t).URL)
	wrong, words := 0, 0
	for _, question := range questions[:6] {
		heard := hear(t, client, voices.Say(t, "flite", "rms", question, speech.HearingRate)).Text
		want := strings.Fields(strings.ToLower(strings.Trim(question, "?.")))
		wrong, words = wrong+distance(strings.Fields(strings.ToLower(heard)), want), words+len(want)
	}
	t.Logf("%d of %d", wrong, words)
	if wrong*4 > words {
		t.Errorf("%d word errors in %d words", wrong, words)
	}
}
