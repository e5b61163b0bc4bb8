package pii

import (
	"strings"
	"unicode"
)

// Longest parts of an address, in characters. Source: RFC 5321, 4.5.3.1 (there in bytes).
const (
	maxLocalRunes  = 64
	maxDomainRunes = 255
	maxLabelRunes  = 63
)

// findEmails finds addresses as people write them: a local part without quotes, and a domain of two
// labels or more.
func (t *text) findEmails() {
	for i := range t.runes {
		if t.at(i) != '@' {
			continue
		}
		from, to := t.localBefore(i), t.domainAfter(i)
		if from < i && to > i+1 && !t.isRemotePath(to) {
			t.add(Email, from, to)
		}
	}
}

// localBefore returns where the local part before an @ begins.
func (t *text) localBefore(at int) int {
	from := at
	for at-from < maxLocalRunes && isLocal(t.at(from-1)) {
		from--
	}
	for from < at && !isLetterOrDigit(t.runes[from]) && t.runes[from] != '_' { // quotes and dots around the address
		from++
	}
	if t.at(at-1) == '.' {
		return at
	}
	return from
}

func isLocal(r rune) bool {
	return isLetterOrDigit(r) || strings.ContainsRune(".!#$%'*+-=^_`{|}~", r) && r != 0
}

func isLetterOrDigit(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// domainAfter returns where the domain behind an @ ends.
func (t *text) domainAfter(at int) int {
	end, labels, from := at+1, 0, at+1
	for i := at + 1; i-at <= maxDomainRunes; i++ {
		r := t.at(i)
		if isLetterOrDigit(r) || r == '-' {
			continue
		}
		label := t.runes[from:min(i, len(t.runes))]
		if len(label) == 0 || len(label) > maxLabelRunes || label[0] == '-' || label[len(label)-1] == '-' {
			break
		}
		if labels++; labels > 1 && isTopLevel(label) {
			end = i
		}
		if r != '.' {
			break
		}
		from = i + 1
	}
	return end
}

// isTopLevel reports whether a label may be the last one of a domain.
func isTopLevel(label []rune) bool {
	if len(label) < 2 {
		return false
	}
	if strings.HasPrefix(strings.ToLower(string(label)), "xn--") {
		return true
	}
	for _, r := range label {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
	}
	return true
}

// isRemotePath reports whether a path follows, as in git@example.com:team/project.
func (t *text) isRemotePath(to int) bool {
	return t.at(to) == ':' && (unicode.IsLetter(t.at(to+1)) || t.at(to+1) == '~' || t.at(to+1) == '/')
}
