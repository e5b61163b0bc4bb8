package sessions

import (
	"golang.org/x/text/language"
)

// maxLanguageBytes is far beyond any tag that is used; RFC 5646, 4.4.1, has 35 for nearly all.
const maxLanguageBytes = 64

// canonicalLanguage is a BCP 47 tag as it is written, such as de-CH for DE-ch; false when it is that of no language.
func CanonicalLanguage(tag string) (string, bool) {
	if len(tag) > maxLanguageBytes {
		return "", false
	}
	parsed, err := language.Parse(tag)
	if base, _, _ := parsed.Raw(); err != nil || base.String() == "und" { // Base would guess one for und-CH
		return "", false
	}
	return parsed.String(), true
}
