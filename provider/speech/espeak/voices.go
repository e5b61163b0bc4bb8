package espeak

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

// Voice is one of espeak-ng's voices. There is one for each language; variants ("+f3") change its
// pitch and timbre.
type Voice struct {
	// ID is what Speech.Voice takes: the language as espeak-ng writes it, e.g. "en-gb".
	ID string
	// Description is the program's own, e.g. "English (Great Britain)".
	Description string

	// file is that of the voice, below the program's data.
	file string
	// serves are the languages of the voice, with its rank among their voices. Lower is better.
	serves map[string]int
}

// Voices are those that are installed.
func (s *Synthesizer) Voices() []Voice { return slices.Clone(s.voices) }

// Languages are the BCP 47 tags that can be spoken, in order.
func (s *Synthesizer) Languages() []string {
	var languages []string
	for _, v := range s.voices {
		for language := range v.serves {
			languages = append(languages, language)
		}
	}
	slices.Sort(languages)
	return slices.Compact(languages)
}

var (
	voicePattern   = regexp.MustCompile(`^ *(\d+) +([a-zA-Z0-9-]+) +\S+ +(\S+) +(\S+)`)
	alsoPattern    = regexp.MustCompile(`\(([a-zA-Z0-9-]+) (\d+)\)`)
	variantPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// parseVoices reads the table of espeak-ng --voices: rank, language, age and gender, name, file,
// and "(en 2)" for other languages that the voice serves, each with its rank.
func parseVoices(table string) []Voice {
	var voices []Voice
	for line := range strings.Lines(table) {
		found := voicePattern.FindStringSubmatch(line)
		if found == nil {
			continue // the heading
		}
		id := strings.ToLower(found[2])
		if slices.ContainsFunc(voices, func(v Voice) bool { return v.ID == id }) {
			continue // another spelling of the same language
		}
		rank, _ := strconv.Atoi(found[1]) // digits
		voice := Voice{ID: id, Description: strings.ReplaceAll(found[3], "_", " "), file: found[4], serves: map[string]int{id: rank}}
		for _, also := range alsoPattern.FindAllStringSubmatch(line, -1) {
			voice.serves[strings.ToLower(also[1])], _ = strconv.Atoi(also[2])
		}
		voices = append(voices, voice)
	}
	return voices
}

// isVoice reports whether the program has a voice. Its variant is not looked at: the program falls
// back to the voice itself.
func (s *Synthesizer) isVoice(name string) bool {
	id, variant, varied := strings.Cut(name, "+")
	if varied && !variantPattern.MatchString(variant) {
		return false
	}
	return slices.ContainsFunc(s.voices, func(v Voice) bool { return v.ID == id })
}

// voiceFor is the voice of a speech: its own, that of its language, or the configured one.
func (s *Synthesizer) voiceFor(asked speech.Speech) (string, error) {
	if asked.Voice != "" && s.isVoice(asked.Voice) {
		return asked.Voice, nil
	}
	if asked.Language == "" {
		return s.varied(s.config.Voice), nil
	}
	for language := strings.ToLower(asked.Language); language != ""; {
		if voice := s.bestFor(language); voice != "" {
			return s.varied(voice), nil
		}
		language = language[:max(0, strings.LastIndexByte(language, '-'))]
	}
	return "", fault.New(fault.UpstreamFailed, "%s has no voice for the language %q.", s.Name(), asked.Language)
}

// varied adds the configured variant to a voice that has none.
func (s *Synthesizer) varied(voice string) string {
	if s.config.Variant == "" || strings.Contains(voice, "+") {
		return voice
	}
	return voice + "+" + s.config.Variant
}

// argument is a voice as the program takes it. It ignores the variant of a language whose file has
// another name (en-gb), but not that of a file (gmw/en).
func (s *Synthesizer) argument(voice string) string {
	id, variant, varied := strings.Cut(voice, "+")
	at := slices.IndexFunc(s.voices, func(v Voice) bool { return v.ID == id })
	if !varied || at < 0 {
		return voice
	}
	return s.voices[at].file + "+" + variant
}

// bestFor is the voice of the best rank for exactly this language; empty when there is none.
func (s *Synthesizer) bestFor(language string) string {
	best, bestRank := "", 0
	for _, v := range s.voices {
		if rank, serves := v.serves[language]; serves && (best == "" || rank < bestRank) {
			best, bestRank = v.ID, rank
		}
	}
	return best
}
