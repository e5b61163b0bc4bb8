package langtag

import (
	"strings"

	"golang.org/x/text/language"
)

// Base returns the language of a tag in lower case, without its region and script: "de" of "de-AT"
// and of "DE_at". It is empty for an empty tag. Codes are not translated: "iw" stays "iw".
func Base(tag string) string {
	base := tag
	if end := strings.IndexAny(tag, "-_"); end >= 0 {
		base = tag[:end]
	}
	return strings.ToLower(base)
}

// maxBytes bounds a language tag. RFC 5646, section 4.4.1, considers 35 enough for nearly
// all.
const maxBytes = 64

// Canonical returns a BCP 47 tag in its canonical form, such as de-CH for DE-ch. It returns
// false for text that does not name a language.
func Canonical(tag string) (string, bool) {
	if len(tag) > maxBytes {
		return "", false
	}
	parsed, err := language.Parse(tag)
	if base, _, _ := parsed.Raw(); err != nil || base.String() == "und" { // Base would guess one for und-CH
		return "", false
	}
	return parsed.String(), true
}
