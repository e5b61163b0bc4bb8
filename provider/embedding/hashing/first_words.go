package hashing

import (
	_ "embed"
	"strings"
)

// firstWordsText has English words after their weight in the first model: stop words are in nearly
// every text and question, common words in many texts. Changing them changes the vectors.
//
//go:embed first_words.txt
var firstWordsText string

// firstWeights are the weights of the words in firstWordsText.
var firstWeights = func() map[string]float64 {
	weights := map[string]float64{}
	for line := range strings.Lines(firstWordsText) {
		class, words, _ := strings.Cut(line, " ")
		for word := range strings.FieldsSeq(words) {
			weights[word] = map[string]float64{"stop": stopWordWeight, "common": commonWordWeight}[class]
		}
	}
	return weights
}()
