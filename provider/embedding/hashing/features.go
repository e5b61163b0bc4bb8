package hashing

import (
	"math"
	"unicode/utf8"
)

const (
	dimension = 512
	// spots is how many of the numbers a feature goes to, 16 bits of its hash each. With one,
	// short texts that share nothing pass the floor when a few heavy features collide.
	spots = 4
)

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

// normalised hashes the features into a vector of length 1. A feature that is repeated counts
// by the logarithm: the tenth "refund" says little that the third did not.
func (f *features) normalised() []float32 {
	var s sums
	for _, feature := range f.order {
		s.add(feature.hash, feature.weight*(1+math.Log(feature.count)))
	}
	return s.unit(f.order[0].hash)
}

// sums are the numbers of a vector before it is scaled.
type sums [dimension]float64

// add puts a feature's value to its numbers, with their signs.
func (s *sums) add(hash uint64, value float64) {
	for spot := range spots {
		bits := hash >> (spot * 16)
		// The 16th bit turns the sign; a branch would be guessed wrong every other time.
		s[bits%dimension] += math.Float64frombits(math.Float64bits(value) ^ bits>>15<<63)
	}
}

// unit is the vector of length 1; features that cancel each other out, which takes a collision,
// become the one of the hash.
func (s *sums) unit(hash uint64) []float32 {
	var square float64
	for _, sum := range s {
		square += sum * sum
	}
	if square == 0 {
		s[hash%dimension], square = 1, 1
	}
	scale := 1 / math.Sqrt(square)
	out := make([]float32, dimension)
	for i, sum := range s {
		out[i] = float32(sum * scale)
	}
	return out
}

// FNV-1a's numbers for 64 bits.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

// hashOf is FNV-1a with a finaliser (murmur3's), as FNV's high bits are weak on short strings.
func hashOf(kind byte, parts ...string) uint64 {
	hash := (fnvOffset ^ uint64(kind)) * fnvPrime
	for i, part := range parts {
		if i > 0 {
			hash = (hash ^ 0xFF) * fnvPrime
		}
		for i := range len(part) {
			hash = (hash ^ uint64(part[i])) * fnvPrime
		}
	}
	hash = (hash ^ 0xFF) * fnvPrime
	hash = (hash ^ hash>>33) * 0xff51afd7ed558ccd
	hash = (hash ^ hash>>33) * 0xc4ceb9fe1a85ec53
	return hash ^ hash>>33
}

// grams are the runs of 3 and 4 characters of a word between its boundary marks, of which the first
// maxMarked are looked at. Short words have none.
func grams(word string, maxMarked int) []string {
	if utf8.RuneCountInString(word) < minGramsChars {
		return nil
	}
	marked := "^" + word + "$"
	var starts []int // of the characters, and the end
	for i := range marked {
		starts = append(starts, i)
	}
	starts = append(starts, len(marked))
	starts = starts[:min(len(starts), maxMarked+1)]
	var runs []string
	for size := 3; size <= 4; size++ {
		for i := range starts[:len(starts)-size] {
			runs = append(runs, marked[starts[i]:starts[i+size]])
		}
	}
	return runs
}
