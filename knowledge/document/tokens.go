package document

import (
	"fmt"
	"sync"
	"unicode"

	"github.com/tiktoken-go/tokenizer/codec"
)

// maxRunChars cuts long runs of one character class before counting: the tokenizer takes
// quadratic time on them. Only text that is not prose has such runs, and there the count may
// be a token or two off.
const maxRunChars = 128

// vocabulary loads cl100k_base (the vocabulary of the OpenAI embedding models) on first use,
// in about 10 ms.
var vocabulary = sync.OnceValue(codec.NewCl100kBase)

// countTokens is the number of cl100k_base tokens in text, in linear time.
func countTokens(text string) (int, error) {
	encoding := vocabulary()
	total, start, run := 0, 0, 0
	class := -1
	for i, r := range text {
		if c := classOf(r); c != class {
			class, run = c, 0
		}
		if run++; run <= maxRunChars {
			continue
		}
		n, err := encoding.Count(text[start:i])
		if err != nil {
			return 0, fmt.Errorf("counting tokens: %w", err)
		}
		total, start, run = total+n, i, 1
	}
	n, err := encoding.Count(text[start:])
	if err != nil {
		return 0, fmt.Errorf("counting tokens: %w", err)
	}
	return total + n, nil
}

// classOf follows the classes of the tokenizer's own splitting.
func classOf(r rune) int {
	switch {
	case unicode.IsLetter(r):
		return 0
	case unicode.IsDigit(r):
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 3
}
