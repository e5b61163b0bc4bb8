package speakable

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Kind is a kind of value that an agent asks for.
type Kind int

const (
	// None is no value that takes a pause to say.
	None Kind = iota
	// Number is read out digit by digit: the number of an order, an account or a card, a code.
	Number
	// Count is a quantity: how many people, which amount.
	Count
	// Phone is a phone number.
	Phone
	// Email is an e-mail address.
	Email
	// Date is a day, or a time on a day.
	Date
	// Spelling is a word letter by letter.
	Spelling
)

// Value is what an agent asks for.
type Value struct {
	Kind Kind
	// Digits is how many digits a Number has, 0 if that is not known.
	Digits int
	// Year is whether a Date has a year, as one of birth has.
	Year bool
}

// AskedFor returns the value that the last sentence of an agent's text asks for. Language is a BCP
// 47 tag; in languages other than English and German it returns None.
func AskedFor(text, language string) Value {
	q := questionsOf(language)
	if q == nil {
		return Value{}
	}
	last, before := lastSentences(text)
	words := q.withoutAsides(phrase(last))
	if !q.asks(last) {
		return Value{}
	}
	if value := q.value(words); value.Kind != None {
		return value
	}
	if words.hasAny(q.pronouns) { // "I have sent you a code. What does it say?"
		return q.value(phrase(before))
	}
	return Value{}
}

// lastSentences returns the last sentence of a text, and the one before it.
func lastSentences(text string) (last, before string) {
	for iter := sentences.FromString(strings.TrimSpace(text)); iter.Next(); {
		last, before = iter.Value(), last
	}
	return last, before
}

// spokenWords are words in lower case with a space before and after each.
type spokenWords string

// phrase makes words of a text. Hyphens and apostrophes are kept within words.
func phrase(text string) spokenWords {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !isWordRune(r) && r != '-' && r != '\''
	})
	return spokenWords(" " + strings.Join(words, " ") + " ")
}

// has reports whether the words contain others in a row. An asterisk in front stands for the
// beginning of a word, one behind for the end.
func (w spokenWords) has(words string) bool {
	if rest, ok := strings.CutPrefix(words, "*"); ok {
		return strings.Contains(string(w), rest+" ")
	}
	if rest, ok := strings.CutSuffix(words, "*"); ok {
		return strings.Contains(string(w), " "+rest)
	}
	return strings.Contains(string(w), " "+words+" ")
}

func (w spokenWords) hasAny(lists ...[]string) bool {
	for _, list := range lists {
		for _, words := range list {
			if w.has(words) {
				return true
			}
		}
	}
	return false
}

// startsWith reports whether the words begin with one of others.
func (w spokenWords) startsWith(beginnings []string) bool {
	for _, beginning := range beginnings {
		if strings.HasPrefix(string(w), " "+beginning+" ") {
			return true
		}
	}
	return false
}

// asks reports whether a sentence asks for something other than yes or no.
func (q *questions) asks(sentence string) bool {
	isQuestion := strings.HasSuffix(strings.TrimSpace(sentence), "?")
	words := phrase(sentence)
	if (isQuestion || words.has(q.please)) && q.withoutFillers(words, q.ellipses).startsWith(q.ellipses) {
		return true
	}
	for clause := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return r == ',' || r == ':' || r == ';' }) {
		if q.isRequest(phrase(clause), isQuestion) {
			return true
		}
	}
	return false
}

// withoutFillers removes words such as "okay and" from the beginning, until it is one of some.
func (q *questions) withoutFillers(words spokenWords, until []string) spokenWords {
	for stripped := true; stripped && !words.startsWith(until); {
		stripped = false
		for _, filler := range q.fillers {
			if rest, ok := strings.CutPrefix(string(words), " "+filler+" "); ok {
				words, stripped = spokenWords(" "+rest), true
				break
			}
		}
	}
	return words
}

// isRequest reports whether a clause asks for a value, or would if it named one.
func (q *questions) isRequest(words spokenWords, isQuestion bool) bool {
	words = q.withoutFillers(words, nil)
	switch {
	case words.startsWith(q.open):
		return true
	case isQuestion:
		beginning := strings.SplitN(string(words), " ", 5)
		return spokenWords(" " + strings.Join(beginning[1:len(beginning)-1], " ") + " ").hasAny(q.askers)
	}
	return !words.startsWith(q.closed) && words.hasAny(q.requests)
}

// withoutAsides removes where a value is written: "the code from your e-mail".
func (q *questions) withoutAsides(words spokenWords) spokenWords {
	for _, aside := range q.asides {
		words = spokenWords(strings.ReplaceAll(string(words), " "+aside+" ", " "))
	}
	return words
}

// value finds the kind of value by the words for it, the most telling ones first.
func (q *questions) value(words spokenWords) Value {
	switch {
	case words.hasAny(q.spelling):
		return Value{Kind: Spelling}
	case words.hasAny(q.counting):
		return Value{Kind: Count}
	case words.hasAny(q.email):
		return Value{Kind: Email}
	case words.hasAny(q.phone), words.hasAny(q.anyNumber) && words.hasAny(q.reach):
		return Value{Kind: Phone}
	case words.hasAny(q.birth):
		return Value{Kind: Date, Year: true}
	case words.hasAny(q.number, q.anyNumber):
		return Value{Kind: Number, Digits: q.digitsOf(words)}
	case words.hasAny(q.date):
		return Value{Kind: Date}
	case words.hasAny(q.amount):
		return Value{Kind: Count}
	}
	return Value{}
}

// digitsOf is how many digits a number has that is asked for: "six-digit", "the last four", "PIN".
func (q *questions) digitsOf(words spokenWords) int {
	for _, word := range strings.Fields(string(words)) {
		stem, found := strings.CutSuffix(word, q.digitSuffix)
		if cut := strings.Index(word, q.digitSuffix); !found && cut > 0 {
			stem, found = word[:cut], true
		}
		if n := q.small(strings.Trim(stem, "-")); found && n > 0 {
			return n
		}
	}
	all := strings.Fields(string(words))
	for i, word := range all {
		before, after := i > 0 && slices.Contains(q.beforeDigits, all[i-1]), i+1 < len(all) && slices.Contains(q.afterDigits, all[i+1])
		if n := q.small(word); n > 0 && (before || after) {
			return n
		}
	}
	for word, n := range q.lengths {
		if words.has(word) {
			return n
		}
	}
	return 0
}

// small is the number that a word stands for, if it is one of 1 to 19.
func (q *questions) small(word string) int {
	if n, err := strconv.Atoi(word); err == nil && n < 40 {
		return n
	}
	for i, name := range q.numbers {
		if name == word {
			return i
		}
	}
	return 0
}

// isSingleLetter reports whether a word is one letter.
func isSingleLetter(word string) bool {
	runes := []rune(word)
	return len(runes) == 1 && unicode.IsLetter(runes[0])
}
