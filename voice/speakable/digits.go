package speakable

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

var (
	phonePattern  = regexp.MustCompile(`^\+?\(?\d[\d()]*(?: ?[-./–] ?\(?\d[\d()]*|[ \x{a0}]\(?\d[\d()]*)*`)
	cardPattern   = regexp.MustCompile(`^\d{4}(?:[ -]\d{4}){2,4}(?:[ -]\d{1,4})?`)
	ibanPattern   = regexp.MustCompile(`^[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?`)
	serialPattern = regexp.MustCompile(`^[A-Z0-9]+(?:[-/][A-Z0-9]+)*`)
	longPattern   = regexp.MustCompile(`^\d{3,}`)
	digitsPattern = regexp.MustCompile(`\d+`)
)

// longest is the number of digits from which on a number without separators is read digit by digit,
// like an order number, unless it is round.
const longest = 5

// spell reads digits one by one, in groups: "0 3 0, 1 2 3, 4 5 6 7". Groups of up to four are kept
// as they are written, because people know their numbers in them. In French, two digits are a
// number.
func (s *speaker) spell(groups []string) string {
	var said []string
	for _, group := range groups {
		for len(group) > 5 {
			size := 3
			if len(group) == 8 {
				size = 4
			}
			said, group = append(said, spaced(group[:size])), group[size:]
		}
		switch {
		case s.pairs && len(group) == 2 && group[0] != '0' && len(groups) > 1:
			said = append(said, group)
		case group != "":
			said = append(said, spaced(group))
		}
	}
	return strings.Join(said, ", ")
}

// spaced puts a space between characters.
func spaced(text string) string { return strings.Join(strings.Split(text, ""), " ") }

// phoneNumber reads phone numbers. They are recognized by their form: a plus, an area code in
// parentheses or with a zero, or the groups that are usual in a country.
func phoneNumber(s *speaker, i int) (int, string) {
	written := phonePattern.FindString(s.in[i:])
	if written == "" {
		return 0, ""
	}
	for strings.Count(written, "(") != strings.Count(written, ")") {
		cut := strings.LastIndexAny(written, "()")
		written = strings.TrimRight(written[:cut], " ./-–")
	}
	groups := digitsPattern.FindAllString(written, -1)
	if len(groups) == 0 || !s.wholeWord(i+len(written)) || !s.isPhone(written, groups, i) {
		return 0, ""
	}
	say := s.spell(groups)
	if written[0] == '+' {
		say = cmp.Or(s.plus, "+") + say
	}
	return len(written), strings.TrimLeft(say, " ")
}

func (s *speaker) isPhone(written string, groups []string, i int) bool {
	count := 0
	lengths := make([]int, 0, len(groups))
	for _, group := range groups {
		count += len(group)
		lengths = append(lengths, len(group))
	}
	hyphens := strings.ContainsAny(written, "-–")
	switch {
	case count > 15 || strings.HasSuffix(written, ")"):
		return false
	case written[0] == '+':
		return count >= 8
	case written[0] == '(':
		return count >= 7 && len(groups) > 1
	case written[0] == '0':
		isDecimal := len(groups) == 2 && strings.ContainsAny(written, ".")
		return count >= 7 && len(groups) > 1 && !isDecimal
	case slices.Equal(lengths, []int{3, 3, 4}), slices.Equal(lengths, []int{1, 3, 3, 4}), slices.Equal(lengths, []int{1, 3, 3, 2, 2}):
		return true
	case slices.Equal(lengths, []int{3, 4}) && hyphens: // 555-0123, but not 100-1500
		return s.clock.twelve && !strings.HasSuffix(written, "00")
	case slices.Equal(lengths, []int{3, 3, 3}), slices.Equal(lengths, []int{3, 2, 2, 2}): // Spain, Portugal
		return s.phoneOfNine && strings.ContainsRune("26789", rune(written[0]))
	}
	return len(groups) > 1 && count >= 7 && !strings.ContainsAny(written, ".") && s.hasCodeWord(i)
}

// hasCodeWord reports whether one of the two words before i announces a number that is read digit
// by digit: "the code is 4711".
func (s *speaker) hasCodeWord(i int) bool {
	return slices.ContainsFunc(s.wordsBefore(i, 2), func(word string) bool { return s.codeWords[word] })
}

