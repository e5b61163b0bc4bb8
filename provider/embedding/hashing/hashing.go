package hashing

import (
	"context"
	"math"
	"strings"
	"sync"

	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/provider/embedding"
)

// ModelName changes whenever a vector does: stored vectors are compared by it.
const ModelName = "parlance-lexical-hash-512-v2"

const (
	// defaultFloor is 3.4 standard deviations of what two unrelated texts score by collisions alone.
	defaultFloor = 0.15
	maxBatch     = 256
	// hybridWeight is the least that costs little: .2 to .8 differ by .01 nDCG on CISI, CACM and
	// Cranfield.
	hybridWeight = 0.3
	// gramsWeight is shared by all character runs of a word, relative to the word's own.
	gramsWeight = 0.5
	// Terms of fewer characters have no runs.
	minGramsChars = 4
	// maxMarked is how many characters of a term are looked at, its first boundary mark included.
	maxMarked = 65
)

// Embedder is a built-in embedder. Use New, or First.
type Embedder struct {
	name   string
	vector func(text string) []float32
}

// New makes the embedder.
func New() *Embedder {
	e := &Embedder{name: ModelName}
	pool := sync.Pool{New: func() any { return &scratch{analyser: lexicon.New(""), counts: map[uint64]int{}} }}
	e.vector = func(text string) []float32 {
		d, _ := pool.Get().(*scratch)
		defer pool.Put(d)
		return d.vectorOf(text)
	}
	return e
}

// First makes the embedder of 0.1.0, for vectors that it has made.
func First() *Embedder { return &Embedder{name: FirstModelName, vector: first} }

// Model implements embedding.Embedder.
func (e *Embedder) Model() embedding.Model {
	return embedding.Model{
		Name: e.name, Dimension: dimension, DefaultFloor: defaultFloor, HybridWeight: hybridWeight, MaxBatch: maxBatch, Local: true,
	}
}

// Embed implements embedding.Embedder; questions and passages are treated alike.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors = append(vectors, e.vector(text))
	}
	return vectors, nil
}

// scratch is the memory that embedding one text takes. It is used again for the next text.
type scratch struct {
	analyser *lexicon.Analyser
	terms    []string
	hashes   []uint64
	// counts are how often each term occurs, by its hash.
	counts map[uint64]int
}

// vectorOf embeds a text by its terms. One that is repeated counts by the logarithm: the tenth
// "refund" says little that the third did not.
func (d *scratch) vectorOf(text string) []float32 {
	d.terms = d.analyser.AppendTerms(d.terms[:0], text)
	if len(d.terms) == 0 { // stop words or symbols only: a direction of its own, as cosine needs one
		var s sums
		hash := hashOf('o', strings.ToLower(strings.TrimSpace(text)))
		s.add(hash, 1)
		return s.unit(hash)
	}
	clear(d.counts)
	d.hashes = d.hashes[:0]
	for _, term := range d.terms {
		hash := hashOf('w', term)
		d.hashes = append(d.hashes, hash)
		d.counts[hash]++
	}
	var s sums
	for i, term := range d.terms { // not over counts: the order of a sum is seen in its last digits
		hash := d.hashes[i]
		count := d.counts[hash]
		if count == 0 {
			continue
		}
		d.counts[hash] = 0
		value := weightOf(hash) * (1 + math.Log(float64(count)))
		s.add(hash, value)
		runs := grams(term, maxMarked)
		for _, run := range runs { // they share the value, so that long terms count no more
			s.add(hashOf('g', run), value*gramsWeight/math.Sqrt(float64(len(runs))))
		}
	}
	return s.unit(d.hashes[0])
}
