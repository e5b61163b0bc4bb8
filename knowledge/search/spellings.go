package search

import "strings"

// maxCodeParts bounds a code: what has more parts is an address.
const maxCodeParts = 6

// codesIn are the codes of a text (XJ-2000/B, v1.2, A_17) without what joins their parts, and
// without their last parts too: people write the same code in several ways, and leave out what
// follows. A code has letters and digits, and consists of ASCII.
func codesIn(text string) (codes []string) {
	if !strings.ContainsAny(text, "-/._") {
		return nil
	}
	for _, run := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isCodeRune(r) && !isJoint(r) }) {
		parts := strings.FieldsFunc(run, isJoint)
		if len(parts) < 2 || len(parts) > maxCodeParts || !strings.ContainsFunc(run, isDigit) || !strings.ContainsFunc(run, isLetter) {
			continue
		}
		joined := parts[0]
		for _, part := range parts[1:] {
			joined += part
			if strings.ContainsFunc(joined, isDigit) && strings.ContainsFunc(joined, isLetter) {
				codes = append(codes, joined)
			}
		}
	}
	return codes
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' }

func isCodeRune(r rune) bool { return isDigit(r) || isLetter(r) }

func isJoint(r rune) bool { return r == '-' || r == '/' || r == '.' || r == '_' }
