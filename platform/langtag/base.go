package langtag

import "strings"

// Base returns the language of a tag in lower case, without its region and script: "de" of "de-AT"
// and of "DE_at". It is empty for an empty tag. Codes are not translated: "iw" stays "iw".
func Base(tag string) string {
	base := tag
	if end := strings.IndexAny(tag, "-_"); end >= 0 {
		base = tag[:end]
	}
	return strings.ToLower(base)
}
