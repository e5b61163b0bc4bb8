package knowledge

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

// wordSet are the hashes of the different words of a text in lower case, ascending.
type wordSet []uint64

// wordSeed is of the hashes of this process: they are not stored.
var wordSeed = maphash.MakeSeed()

func wordsIn(text string) wordSet {
	words := make(wordSet, 0, len(text)/4)
	isBetween := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isBetween) {
		words = append(words, maphash.String(wordSeed, word))
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// overlap is the share of all words of two sets that both have.
func (w wordSet) overlap(other wordSet) float64 {
	if len(w) == 0 || len(other) == 0 {
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(w) && j < len(other); {
		switch {
		case w[i] < other[j]:
			i++
		case w[i] > other[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(w)+len(other)-both)
}
