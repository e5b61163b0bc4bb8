package pii

import (
	"slices"
	"strings"
)

// Kind is a kind of personal data.
type Kind string

// The kinds.
const (
	Card  Kind = "card"
	Email Kind = "email"
	Phone Kind = "phone"
	IBAN  Kind = "iban"
)

// Kinds are all kinds. Where two kinds overlap in a text, the one that is named first is found.
var Kinds = []Kind{Email, IBAN, Card, Phone}

// Match is personal data in a text.
type Match struct {
	Kind Kind
	// From and To are offsets in bytes, To exclusive.
	From, To int
}

// Redactor finds and replaces personal data of some kinds. The zero value replaces nothing. Safe
// for concurrent use.
type Redactor struct {
	kinds []Kind
	// in are the countries whose national telephone numbers are found.
	in countries
	// all says that whole texts are replaced.
	all bool
}

// Withheld is in the place of a text of which nothing is left.
const Withheld = "[withheld]"

// WithholdAll returns a Redactor that leaves nothing of any text: a text becomes [Withheld], JSON
// an empty object.
func WithholdAll() Redactor { return Redactor{all: true} }

// New returns a Redactor of some kinds. tag is the BCP 47 tag of the language that is spoken, which
// decides whose national telephone numbers are found: those of its region, or of the region where
// most of its speakers live. With an empty tag, telephone numbers are found with their country
// codes only.
func New(kinds []Kind, tag string) Redactor {
	r := Redactor{}
	for _, kind := range Kinds {
		if slices.Contains(kinds, kind) {
			r.kinds = append(r.kinds, kind)
		}
	}
	if len(r.kinds) == 0 {
		return r // for each turn of most agents
	}
	if region := regionOf(tag); region != "" {
		r.in.regions = []string{region}
	}
	return r
}

// NewWide returns a Redactor for texts of any language, which rather finds too much. Beside what
// New finds it finds numbers of any country that a word announces or that begin with 0, and those
// of wideRegions and of the region of tag, which may be empty: numbers that are grouped as there,
// that are a whole text, or that have ten digits as in North America.
func NewWide(kinds []Kind, tag string) Redactor {
	r := New(kinds, "")
	r.in = countries{any: true, regions: wideRegions}
	if region := regionOf(tag); region != "" && !slices.Contains(wideRegions, region) {
		r.in.regions = append([]string{region}, wideRegions...)
	}
	return r
}

// Redacts reports whether the Redactor replaces anything.
func (r Redactor) Redacts() bool { return len(r.kinds) > 0 || r.all }

// Text returns the text with "[card]", "[email]", "[phone]" and "[iban]" in the places of what was
// found. Nothing is found in what it returns.
func (r Redactor) Text(text string) string {
	if r.all && text != "" {
		return Withheld
	}
	for { // each time a digit or an @ less
		found := r.Find(text)
		if len(found) == 0 {
			return text
		}
		text = replace(text, found)
	}
}

func replace(text string, found []Match) string {
	var out strings.Builder
	done := 0
	for _, m := range found {
		out.WriteString(text[done:m.From])
		out.WriteString("[" + string(m.Kind) + "]")
		done = m.To
	}
	out.WriteString(text[done:])
	return out.String()
}

// Find returns the personal data in a text, in order and without overlaps.
func (r Redactor) Find(text string) []Match {
	if len(r.kinds) == 0 || !strings.ContainsFunc(text, isHint) {
		return nil
	}
	t := normalize(text)
	t.findEmails() // all kinds, so that part of an IBAN is never taken for a telephone number
	t.findIBANs()
	t.findCards()
	if slices.Contains(r.kinds, Phone) {
		t.findPhones(r.in)
	}
	found := slices.DeleteFunc(t.found, func(m Match) bool { return !slices.Contains(r.kinds, m.Kind) })
	slices.SortFunc(found, func(a, b Match) int { return a.From - b.From })
	return found
}

// isHint reports whether a text with the character may hold personal data.
func isHint(r rune) bool { return r == '@' || r == '＠' || digitOf(r) >= 0 }
