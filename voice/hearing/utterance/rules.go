package utterance

import (
	"strings"
	"sync"
	"unicode"

	"parlance.dev/parlance/platform/langtag"
)

// Rules are the words of one language. Safe for concurrent use.
type Rules struct {
	acknowledgements, stops, dangling, digits, tens, months, days, at, dot phrases
	asks                                                                   []asks
}

// asks are the phrases with which a value is asked for.
type asks struct {
	value   Value
	phrases phrases
}

// phrases are entries of one to four words, keyed by their words joined with a space.
type phrases map[string]bool

// maxPhraseWords is the length of the longest entry.
const maxPhraseWords = 4

// For returns the rules of a language tag ("de", "pt-BR"). A language without a table has English
// rules.
func For(language string) *Rules {
	if rules := all()[langtag.Base(language)]; rules != nil {
		return rules
	}
	return all()["en"]
}

var all = sync.OnceValue(func() map[string]*Rules {
	rules := map[string]*Rules{}
	for language, t := range tables {
		rules[language] = &Rules{
			acknowledgements: parse(t.acknowledgements + "," + sounds), stops: parse(t.stops),
			dangling: parse(t.dangling + "," + fillers), digits: parse(t.digits), tens: parse(t.tens),
			months: parse(t.months), days: parse(t.days), at: parse(t.at), dot: parse(t.dot),
			// The first that fits: "spell your e-mail address" asks for letters, "which date and
			// how many" for what needs longer.
			asks: []asks{
				{Spelling, parse(t.asksSpelling)},
				{Email, parse(t.asksEmail)},
				{Digits, parse(t.asksDigits)},
				{Date, parse(t.asksDate)},
				{Number, parse(t.asksNumber)},
			},
		}
	}
	return rules
})

func parse(list string) phrases {
	entries := phrases{}
	for entry := range strings.SplitSeq(list, ",") {
		if words := Words(entry); len(words) > 0 {
			entries[strings.Join(words, " ")] = true
		}
	}
	return entries
}

// Words are the words of a text in lower case without punctuation. Apostrophes, hyphens and points
// within a word stay: "don't", "uh-huh", "3.5". "@" is a word.
func Words(text string) []string {
	text = strings.NewReplacer("’", "'", "@", " @ ").Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("'-.@", r)
	})
	kept := words[:0]
	for _, word := range words {
		if word = strings.Trim(word, "'-."); word != "" {
			kept = append(kept, word)
		}
	}
	return kept
}

// prefix returns how many words the longest entry has that the words begin with.
func (p phrases) prefix(words []string) int {
	for n := min(len(words), maxPhraseWords); n > 0; n-- {
		if p[strings.Join(words[:n], " ")] {
			return n
		}
	}
	return 0
}

// begunBy reports whether all words together are the beginning of an entry, or one.
func (p phrases) begunBy(words []string) bool {
	begin := strings.Join(words, " ")
	for entry := range p {
		if entry == begin || strings.HasPrefix(entry, begin+" ") {
			return true
		}
	}
	return false
}

// within reports whether an entry is anywhere in the words.
func (p phrases) within(words []string) bool {
	for i := range words {
		if p.prefix(words[i:]) > 0 {
			return true
		}
	}
	return false
}

// endIn reports whether the last words are an entry.
func (p phrases) endIn(words []string) bool {
	for n := 1; n <= min(len(words), maxPhraseWords); n++ {
		if p[strings.Join(words[len(words)-n:], " ")] {
			return true
		}
	}
	return false
}

// Acknowledgement reports whether a text is nothing but acknowledgements: "Yeah, okay."
func (r *Rules) Acknowledgement(text string) bool {
	words := Words(text)
	if len(words) == 0 {
		return false
	}
	for len(words) > 0 {
		n := r.acknowledgements.prefix(words)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

// BeginsAcknowledgement reports whether a text is nothing but acknowledgements, the last of them
// perhaps not whole yet: "okay, that's", which may become "okay, that's right".
func (r *Rules) BeginsAcknowledgement(text string) bool {
	words := Words(text)
	for len(words) > 0 {
		if r.acknowledgements.begunBy(words) {
			return true
		}
		n := r.acknowledgements.prefix(words)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return false
}

// Stop reports whether a text asks the agent to stop speaking: after any acknowledgements it begins
// with a stop word ("no, wait", "okay stop").
func (r *Rules) Stop(text string) bool {
	words := Words(text)
	for len(words) > 0 {
		acknowledged := r.acknowledgements.prefix(words)
		if stop := r.stops.prefix(words); stop > 0 && stop >= acknowledged {
			return true
		}
		if acknowledged == 0 {
			return false
		}
		words = words[acknowledged:]
	}
	return false
}

// Echo reports whether words that were heard are mostly what the agent was saying: two words or
// more, of which at least two thirds stand in what was said, in the same order.
func Echo(heard, said string) bool {
	words, source := Words(heard), Words(said)
	if len(words) < 2 {
		return false
	}
	// The longest common subsequence, a row at a time.
	row := make([]int, len(source)+1)
	for _, word := range words {
		diagonal := 0
		for j, other := range source {
			above := row[j+1]
			if word == other {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = above
		}
	}
	return 3*row[len(source)] >= 2*len(words)
}
