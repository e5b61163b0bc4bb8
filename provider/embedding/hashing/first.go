package hashing

import (
	"cmp"
	"math"
	"strings"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/kljensen/snowball/english"
)

// FirstModelName is the model of 0.1.0.
const FirstModelName = "parlance-lexical-hash-512"

// The weights of the first model's features, relative to a word's 1.
const (
	stopWordWeight   = 0.05
	commonWordWeight = 0.4
	pairWeight       = 0.3
	// firstGramsWeight is shared by all character runs of a word, so that long words count no more.
	firstGramsWeight = 0.3
	maxFirstMarked   = 66
)

// first embeds one text as 0.1.0 did.
func first(text string) []float32 {
	f := features{index: map[uint64]int{}}
	previous := ""
	for it := words.FromString(strings.ToLower(text)); it.Next(); {
		word := it.Value()
		if !strings.ContainsFunc(word, isWordRune) {
			if word != " " && strings.ContainsAny(word, ".!?\n") {
				previous = "" // no pair across sentences
			}
			continue
		}
		word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s")
		weight := cmp.Or(firstWeights[word], 1)
		if weight == stopWordWeight {
			f.add('s', weight, word)
			continue
		}
		stem := english.Stem(word, false)
		f.add('w', weight, stem)
		if previous != "" {
			f.add('p', pairWeight, previous, stem)
		}
		previous = stem
		runs := grams(word, maxFirstMarked)
		for _, run := range runs {
			f.add('g', weight*firstGramsWeight/math.Sqrt(float64(len(runs))), run)
		}
	}
	if len(f.order) == 0 { // symbols only: a direction of their own, as cosine needs one
		f.add('o', 1, strings.TrimSpace(text))
	}
	return f.normalised()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
