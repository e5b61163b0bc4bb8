package speakable

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	emailPattern = regexp.MustCompile(`^(?:mailto:)?([\pL\pN._%+-]+)@([\pL\pN-]+(?:\.[\pL\pN-]+)+)`)
	webPattern   = regexp.MustCompile(`^(?i:(https?://|ftp://)|www\.)?((?:[\pL\pN-]+\.)+[\pL]{2,}|[\d.]+|localhost)(:\d+)?([/?#][^\s<>"]*)?`)
	pathWord     = regexp.MustCompile(`^[\pL]+(?:[-_][\pL\d]{1,12})*$`)
)

// topLevels are endings that make a name without "https://" and "www." an address of the web. Other
// names with a full stop in them are files ("README.md") or missing spaces.
var topLevels = []string{
	"com", "org", "net", "io", "ai", "app", "dev", "info", "biz", "edu", "gov", "eu", "de", "at", "ch", "fr", "es", "it", "pt", "br",
	"nl", "be", "uk", "us", "ca", "co", "shop", "online", "cloud",
}

const (
	// maxPathParts and maxPathPart bound what of an address is said. Nobody can remember more.
	maxPathParts = 2
	maxPathPart  = 24
)

// email reads "ada@example.com" as "ada at example dot com".
func email(s *speaker, i int) (int, string) {
	m := emailPattern.FindStringSubmatch(s.in[i:])
	if m == nil || s.atSign == "" {
		return 0, ""
	}
	return len(m[0]), s.spellName(m[1]) + s.atSign + s.spellName(m[2])
}

// webAddress reads "https://www.example.com/help?x=1" as "example dot com slash help". A path that
// nobody would say is left out.
func webAddress(s *speaker, i int) (int, string) {
	m := webPattern.FindStringSubmatch(s.in[i:])
	if m == nil {
		return 0, ""
	}
	host, path := strings.TrimPrefix(m[2], "www."), m[4]
	written := m[0]
	if trimmed := strings.TrimRight(path, `.,;:!?)]}'’”*`); trimmed != path {
		written = written[:len(written)-len(path)+len(trimmed)]
		path = trimmed
	}
	ending := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	isAddress := m[1] != "" || len(m[2]) > len(host) || strings.HasPrefix(strings.ToLower(m[0]), "www.")
	if !isAddress && (!slices.Contains(topLevels, ending) || !strings.Contains(host, ".")) {
		return 0, ""
	}
	say := s.spellName(host)
	for part := range sayable(path) {
		say += s.slash + s.spellName(part)
	}
	return len(written), say
}

// sayable returns the parts of a path, or nothing if it has too many or too long ones, or numbers.
func sayable(path string) func(yield func(string) bool) {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	tooLong := func(part string) bool { return len(part) > maxPathPart || !pathWord.MatchString(part) }
	if len(parts) > maxPathParts || slices.ContainsFunc(parts, tooLong) {
		parts = nil
	}
	return slices.Values(parts)
}

// spellName says the punctuation in a name, and digits apart from letters.
func (s *speaker) spellName(name string) string {
	if s.dot == "" {
		return name
	}
	var out strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case r == '.':
			out.WriteString(s.dot)
		case r == '-':
			out.WriteString(s.dash)
		case r == '_':
			out.WriteString(s.underscore)
		case r == '+':
			out.WriteString(s.plus)
		default:
			if unicode.IsDigit(r) != unicode.IsDigit(before) && (isWordRune(before) && isWordRune(r)) {
				out.WriteByte(' ')
			}
			out.WriteRune(r)
		}
		before = r
	}
	return strings.TrimSpace(out.String())
}
