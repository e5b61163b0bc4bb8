package history

import (
	"fmt"
	"unicode/utf8"

	"parlance.dev/parlance/provider/model"
)

// tokensIn is [model.RoughTokens]. It is a hundred times as fast as the vocabulary that counts
// chunks (knowledge/chunking), and the bound need not be exact.
func tokensIn(text string) int { return model.RoughTokens(text) }

// markTokens is how many tokens the mark of a cut takes.
const markTokens = 18

// cutMiddle shortens a text to about so many tokens: two thirds are its beginning, one third its
// end, because questions often stand at the end of what people paste.
func cutMiddle(text string, tokens int) string {
	quarters := 4 * max(0, tokens-markTokens)
	begin, end := 0, len(text)
	for used := 0; begin < end; {
		r, size := utf8.DecodeRuneInString(text[begin:end])
		if used += quarterTokens(r); used > quarters*2/3 {
			break
		}
		begin += size
	}
	for used := 0; begin < end; {
		r, size := utf8.DecodeLastRuneInString(text[begin:end])
		if used += quarterTokens(r); used > quarters/3 {
			break
		}
		end -= size
	}
	return fmt.Sprintf("%s\n[cut: %d of %d bytes are left out here]\n%s", text[:begin], end-begin, len(text), text[end:])
}

// quarterTokens is what a character adds to tokensIn, in quarters of a token.
func quarterTokens(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case r < 0x2E80:
		return 2
	}
	return 4
}
