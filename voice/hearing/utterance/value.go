package utterance

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Value is a kind of value that an agent asks for and a speaker reads out with pauses.
type Value int

const (
	// None is no value.
	None Value = iota
	// Number is a quantity: "how many people?"
	Number
	// Digits are read out in groups: numbers of phones, accounts, cards, codes.
	Digits
	// Email is an e-mail address.
	Email
	// Date is a day.
	Date
	// Spelling is a word letter by letter.
	Spelling
)

const (
	// fewestDigits is how many digits a number has at least, and surelyDigits from how many on it is
	// taken to be whole. Local phone numbers have seven digits, most with an area code ten.
	fewestDigits = 7
	surelyDigits = 10
)

// completeness is how much of a value a text has.
type completeness int

const (
	absent  completeness = iota // nothing of it: the text is about something else
	partial                     // surely not all
	perhaps                     // possibly all
	whole
)

// Asked returns what value the last sentence of an agent's text asks for.
func (r *Rules) Asked(text string) Value {
	text = strings.TrimRight(strings.TrimSpace(text), ".?!: ")
	if at := strings.LastIndexAny(text, ".?!"); at >= 0 && at+1 < len(text) && text[at+1] == ' ' {
		text = text[at+1:]
	}
	words := Words(text)
	for _, ask := range r.asks {
		if ask.phrases.within(words) {
			return ask.value
		}
	}
	return None
}

func (r *Rules) completeness(words []string, asked Value, digits int) completeness {
	switch asked {
	case Digits:
		return r.digitsOf(words, digits)
	case Number:
		return r.numberOf(words)
	case Email:
		return r.emailOf(words)
	case Date:
		return r.dateOf(words)
	case Spelling:
		return spellingOf(words)
	case None:
	}
	return absent
}

func (r *Rules) digitsOf(words []string, want int) completeness {
	count := 0
	for i, word := range words {
		count += r.digitCount(words, i, word)
	}
	switch {
	case count == 0:
		return absent
	case want > 0 && count >= want, want == 0 && count >= surelyDigits:
		return whole
	case want > 0, count < fewestDigits:
		return partial
	}
	return perhaps
}

// digitCount is how many digits of a number the word at i stands for.
func (r *Rules) digitCount(words []string, i int, word string) int {
	if n := countDigits(word); n > 0 {
		return n
	}
	if r.digits[word] {
		return 1
	}
	// "twenty-three" is two digits, "twenty three" too.
	if r.tens[firstPart(word)] {
		if i+1 < len(words) && r.digits[words[i+1]] && word == firstPart(word) {
			return 1
		}
		return 2
	}
	return 0
}

func firstPart(word string) string {
	first, _, _ := strings.Cut(word, "-")
	return first
}

func countDigits(word string) int {
	n := 0
	for _, r := range word {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

func (r *Rules) isNumber(word string) bool {
	return countDigits(word) > 0 || r.digits[word] || r.tens[firstPart(word)]
}

func (r *Rules) numberOf(words []string) completeness {
	for _, word := range words {
		if r.isNumber(word) {
			if r.dangling.endIn(words) && !r.isNumber(words[len(words)-1]) {
				return partial
			}
			return whole
		}
	}
	return absent
}

// emailOf looks for a name, the at sign, and a dot with something after it.
func (r *Rules) emailOf(words []string) completeness {
	for i := len(words) - 1; i > 0; i-- {
		if words[i] != "@" && !r.at[words[i]] {
			continue
		}
		domain := words[i+1:]
		for j, word := range domain {
			if before, after, found := strings.Cut(word, "."); found && before != "" && len(after) >= 2 {
				return whole
			}
			if r.dot[word] && j > 0 && j+1 < len(domain) {
				return whole
			}
		}
		return partial
	}
	// "john dot smith" is the beginning of an address, "I do not have one" is not.
	if len(words) > 2 && !r.dot.within(words) {
		return absent
	}
	return partial
}

func (r *Rules) dateOf(words []string) completeness {
	numbers, month := 0, false
	for _, word := range words {
		switch {
		case r.days[word]:
			return whole
		case r.months[word]:
			month = true
		case r.isNumber(word):
			numbers++
		}
	}
	switch {
	case month && numbers >= 2, numbers >= 3:
		return whole
	case month && numbers == 1 && r.months[words[len(words)-1]], numbers == 2, month && numbers == 1:
		return perhaps
	case month, numbers == 1:
		return partial
	}
	return absent
}

// spellingOf counts letters. Where a word ends only the speaker knows.
func spellingOf(words []string) completeness {
	letters := 0
	for _, word := range words {
		for part := range strings.SplitSeq(word, "-") {
			if utf8.RuneCountInString(part) == 1 {
				letters++
			}
		}
	}
	switch {
	case letters == 0:
		return absent
	case letters < 3:
		return partial
	}
	return perhaps
}

// trailingDigits is how many words at the end are digits.
func (r *Rules) trailingDigits(words []string) int {
	n := 0
	for n < len(words) {
		word := words[len(words)-1-n]
		if !r.digits[word] && (countDigits(word) != utf8.RuneCountInString(word) || len(word) > 4) {
			break
		}
		n++
	}
	return n
}
