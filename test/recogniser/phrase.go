package recogniser

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
)

// phrases are the sentences that a recogniser knows.
type phrases struct {
	sentences []sentence
	// ids are the names of words in the grammar and in the dictionary.
	ids map[string]string
}

// sentence is one of them: its words as they are written, and their ids.
type sentence struct {
	written, ids []string
}

// newPhrases cuts sentences into words.
func newPhrases(texts []string) (*phrases, error) {
	p := &phrases{ids: map[string]string{}}
	for _, text := range texts {
		var s sentence
		for _, written := range strings.Fields(text) {
			word := plain(written)
			switch {
			case word == "" && len(s.written) > 0:
				s.written[len(s.written)-1] += " " + written // a dash
			case word != "":
				if p.ids[word] == "" {
					p.ids[word] = fmt.Sprintf("w%d", len(p.ids))
				}
				s.written, s.ids = append(s.written, written), append(s.ids, p.ids[word])
			}
		}
		if len(s.ids) == 0 {
			return nil, fmt.Errorf("there is no word in %q", text)
		}
		p.sentences = append(p.sentences, s)
	}
	return p, nil
}

// plain is a word as dictionaries have it: in lower case, without punctuation at its ends.
func plain(written string) string {
	return strings.ToLower(strings.TrimFunc(written, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }))
}

// grammar accepts each sentence, and consecutive words of one: a [b [c]] | b [c] | c. Its length is
// that of the sentences squared. Source: JSpeech Grammar Format, W3C Note, 2000.
func (p *phrases) grammar() string {
	var all []string
	for _, s := range p.sentences {
		for first := range s.ids {
			nested := ""
			for i := len(s.ids) - 1; i >= first; i-- {
				if nested != "" {
					nested = " [" + nested + "]"
				}
				nested = s.ids[i] + nested
			}
			all = append(all, nested)
		}
	}
	return "#JSGF V1.0;\ngrammar phrases;\npublic <phrase> =\n  " + strings.Join(all, "\n| ") + ";\n"
}

// restore is how consecutive words of a sentence are written; whole sentences are looked for first.
func (p *phrases) restore(ids []string) []string {
	for _, whole := range []bool{true, false} {
		for _, s := range p.sentences {
			for first := 0; first+len(ids) <= len(s.ids); first++ {
				if !whole || len(ids) == len(s.ids) {
					if strings.Join(s.ids[first:first+len(ids)], " ") == strings.Join(ids, " ") {
						return s.written[first : first+len(ids)]
					}
				}
			}
		}
	}
	return ids // the grammar accepts nothing else
}

// dictionary says how the words are pronounced: as in the dictionary of the model, and otherwise as
// flite says them.
func (p *phrases) dictionary(ctx context.Context, model string) (string, error) {
	known, err := pronunciations(filepath.Join(model, dictionaryFile), p.ids)
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for word, id := range p.ids {
		phones := known[word]
		if len(phones) == 0 {
			guess, err := guessPhones(ctx, word)
			if err != nil {
				return "", err
			}
			phones = []string{guess}
		}
		for i, one := range phones {
			variant := id
			if i > 0 {
				variant = fmt.Sprintf("%s(%d)", id, i+1)
			}
			fmt.Fprintf(&lines, "%s %s\n", variant, one)
		}
	}
	return lines.String(), nil
}

// pronunciations are those of the wanted words in a file. Its lines are "word phones" and
// "word(2) phones".
func pronunciations[T any](file string, wanted map[string]T) (map[string][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	found := map[string][]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		word, phones, _ := strings.Cut(lines.Text(), " ")
		word, _, _ = strings.Cut(word, "(")
		if _, ok := wanted[word]; ok {
			found[word] = append(found[word], phones)
		}
	}
	return found, lines.Err()
}

// guessPhones asks flite, whose phones are those of the dictionary but for one vowel.
func guessPhones(ctx context.Context, word string) (string, error) {
	out, err := exec.CommandContext(ctx, "flite", "-t", word, "-ps", "-o", "none").Output()
	if err != nil {
		return "", fmt.Errorf("ask flite how %q is pronounced: %w", word, err)
	}
	var phones []string
	for _, phone := range strings.Fields(string(out)) {
		switch phone {
		case "pau":
		case "ax":
			phones = append(phones, "AH")
		default:
			phones = append(phones, strings.ToUpper(phone))
		}
	}
	if len(phones) == 0 {
		return "", fmt.Errorf("flite does not pronounce %q: write it in English words", word)
	}
	return strings.Join(phones, " "), nil
}
