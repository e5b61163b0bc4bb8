package hashing

import (
	"context"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/kljensen/snowball/english"

	"parlance.dev/parlance/provider/embedding"
)

// ModelName changes whenever a vector does: stored vectors are compared by it.
const ModelName = "parlance-lexical-hash-512"

const (
	dimension = 512
	// defaultFloor is 3.4 standard deviations of what two unrelated texts score by collisions alone.
	defaultFloor = 0.15
	maxBatch     = 256
	// spots is how many of the numbers a feature goes to, 16 bits of its hash each. With one,
	// short texts that share nothing pass the floor when a few heavy features collide.
	spots = 4
)

// The weights of features, relative to a word's 1.
const (
	stopWordWeight   = 0.05
	commonWordWeight = 0.4
	pairWeight       = 0.3
	// gramsWeight is shared by all character runs of a word, so that long words count no more.
	gramsWeight = 0.3
)

// Embedder is the built-in embedder. Use New.
type Embedder struct{}

// New makes the embedder.
func New() *Embedder { return &Embedder{} }

// Model implements embedding.Embedder.
func (*Embedder) Model() embedding.Model {
	return embedding.Model{Name: ModelName, Dimension: dimension, DefaultFloor: defaultFloor, MaxBatch: maxBatch, Local: true}
}

// Embed implements embedding.Embedder; questions and passages are treated alike.
func (*Embedder) Embed(ctx context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors = append(vectors, vector(text))
	}
	return vectors, nil
}

// features are the weights of a text's features by their hash, and how often each occurred.
// Iteration order must not matter to the result, so order keeps the first occurrence.
type features struct {
	index map[uint64]int
	order []feature
}

type feature struct {
	hash   uint64
	weight float64
	count  float64
}

func (f *features) add(kind byte, weight float64, parts ...string) {
	hash := hashOf(kind, parts...)
	if i, ok := f.index[hash]; ok {
		f.order[i].count++
		return
	}
	f.index[hash] = len(f.order)
	f.order = append(f.order, feature{hash, weight, 1})
}

// vector embeds one text.
func vector(text string) []float32 {
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
		if stopWords[word] {
			f.add('s', stopWordWeight, word)
			continue
		}
		stem := english.Stem(word, false)
		weight := 1.0
		if commonWords[word] {
			weight = commonWordWeight
		}
		f.add('w', weight, stem)
		if previous != "" {
			f.add('p', pairWeight, previous, stem)
		}
		previous = stem
		addGrams(&f, word, weight)
	}
	if len(f.order) == 0 { // symbols only: a direction of their own, as cosine needs one
		f.add('o', 1, strings.TrimSpace(text))
	}
	return f.normalised()
}

// addGrams adds the runs of 3 and 4 characters of a word between its boundary marks.
func addGrams(f *features, word string, wordWeight float64) {
	if utf8.RuneCountInString(word) < 4 {
		return
	}
	marked := []rune("^" + word + "$")
	if len(marked) > 66 {
		marked = marked[:66]
	}
	weight := wordWeight * gramsWeight / math.Sqrt(float64(2*len(marked)-5))
	for size := 3; size <= 4; size++ {
		for i := 0; i+size <= len(marked); i++ {
			f.add('g', weight, string(marked[i:i+size]))
		}
	}
}

// normalised hashes the features into a vector of length 1. A feature that is repeated counts
// by the logarithm: the tenth "refund" says little that the third did not.
func (f *features) normalised() []float32 {
	var sums [dimension]float64
	for _, feature := range f.order {
		value := feature.weight * (1 + math.Log(feature.count))
		for spot := range spots {
			bits := feature.hash >> (spot * 16)
			if bits>>15&1 == 1 {
				sums[bits%dimension] -= value
			} else {
				sums[bits%dimension] += value
			}
		}
	}
	var square float64
	for _, sum := range sums {
		square += sum * sum
	}
	if square == 0 { // features that cancel each other out, which takes a collision
		sums[f.order[0].hash%dimension], square = 1, 1
	}
	scale := 1 / math.Sqrt(square)
	out := make([]float32, dimension)
	for i, sum := range sums {
		out[i] = float32(sum * scale)
	}
	return out
}

// hashOf is FNV-1a with a finaliser (murmur3's), as FNV's high bits are weak on short strings.
func hashOf(kind byte, parts ...string) uint64 {
	hash := (uint64(14695981039346656037) ^ uint64(kind)) * 1099511628211
	for _, part := range parts {
		for i := range len(part) {
			hash = (hash ^ uint64(part[i])) * 1099511628211
		}
		hash = (hash ^ 0xFF) * 1099511628211
	}
	hash = (hash ^ hash>>33) * 0xff51afd7ed558ccd
	hash = (hash ^ hash>>33) * 0xc4ceb9fe1a85ec53
	return hash ^ hash>>33
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
