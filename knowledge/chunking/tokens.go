package chunking

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"

	"parlance.dev/parlance/platform/cache"
)

// maxRunChars is where a long run of one class of characters is cut before counting: the tokenizer
// takes quadratic time on them. Only text that is not prose has such runs, and there the count may
// be a token or two off.
const maxRunChars = 128

const (
	// maxCachedPieces bounds how many counts are cached: the words of some languages.
	maxCachedPieces = 1 << 17
	// maxCachedBytes is how long a piece may be whose count is cached.
	maxCachedBytes = 64
)

// vocabulary loads cl100k_base (the vocabulary of the OpenAI embedding models) on first use,
// in about 10 ms.
var vocabulary = sync.OnceValue(codec.NewCl100kBase)

// pieceTokens caches how many tokens a piece of text has, mostly a word; about 10 MB when it is
// full. Most of the tokenizer's time goes into finding the pieces and merging their letters.
var pieceTokens = cache.New[string, int](maxCachedPieces)

// countTokens is the number of cl100k_base tokens in a text, in linear time.
func countTokens(text string) (int, error) {
	total := 0
	for len(text) > 0 {
		piece := text[:pieceEnd(text)]
		n, cached := pieceTokens.Get(piece)
		if !cached {
			var err error
			if n, err = vocabulary().Count(piece); err != nil {
				return 0, fmt.Errorf("counting tokens: %w", err)
			}
			if len(piece) <= maxCachedBytes {
				pieceTokens.Set(strings.Clone(piece), n)
			}
		}
		total += n
		text = text[len(piece):]
	}
	return total, nil
}

// pieceEnd is where the first piece of a text ends, as the tokenizer's own expression says:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func pieceEnd(text string) int {
	if end := asciiWordEnd(text); end > 0 {
		return end
	}
	first, size := utf8.DecodeRuneInString(text)
	if first == '\'' {
		if n := contraction(text[1:]); n > 0 {
			return 1 + n
		}
	}
	second, _ := utf8.DecodeRuneInString(text[size:])
	switch {
	case unicode.IsLetter(first):
		return size + lengthOf(text[size:], unicode.IsLetter, maxRunChars)
	case unicode.IsNumber(first):
		return size + lengthOf(text[size:], unicode.IsNumber, 2)
	case first != '\r' && first != '\n' && size < len(text) && unicode.IsLetter(second):
		return size + lengthOf(text[size:], unicode.IsLetter, maxRunChars)
	case !unicode.IsSpace(first):
		return marks(text, size)
	case first == ' ' && size < len(text) && isMark(second):
		return marks(text, size)
	}
	return spaces(text)
}

// asciiWordEnd is pieceEnd of what most pieces are: a word of ASCII letters, behind a space or not,
// whose end is seen in ASCII too. 0: it is something else.
func asciiWordEnd(text string) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	end := start
	for end < min(len(text), maxRunChars) && text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z' {
		end++
	}
	if end == start || end < len(text) && text[end] >= utf8.RuneSelf {
		return 0
	}
	return end
}

// contraction is the length of what may follow an apostrophe: s, t, r, ve, m, ll or d. The
// expression says re; what the tokenizer compiled it to takes r for a whole one, and its counts are
// those we keep to.
func contraction(text string) int {
	lower := func(i int) byte {
		if i < len(text) && text[i] < utf8.RuneSelf {
			return text[i] | 0x20
		}
		return 0
	}
	switch lower(0) {
	case 's', 't', 'r', 'm', 'd':
		return 1
	case 'v':
		if lower(1) == 'e' {
			return 2
		}
	case 'l':
		if lower(1) == 'l' {
			return 2
		}
	}
	return 0
}

// lengthOf is the length of the first characters that are of a class, at most so many.
func lengthOf(text string, is func(rune) bool, most int) int {
	for i, r := range text {
		if most == 0 || !is(r) {
			return i
		}
		most--
	}
	return len(text)
}

func isMark(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// marks ends after the marks that follow from, and the line ends after these.
func marks(text string, from int) int {
	from += lengthOf(text[from:], isMark, maxRunChars)
	return from + lengthOf(text[from:], isLineEnd, maxRunChars)
}

func isLineEnd(r rune) bool { return r == '\r' || r == '\n' }

// spaces ends after the last line end of the white space that text begins with; without one before
// its last character, which belongs to the word that follows.
func spaces(text string) int {
	end, line, last := 0, 0, 0
	for i, r := range text {
		if !unicode.IsSpace(r) || i > maxRunChars {
			break
		}
		last, end = i, i+utf8.RuneLen(r)
		if isLineEnd(r) {
			line = end
		}
	}
	switch {
	case line > 0:
		return line
	case end < len(text) && last > 0:
		return last
	}
	return end
}
