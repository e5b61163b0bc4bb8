package knowledge

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// wordSet are the hashes of the different words of a text in lower case, ascending.
type wordSet []uint64

// FNV-1a of 64 bits. Source: Fowler, Noll, Vo and Eastlake, RFC 9923.
const (
	hashOffset = 14695981039346656037
	hashPrime  = 1099511628211
)

func wordsIn(text string) wordSet {
	words := make(wordSet, 0, len(text)/4)
	hash := uint64(hashOffset)
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			r = unicode.ToLower(r)
		default:
			if hash != hashOffset {
				words, hash = append(words, hash), hashOffset
			}
			continue
		}
		hash = (hash ^ uint64(r)) * hashPrime //nolint:gosec // a character
	}
	if hash != hashOffset {
		words = append(words, hash)
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
