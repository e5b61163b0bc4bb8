package openapi

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blocks and inline match HTML tags in descriptions.
var (
	blocks = regexp.MustCompile(`(?i)</?(p|br|pre|ul|ol|li|div|h[1-6]|table|tr|td|th|thead|tbody)(\s[^<>]*)?/?>`)
	inline = regexp.MustCompile(`(?i)</?(a|b|i|em|strong|code|span)(\s[^<>]*)?>`)
)

// oneLine returns a text as one line of at most that many characters.
func oneLine(words string, most int) string {
	if far := 16 * most; len(words) > far {
		words = strings.ToValidUTF8(words[:far], "")
	}
	words = strings.Join(strings.FieldsFunc(words, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if utf8.RuneCountInString(words) <= most {
		return words
	}
	return strings.TrimSpace(string([]rune(words)[:most-1])) + "…"
}

// prose removes markup from a description and shortens it. It keeps line breaks.
func prose(words string, most int) string {
	if far := 16 * most; len(words) > far { // shortens manuals before they are searched
		words = strings.ToValidUTF8(words[:far], "")
	}
	if strings.Contains(words, "<") {
		words = html.UnescapeString(inline.ReplaceAllString(blocks.ReplaceAllString(words, " "), ""))
	}
	var lines []string
	for line := range strings.Lines(words) {
		line = oneLine(line, most)
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	words = strings.TrimSpace(strings.Join(lines, "\n"))
	if utf8.RuneCountInString(words) <= most {
		return words
	}
	cut := string([]rune(words)[:most-1])
	if at := strings.LastIndexAny(cut, " \n"); at > len(cut)*3/4 {
		cut = cut[:at]
	}
	return strings.TrimSpace(cut) + "…"
}

// sentence joins two descriptions.
func sentence(words, more string) string {
	words = strings.TrimSpace(words)
	if words == "" {
		return more
	}
	if !strings.ContainsAny(words[len(words)-1:], ".!?:") {
		words += "."
	}
	return words + " " + more
}

// snake converts a name to snake case: listPets, list-pets and "List pets" are list_pets,
// getHTTPStatus is get_http_status.
func snake(name string) string {
	runes := []rune(name)
	var out strings.Builder
	for i, r := range runes {
		upper := r >= 'A' && r <= 'Z'
		switch {
		case upper:
			afterSmall := i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]))
			endsCapitals := i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterSmall || endsCapitals {
				out.WriteByte('_')
			}
			out.WriteRune(unicode.ToLower(r))
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		default:
			out.WriteByte('_')
		}
	}
	parts := strings.FieldsFunc(out.String(), func(r rune) bool { return r == '_' })
	return strings.Join(parts, "_")
}
