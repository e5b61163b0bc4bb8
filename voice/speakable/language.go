package speakable

import (
	"strings"
	"unicode"

	tags "golang.org/x/text/language"
)

// language has the words that are said for what is written without words. The zero value is a
// language whose words are not known.
type language struct {
	// months have their names in a date, shortMonths their numbers by abbreviation without full stop.
	months      [12]string
	shortMonths map[string]int
	// weekdays have their names by abbreviation without full stop.
	weekdays map[string]string
	// date is a pattern with {day}, {month} and {year}. firstDay is the first of a month, "1" if
	// empty.
	date, firstDay string
	// monthFirst is whether 11/27/2026 is a date, and 11/12/2026 one in November.
	monthFirst bool
	// ordinalDot is whether a number with a full stop is an ordinal: "5. Mai".
	ordinalDot bool
	clock      clock

	// Words in addresses, " dot " with the spaces around it.
	dot, atSign, slash, dash, underscore, plus string
	// Words between and before numbers, with spaces in the same way.
	to, minus, by, number, version string
	// symbols are said for other characters, without spaces.
	symbols map[rune]string

	percent    string
	currencies map[string]currency
	// cents joins an amount with its smaller unit: " and {cents}". centsAlone is the same without the
	// unit's name, as in "3 Euro 50"; without it the name is always said.
	cents, centsAlone string
	// ofMillions joins a magnitude with a currency: "5 millions d'euros".
	ofMillions string
	// units have the names for 1 and for other numbers.
	units map[string][2]string
	// magnitudes are what follows a number: "Mio." is "Millionen".
	magnitudes map[string]string
	// per begins what an amount is for ("/month"), perWords are names for that.
	per      string
	perWords map[string]string

	ordinals      map[string]string
	abbreviations map[string]abbreviation
	// endings are abbreviations at the end of a word: "Hauptstr." is "Hauptstraße".
	endings map[string]string
	// codeWords come before a number that is read digit by digit: "code", "PIN".
	codeWords map[string]bool

	// phoneOfNine is whether nine digits in groups, without a zero in front, are a phone number.
	phoneOfNine bool
	// pairs is whether the digits of phone numbers are read in pairs: "vingt-trois".
	pairs bool

	// codeBlock is said for a block of code, image before the description of a picture.
	codeBlock, image string
}

// clock says how times are read.
type clock struct {
	// twelve is whether 14:30 is "2:30 PM".
	twelve bool
	// hour is a pattern with {h} for a full hour, one the same for 0 and 1 if it differs, minutes one
	// with {h} and {m}.
	hour, one, minutes string
	// after are words behind a time that the patterns replace.
	after []string
}

// currency has the names of a currency and its hundredth, for 1 and for other numbers.
type currency struct{ one, many, cent, cents string }

// abbreviation is a shortened word, or several.
type abbreviation struct {
	// say is what it means, empty if it is read as it is written.
	say string
	// before is what must follow it.
	before condition
	// ends is whether it may be the last word of a sentence.
	ends bool
}

// condition is what must follow an abbreviation for it to be one.
type condition int

const (
	always condition = iota
	digit
	upper
)

func (c condition) holds(next rune) bool {
	return c == always || c == digit && unicode.IsDigit(next) || c == upper && unicode.IsUpper(next)
}

// languages are those whose words are known, by BCP 47 base language.
var languages = map[string]*language{
	"en": &english, "de": &german, "fr": &french, "es": &spanish, "it": &italian, "pt": &portuguese, "nl": &dutch,
}

// languageOf returns the language of a BCP 47 tag.
func languageOf(tag string) *language {
	parsed, err := tags.Parse(tag)
	if err != nil {
		parsed = tags.Make(strings.SplitN(strings.ReplaceAll(tag, "_", "-"), "-", 2)[0])
	}
	base, _ := parsed.Base()
	known, ok := languages[base.String()]
	if !ok || tag == "" {
		return &language{}
	}
	region, confidence := parsed.Region()
	if base.String() != "en" || confidence != tags.Exact || region.String() == "US" || region.String() == "PH" {
		return known
	}
	british := *known // and of all the others who put the day first
	british.monthFirst, british.date = false, "{day} {month} {year}"
	if region.String() == "CA" {
		british.date = known.date
	}
	return &british
}

// month is the number of a month of that name or abbreviation, or 0.
func (l *language) month(name string) int {
	for i, m := range l.months {
		if m != "" && strings.EqualFold(m, name) {
			return i + 1
		}
	}
	return l.shortMonths[strings.ToLower(name)]
}

// abbreviationKey is how an abbreviation is looked up: "Z. B." is "z.b.".
func abbreviationKey(written string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "\u00a0", "").Replace(written))
}

// hasAbbreviation reports whether a text that ends with a full stop ends with an abbreviation.
func (l *language) hasAbbreviation(text string) bool {
	_, ok := l.lastAbbreviation(text)
	return ok
}

// lastAbbreviation finds the abbreviation, of up to three parts, that a text ends with.
func (l *language) lastAbbreviation(text string) (abbreviation, bool) {
	end := len(text)
	for range 3 {
		end = strings.LastIndexAny(text[:end], " \u00a0(\"„“‘«")
		start := max(end, 0)
		key := strings.TrimLeftFunc(abbreviationKey(text[start:]), func(r rune) bool { return !isWordRune(r) })
		if a, ok := l.abbreviations[key]; ok {
			return a, true
		}
		if _, ok := l.shortMonths[strings.TrimSuffix(key, ".")]; ok {
			return abbreviation{before: digit}, true
		}
		for ending := range l.endings {
			if strings.HasSuffix(key, ending) {
				return abbreviation{ends: true}, true
			}
		}
		if end <= 0 {
			break
		}
	}
	return abbreviation{}, false
}

// continues reports whether a text that ends with a full stop goes on with the sentence, because
// the full stop belongs to an abbreviation.
func (l *language) continues(text string, next rune) bool {
	a, ok := l.lastAbbreviation(text)
	return ok && !a.ends && a.before.holds(next)
}
