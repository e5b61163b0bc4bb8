package words

import (
	_ "embed" // vectors.bin
	"encoding/binary"
	"math"
	"strings"
	"sync"

	"parlance.dev/parlance/platform/lexicon"
)

const dimension = 100

// packed are the words and their vectors, most frequent first, as make writes them.
//
//go:embed vectors.bin
var packed string

// known is a word that has a vector.
type known struct {
	// numbers are 8-bit integers; scale is what one of them is worth, times the word's weight.
	numbers string
	scale   float32
}

// vocabulary is read when the first text is embedded, in about 15 ms.
var vocabulary = sync.OnceValue(func() map[string]known {
	words := make(map[string]known, 50_000)
	stops := lexicon.StopWords("en")
	for rank, rest := 0, packed; rest != ""; rank++ {
		length := int(rest[0])
		word, rest4 := rest[1:1+length], rest[1+length:]
		scale := math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest4[:4])))
		numbers := rest4[4 : 4+dimension]
		rest = rest4[4+dimension:]
		if !stops[word] {
			words[word] = known{numbers, scale * weightOf(rank)}
		}
	}
	return words
})

// weightOf is the weight of the word of a rank: 1 for rare words, less for frequent ones. Source:
// Arora, Liang and Ma, A Simple but Tough-to-Beat Baseline for Sentence Embeddings, ICLR 2017, with
// the share of all text that a word of a rank has by Zipf's law.
func weightOf(rank int) float32 {
	const (
		a        = 1e-3
		harmonic = 12 // the sum of 1/rank over the words there are
	)
	share := 1 / (float64(rank) + 2.7) / harmonic
	return float32(a / (a + share))
}

// meaningOf is the weighted sum of the vectors of a text's words, of length 1; nil: it has no word
// that is known.
func meaningOf(text string) []float32 {
	words := vocabulary()
	sum := make([]float32, dimension)
	found := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isSeparator) {
		one, ok := words[word]
		if !ok {
			continue
		}
		found = true
		for i := range sum {
			sum[i] += one.scale * float32(int8(one.numbers[i]))
		}
	}
	if !found || !scaleTo(sum, 1) {
		return nil
	}
	return sum
}

// isSeparator reports what stands between words. An apostrophe does: what stands behind it says
// little.
func isSeparator(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80 || r == '’'
}