// cardNumber reads the number of a card: "4111 1111 1111 1111".
func cardNumber(s *speaker, i int) (int, string) {
	written := cardPattern.FindString(s.in[i:])
	if written == "" || !s.wholeWord(i+len(written)) {
		return 0, ""
	}
	return len(written), s.spell(digitsPattern.FindAllString(written, -1))
}

// accountNumber reads an IBAN in groups of four characters.
func accountNumber(s *speaker, i int) (int, string) {
	written := ibanPattern.FindString(s.in[i:])
	compact := strings.ReplaceAll(written, " ", "")
	if len(compact) < 15 || !s.wholeWord(i+len(written)) {
		return 0, ""
	}
	var groups []string
	for group := range slices.Chunk([]byte(compact), 4) {
		groups = append(groups, spaced(string(group)))
	}
	return len(written), strings.Join(groups, ", ")
}

// serial reads names of capitals and digits, such as "AB-12345" and "X7K9Q2": letters one by one,
// or as a word if there are three or more before a hyphen ("ORD-2024").
func serial(s *speaker, i int) (int, string) {
	written := serialPattern.FindString(s.in[i:])
	digits := len(strings.Join(digitsPattern.FindAllString(written, -1), ""))
	letters := len(strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, written))
	enough := digits >= 3 && digits+letters >= 5 || s.hasCodeWord(i) && digits+letters >= 4
	if digits == 0 || letters == 0 || !enough || !s.wholeWord(i+len(written)) {
		return 0, ""
	}
	var said []string
	for part := range strings.FieldsFuncSeq(written, func(r rune) bool { return r == '-' || r == '/' }) {
		said = append(said, s.spellPart(part, len(part) < len(written))...)
	}
	return len(written), strings.Join(said, ", ")
}

// spellPart spells letters and digits in turn. isWord is whether letters alone are a word.
func (s *speaker) spellPart(part string, isWord bool) []string {
	if isWord && len(part) > 2 && !strings.ContainsAny(part, "0123456789") {
		return []string{part}
	}
	if at := digitsPattern.FindStringIndex(part); at != nil && at[1] == len(part) { // letters, then digits
		said := []string{}
		if at[0] > 0 {
			said = append(said, spaced(part[:at[0]]))
		}
		return append(said, s.spell([]string{part[at[0]:]}))
	}
	const group = 4
	if len(part) <= group+2 {
		return []string{spaced(part)}
	}
	var said []string
	for group := range slices.Chunk([]byte(part), group) {
		said = append(said, spaced(string(group)))
	}
	return said
}

// longNumber reads numbers digit by digit that nobody reads as a quantity: those of five digits and
// more that are not round, those with a zero in front, and those behind a word like "code".
func longNumber(s *speaker, i int) (int, string) {
	written := longPattern.FindString(s.in[i:])
	if written == "" || !s.wholeWord(i+len(written)) {
		return 0, ""
	}
	rest := s.in[i+len(written):]
	if len(rest) > 1 && strings.ContainsRune(".,:'", rune(rest[0])) && rest[1] >= '0' && rest[1] <= '9' { // 12345.67
		return 0, ""
	}
	isSerial := written[0] == '0' || len(written) >= longest && !strings.HasSuffix(written, "000")
	if !isSerial && !s.hasCodeWord(i) || s.isCounted(rest) {
		return 0, ""
	}
	return len(written), s.spell([]string{written})
}

// isCounted reports whether what follows a number is the name of a currency or unit.
func (s *speaker) isCounted(rest string) bool {
	rest = strings.TrimLeft(rest, " \u00a0")
	word := rest[:wordLengthOrZero(rest)]
	for _, c := range s.currencies {
		if word != "" && (strings.EqualFold(word, c.one) || strings.EqualFold(word, c.many)) {
			return true
		}
	}
	for _, names := range s.units {
		if word != "" && (strings.EqualFold(word, names[0]) || strings.EqualFold(word, names[1])) {
			return true
		}
	}
	return false
}

func wordLengthOrZero(text string) int {
	if text == "" {
		return 0
	}
	return wordLength(text)
}
