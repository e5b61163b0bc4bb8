package recogniser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/test/voices"
)

const (
	// rateHz is that of the model.
	rateHz = 16_000
	// framesPerSecond is how the decoder counts time.
	framesPerSecond = 100
	// padding is silence around an utterance. The decoder estimates the noise at its beginning.
	padding = rateHz * 3 / 10

	// roomDB is how far below an utterance noise is mixed to it. The model knows recordings of
	// microphones; without the noise it understands little of espeak-ng.
	roomDB = 25

	// modelDir is where the packages have the model.
	modelDir       = "/usr/share/pocketsphinx/model/en-us"
	dictionaryFile = "cmudict-en-us.dict"
)

// Recogniser recognises utterances, several at a time, each in a process of its own. It is safe for
// concurrent use.
type Recogniser struct {
	folder string
	// phrases is nil with the general model, whose arguments model has.
	phrases *phrases
	model   []string
	// busy has room for the processes that may run at once.
	busy chan struct{}
}

// New prepares a recogniser of sentences, or of anything without them. It installs Pocketsphinx on
// Debian and Ubuntu as root; elsewhere the error has the line that installs it. Close removes its
// files.
func New(ctx context.Context, sentences ...string) (*Recogniser, error) {
	err := devstack.InstallTools(ctx, devstack.Options{Tools: []devstack.Tool{
		{Command: "pocketsphinx_batch", Apt: "pocketsphinx", Brew: "cmu-pocketsphinx"},
		{Command: filepath.Join(modelDir, dictionaryFile), Apt: "pocketsphinx-en-us", Brew: "cmu-pocketsphinx"},
		{Command: "flite", Apt: "flite", Brew: "flite"},
	}})
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "recogniser")
	if err != nil {
		return nil, err
	}
	r := &Recogniser{folder: folder, busy: make(chan struct{}, runtime.GOMAXPROCS(0))}
	if err := r.prepare(ctx, sentences); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close removes the recogniser's files. No utterance is being recognised.
func (r *Recogniser) Close() error { return os.RemoveAll(r.folder) }

// prepare writes the grammar and the dictionary.
func (r *Recogniser) prepare(ctx context.Context, sentences []string) error {
	dictionary := filepath.Join(modelDir, dictionaryFile)
	language := []string{"-lm", filepath.Join(modelDir, "en-us.lm.bin")}
	if len(sentences) > 0 {
		known, err := newPhrases(sentences)
		if err != nil {
			return err
		}
		pronounced, err := known.dictionary(ctx, modelDir)
		if err != nil {
			return err
		}
		dictionary = filepath.Join(r.folder, "phrases.dict")
		grammar := filepath.Join(r.folder, "phrases.gram")
		err = errors.Join(os.WriteFile(dictionary, []byte(pronounced), 0o600), os.WriteFile(grammar, []byte(known.grammar()), 0o600))
		if err != nil {
			return err
		}
		r.phrases = known
		// With the default beams a short first word can be lost, and the sentence with it.
		language = []string{"-jsgf", grammar, "-beam", "1e-80", "-pbeam", "1e-80", "-wbeam", "1e-60"}
	}
	r.model = append([]string{"-hmm", filepath.Join(modelDir, "en-us"), "-dict", dictionary}, language...)
	return nil
}

// Word is a word of an utterance.
type Word struct {
	// Text is the word as it is written, with its punctuation.
	Text string
	// From and To are in seconds from the beginning of the utterance.
	From, To float64
}

// Recognise returns the words of mono samples at 16 kHz.
func (r *Recogniser) Recognise(ctx context.Context, samples []int16) ([]Word, error) {
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	folder, err := os.MkdirTemp(r.folder, "utterance")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // Close removes what is left
	padded := make([]int16, padding+len(samples)+padding)
	copy(padded[padding:], samples)
	padded = voices.WithNoise(padded, roomDB, 1)
	sound := audio.Format{Encoding: audio.PCM16, RateHz: rateHz}.AppendEncode(nil, padded)
	err = errors.Join(os.WriteFile(filepath.Join(folder, "utterance.raw"), sound, 0o600),
		os.WriteFile(filepath.Join(folder, "list"), []byte("utterance\n"), 0o600))
	if err != nil {
		return nil, err
	}
	segments := filepath.Join(folder, "segments")
	arguments := append([]string{
		"-ctl", filepath.Join(folder, "list"), "-cepdir", folder, "-cepext", ".raw", "-adcin", "yes", "-hypseg", segments,
		"-remove_silence", "no", // it would shift the times of words
	}, r.model...)
	if out, err := exec.CommandContext(ctx, "pocketsphinx_batch", arguments...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pocketsphinx_batch: %w\n%s", err, tail(string(out)))
	}
	line, err := os.ReadFile(segments)
	if err != nil {
		return nil, err
	}
	words, err := parseSegments(string(line))
	if err == nil && r.phrases != nil {
		r.write(words)
	}
	return words, err
}

// write replaces the ids of words.
func (r *Recogniser) write(words []Word) {
	ids := make([]string, len(words))
	for i, word := range words {
		ids[i] = word.Text
	}
	for i, written := range r.phrases.restore(ids) {
		words[i].Text = written
	}
}

// parseSegments reads "utterance S 0 T -3177 A -2503 L -674", then the first frame, two scores and
// the name of each word, and the number of frames. Silence and noise have names in brackets; a word
// has the number of its pronunciation behind it when it is not the first.
func parseSegments(line string) ([]Word, error) {
	const before, perWord = 9, 4
	fields := strings.Fields(line)
	if len(fields) < before {
		return nil, fmt.Errorf("pocketsphinx_batch wrote %q", line)
	}
	fields = fields[before:]
	var words []Word
	for ; len(fields) > perWord; fields = fields[perWord:] {
		first, err := strconv.Atoi(fields[0])
		next, err2 := strconv.Atoi(fields[perWord])
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("pocketsphinx_batch wrote %q: %w", line, err)
		}
		name, _, _ := strings.Cut(fields[perWord-1], "(")
		if name == "" || strings.HasPrefix(name, "<") || strings.HasPrefix(name, "[") || strings.HasPrefix(name, "++") {
			continue
		}
		words = append(words, Word{Text: name, From: seconds(first), To: seconds(next)})
	}
	return words, nil
}

// seconds is the time of a frame, without the padding.
func seconds(frame int) float64 {
	return max(float64(frame)/framesPerSecond-float64(padding)/rateHz, 0)
}

// tail is the end of a log.
func tail(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
