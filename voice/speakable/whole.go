package speakable

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	// unknownDigits is how many digits a number has at least whose length is not known.
	unknownDigits = 6
	// longSpelling is how many letters are taken for a whole word.
	longSpelling = 8
	// otherWords is how many words without any part of the value are an answer of another kind.
	otherWords = 5
)

var (
	wholeEmail = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,}`)
	wholeDate  = regexp.MustCompile(`\b\d{1,2}(?:[./-] ?\d{1,2})(?:[./-] ?(\d{4}|\d{2})\b)?`)
	fullYear   = regexp.MustCompile(`\b(?:19|20)\d\d\b`)
)

// Whole reports whether a transcript of what the user has said so far has the whole of a value that
// was asked for. It is also true of an answer that gives none: "I don't have it with me." Language
// is a BCP 47 tag; in languages other than English and German it returns true.
func Whole(text string, value Value, language string) bool {
	q := questionsOf(language)
	if q == nil || value.Kind == None {
		return true
	}
	words := strings.Fields(strings.ReplaceAll(string(phrase(text)), "-", " "))
	switch {
	case len(words) == 0:
		return false
	case phrase(text).hasAny(q.refusals) || slices.Equal(words, []string{q.no}):
		return true
	case value.Kind != Spelling && slices.Contains(q.dangling, words[len(words)-1]):
		return false
	}
	some, whole := q.parts(text, words, value)
	if some {
		return whole
	}
	return len(words) >= otherWords && !phrase(text).hasAny(q.waiting)
}

// parts reports whether the words have some of the value, and whether they have all of it.
func (q *questions) parts(text string, words []string, value Value) (some, whole bool) {
	switch value.Kind {
	case Number:
		n := q.countDigits(words, true)
		want := value.Digits
		if want == 0 {
			want = unknownDigits
		}
		return n > 0, n >= want
	case Count:
		n := q.countDigits(words, false)
		return n > 0, true
	case Phone:
		n := q.countDigits(words, false)
		return n > 0, n >= q.phoneDigits(text, words)
	case Email:
		return q.emailParts(text, words)
	case Date:
		return q.dateParts(text, words, value.Year)
	case Spelling:
		return q.spellingParts(words)
	case None:
	}
	return false, true
}

// countDigits counts the digits that words stand for, and the letters among them if those count.
func (q *questions) countDigits(words []string, letters bool) int {
	count := 0
	for i, word := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		digits := strings.Count(word, "") - 1 - len([]rune(strings.Map(dropDigits, word)))
		switch {
		case digits > 0 && letters:
			count += len([]rune(word))
		case digits > 0:
			count += digits
		case q.isDigit(word):
			count++
		case slices.Contains(q.tens, word) && q.isDigit(next): // "forty two"
			count++
		case q.isTwoDigits(word):
			count += 2
		case strings.HasSuffix(word, q.hundred): // "eight hundred" counts the eight, "achthundert" does not
			count += 2
			if word != q.hundred {
				count++
			}
		case word == q.double && next != "":
			count++
		case word == q.triple && next != "":
			count += 2
		case letters && isSingleLetter(word) && word != "i" && word != "a":
			count++
		}
	}
	return count
}

func dropDigits(r rune) rune {
	if unicode.IsDigit(r) {
		return -1
	}
	return r
}

func (q *questions) isDigit(word string) bool {
	return slices.Contains(q.numbers[1:10], word) || slices.Contains(q.zeros, word)
}

// isTwoDigits reports whether a word is a number from 10 to 99.
func (q *questions) isTwoDigits(word string) bool {
	if slices.Contains(q.numbers[10:], word) || slices.Contains(q.tens, word) {
		return true
	}
	return q.joined != "" && slices.ContainsFunc(q.tens, func(ten string) bool { return strings.HasSuffix(word, q.joined+ten) })
}

// phoneDigits is how many digits the phone number has whose beginning is known.
func (q *questions) phoneDigits(text string, words []string) int {
	trimmed := strings.TrimSpace(text)
	if strings.Contains(trimmed, "+") || slices.Contains(words, "plus") {
		return 11
	}
	for prefix, digits := range q.phonePrefixes {
		if strings.HasPrefix(strings.TrimLeftFunc(trimmed, func(r rune) bool { return !unicode.IsDigit(r) }), prefix) {
			return digits
		}
	}
	return q.shortestPhone
}

// emailParts looks for a name, the at sign and a domain with its ending.
func (q *questions) emailParts(text string, words []string) (some, whole bool) {
	if wholeEmail.MatchString(text) {
		return true, true
	}
	at := slices.IndexFunc(words, func(word string) bool { return slices.Contains(q.at, word) })
	if at < 0 {
		return len(words) < otherWords || slices.Contains(words, q.dot), false
	}
	rest := words[at+1:]
	dot := -1
	for i, word := range rest {
		if word == q.dot {
			dot = i
		}
	}
	if dot <= 0 || dot+1 == len(rest) {
		return true, strings.Contains(text[strings.LastIndexByte(text, '@')+1:], ".") && strings.Contains(text, "@")
	}
	ending := rest[dot+1:]
	spelled := len(ending) > 1 && isSingleLetter(ending[0]) && isSingleLetter(ending[1])
	return true, spelled || len(ending[0]) > 1 && ending[0] != "co"
}

// dateParts looks for a day and a month, and a year if there must be one.
func (q *questions) dateParts(text string, words []string, year bool) (some, whole bool) {
	if m := wholeDate.FindStringSubmatch(text); m != nil {
		return true, !year || m[1] != ""
	}
	if !year && phrase(text).hasAny(q.days) {
		return true, true
	}
	months := 0
	for _, word := range words {
		if slices.Contains(q.months, word) {
			months++
		}
	}
	numbers := q.numberGroups(words)
	if months == 0 && numbers == 0 {
		return false, false
	}
	parts := months + numbers
	if !year {
		return true, parts >= 2
	}
	return true, parts >= 3 && !slices.Contains(q.centuries, words[len(words)-1]) || fullYear.MatchString(text) && parts >= 3
}

// numberGroups counts numbers, where "twenty fifth" is one.
func (q *questions) numberGroups(words []string) int {
	count := 0
	for i, word := range words {
		isNumber := strings.IndexFunc(word, unicode.IsDigit) >= 0 || q.isDigit(word) || q.isTwoDigits(word) || q.isOrdinal(word) ||
			q.hundred != "" && strings.Contains(word, q.hundred)
		if isNumber && !(i > 0 && slices.Contains(q.tens, words[i-1]) && (q.isDigit(word) || q.isOrdinal(word))) {
			count++
		}
	}
	return count
}

// isOrdinal reports whether a word is an ordinal number: "fifth", "fünften".
func (q *questions) isOrdinal(word string) bool {
	return slices.ContainsFunc(q.ordinals, func(stem string) bool {
		rest, ok := strings.CutPrefix(word, stem)
		return ok && slices.Contains(q.ordinalEndings, rest)
	}) || slices.ContainsFunc(q.ordinalSuffixes, func(suffix string) bool { return strings.HasSuffix(word, suffix) })
}

// spellingParts counts letters. A spelling is whole if it is that of another word that was said, or
// long: where a short word ends only the speaker knows.
func (q *questions) spellingParts(words []string) (some, whole bool) {
	var letters strings.Builder
	count := 0
	for i, word := range words {
		if isSingleLetter(word) && (i == 0 || !slices.Contains(q.asIn, words[i-1])) {
			letters.WriteString(word)
			count++
		}
	}
	if count == 0 {
		return false, false
	}
	return true, count >= longSpelling || count > 1 && slices.Contains(words, letters.String())
}
