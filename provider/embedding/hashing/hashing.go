package hashing

import (
	"context"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/provider/embedding"
)

// ModelName changes whenever a vector does: stored vectors are compared by it.
const ModelName = "parlance-lexical-hash-512-v2"

const (
	// defaultFloor is 3.4 standard deviations of what two unrelated texts score by collisions alone.
	defaultFloor = 0.15
	maxBatch     = 256
	// gramsWeight is shared by all character runs of a word, relative to the word's own.
	gramsWeight = 0.5
	// Terms of fewer characters have no runs; of longer ones the rest is not looked at.
	minGramsChars = 4
	maxGramsChars = 64
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
	return embedding.Model{Name: e.name, Dimension: dimension, DefaultFloor: defaultFloor, MaxBatch: maxBatch, Local: true}
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
		s.addGrams(term, value*gramsWeight)
	}
	return s.unit(d.hashes[0])
}

// addGrams adds the runs of 3 and 4 characters of a term between its boundary marks, which share
// the value so that long terms count no more. Short terms have none.
func (s *sums) addGrams(term string, value float64) {
	if len(term) < maxGramsChars && isASCII(term) {
		s.addASCIIGrams(term, value)
		return
	}
	s.addAnyGrams(term, value)
}

// addAnyGrams is addGrams for terms of any script and length.
func (s *sums) addAnyGrams(term string, value float64) {
	if utf8.RuneCountInString(term) < minGramsChars {
		return
	}
	marked := "^" + term + "$"
	var starts [maxGramsChars + 3]int // of the characters, and the end
	n := 0
	for i := range marked {
		if n == maxGramsChars+2 {
			break
		}
		starts[n] = i
		n++
	}
	if n < maxGramsChars+2 {
		starts[n] = len(marked)
	} else {
		n--
	}
	value /= math.Sqrt(float64(2*n - 5))
	for size := 3; size <= 4; size++ {
		for i := 0; i+size <= n; i++ {
			s.add(hashOf('g', marked[starts[i]:starts[i+size]]), value)
		}
	}
}

// addASCIIGrams is addGrams for what most terms are.
func (s *sums) addASCIIGrams(term string, value float64) {
	if len(term) < minGramsChars {
		return
	}
	var marked [maxGramsChars + 2]byte
	marked[0] = '^'
	n := 1 + copy(marked[1:], term)
	marked[n] = '$'
	n++
	value /= math.Sqrt(float64(2*n - 5))
	var fours [maxGramsChars]uint64 // runs of 3 come first, and begin those of 4
	for i := 0; i+3 <= n; i++ {
		state := begun('g')
		for _, b := range marked[i : i+3] {
			state = (state ^ uint64(b)) * fnvPrime
		}
		s.add(finished(state), value)
		if i+4 <= n {
			fours[i] = (state ^ uint64(marked[i+3])) * fnvPrime
		}
	}
	for _, state := range fours[:n-3] {
		s.add(finished(state), value)
	}
}

func isASCII(term string) bool {
	for i := range len(term) {
		if term[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
