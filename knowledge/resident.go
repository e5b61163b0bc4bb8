package knowledge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"parlance.dev/parlance/platform/vector"
)

// resident is all that a search needs of a source's set of chunks but their texts, in memory. It is read once
// and never changes: a new set of chunks has a new number, and other vectors are of another model.
type resident struct {
	visible
	lengths []int32
	longest int32
	terms   termTable
	codes   codes
	// vectors are the chunks' one after the other, squares the products of each with itself.
	vectors   []float32
	dimension int
	squares   []float64
	// ids are the chunks' one after the other, and where each of them ends.
	ids    string
	idEnds []int32
}

// residentOverhead is about what a chunk takes beside its vector, its code and its words: id, numbers.
const residentOverhead = 150

// wordsRatio is about how many bytes the words of a chunk take for each of its terms.
const wordsRatio = 8

// residentBytes is about how many bytes a source would take in memory.
func (v visible) residentBytes(dimension int) int {
	return v.ChunkCount*(4*dimension+dimension/8+residentOverhead) + wordsRatio*int(v.TermCount)
}

func (r *resident) id(chunk int) ChunkID {
	begin := int32(0)
	if chunk > 0 {
		begin = r.idEnds[chunk-1]
	}
	return ChunkID(r.ids[begin:r.idEnds[chunk]])
}

func (r *resident) vector(chunk int) []float32 {
	return r.vectors[chunk*r.dimension : (chunk+1)*r.dimension]
}

// distance is 1 - cosine of a chunk's vector and another, whose product with itself is square.
func (r *resident) distance(chunk int, other []float32, square float64) float64 {
	return r.distanceBefore(chunk, other, square, nil)
}

// distanceBefore is distance, before that of another vector: see vector.DotBefore.
func (r *resident) distanceBefore(chunk int, other []float32, square float64, soon []float32) float64 {
	cosine := float64(vector.DotBefore(r.vector(chunk), other, soon)) / math.Sqrt(square*r.squares[chunk])
	return 1 - min(1, max(-1, cosine))
}

// squareOf is the product of a vector with itself.
func squareOf(v []float32) float64 { return float64(vector.Dot(v, v)) }

var errVectors = errors.New("vectors cannot be held in memory")

// setVectors reads vectors as Postgres sends them: two bytes of length, two of nothing, and the numbers.
func (r *resident) setVectors(sent []byte, dimension int) error {
	const head, number = 4, 4
	size := head + number*dimension
	if len(sent) != r.ChunkCount*size {
		return errVectors
	}
	r.dimension, r.vectors, r.squares = dimension, make([]float32, 0, r.ChunkCount*dimension), make([]float64, r.ChunkCount)
	for chunk := range r.ChunkCount {
		one := sent[chunk*size : (chunk+1)*size]
		if int(binary.BigEndian.Uint16(one)) != dimension {
			return errVectors
		}
		for at := head; at < size; at += number {
			r.vectors = append(r.vectors, math.Float32frombits(binary.BigEndian.Uint32(one[at:])))
		}
		square := squareOf(r.vector(chunk))
		if square == 0 || math.IsNaN(square) || math.IsInf(square, 0) {
			return errVectors // Postgres may say where these stand
		}
		r.squares[chunk] = square
	}
	return nil
}

// termTable finds the postings of a term.
type termTable struct {
	// slots are the numbers of terms, from 1, where their hashes send them; 0 is free.
	slots []int32
	terms []termPlace
	names []byte
	// postings are chunk<<timesBits | times.
	postings []uint32
}

// termPlace is where a term's name begins, and its postings: it goes on to where the next one's begin.
type termPlace struct{ name, postings int32 }

const (
	timesBits = 12
	timesMask = 1<<timesBits - 1
	// maxResidentChunks is how many chunks fit beside the times.
	maxResidentChunks = 1 << (32 - timesBits)
)

func hashOf(term string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(term)) // cannot fail
	return hash.Sum32()
}

// newTermTable reads the pages of a source's postings.
func newTermTable(pages [][]byte, chunks int) (t termTable, err error) {
	for _, page := range pages {
		r := unpacker{rest: page}
		for len(r.rest) > 0 {
			t.terms = append(t.terms, termPlace{int32(len(t.names)), int32(len(t.postings))}) //nolint:gosec // a source has some megabytes
			t.names = append(t.names, r.bytes(r.number(len(r.rest)))...)
			chunk := 0
			for range r.number(chunks) {
				chunk += r.number(chunks)
				times := r.number(maxTimes)
				if chunk >= chunks || times > timesMask {
					return t, errPacked
				}
				t.postings = append(t.postings, uint32(chunk)<<timesBits|uint32(times)) //nolint:gosec // both were looked at
			}
			if r.bad {
				return t, errPacked
			}
		}
	}
	t.terms = slices.Clip(append(t.terms, termPlace{int32(len(t.names)), int32(len(t.postings))})) //nolint:gosec // as above
	t.names, t.postings = slices.Clip(t.names), slices.Clip(t.postings)
	size := 4
	for size < 2*len(t.terms) {
		size *= 2
	}
	t.slots = make([]int32, size)
	for n := range len(t.terms) - 1 {
		at := t.slot(hashOf(string(t.name(n))), "")
		t.slots[at] = int32(n) + 1 //nolint:gosec // as above
	}
	return t, nil
}

func (t *termTable) name(n int) []byte { return t.names[t.terms[n].name:t.terms[n+1].name] }

// slot is that of a term, or the free one where it would be; of the empty term the next free one.
func (t *termTable) slot(hash uint32, term string) int {
	mask := len(t.slots) - 1
	for at := int(hash) & mask; ; at = (at + 1) & mask {
		if n := t.slots[at]; n == 0 || term != "" && string(t.name(int(n)-1)) == term {
			return at
		}
	}
}

// find are the postings of a term.
func (t *termTable) find(hash uint32, term string) []uint32 {
	n := t.slots[t.slot(hash, term)]
	if n == 0 {
		return nil
	}
	return t.postings[t.terms[n-1].postings:t.terms[n].postings]
}

// bytes is what the source takes.
func (r *resident) bytes() int {
	return 4*(len(r.lengths)+len(r.terms.slots)+2*len(r.terms.terms)+len(r.terms.postings)+len(r.vectors)+len(r.idEnds)+
		len(r.codes.mean)+2*len(r.codes.scales)) + 8*(len(r.codes.signs)+len(r.squares)) + r.codes.laid.Bytes() + len(r.terms.names) + len(r.ids)
}

// residentRow is a source as it is read to become resident.
type residentRow struct {
	visible
	Lengths []byte `bun:"lengths"`
	Codes   []byte `bun:"codes"`
	Vectors []byte `bun:"vectors"`
	// IDs are joined by commas.
	IDs string `bun:"ids"`
}

// newResident makes a source of what was read. Errors say that it cannot be: Postgres is asked about it.
func newResident(row residentRow, pages [][]byte, dimension int) (*resident, error) {
	k := &resident{visible: row.visible}
	if k.ChunkCount < 1 || k.ChunkCount > maxResidentChunks {
		return nil, fmt.Errorf("%d chunks: %w", k.ChunkCount, errVectors)
	}
	var err error
	if k.lengths, err = readLengths(row.Lengths, k.ChunkCount); err != nil {
		return nil, err
	}
	k.longest = slices.Max(k.lengths)
	if k.codes, err = decode(row.Codes, k.ChunkCount, dimension); err != nil {
		return nil, err
	}
	k.codes.layOut()
	if k.terms, err = newTermTable(pages, k.ChunkCount); err != nil {
		return nil, err
	}
	if err := k.setVectors(row.Vectors, dimension); err != nil {
		return nil, err
	}
	k.idEnds = make([]int32, 0, k.ChunkCount)
	ids := make([]byte, 0, len(row.IDs))
	for i := range len(row.IDs) {
		if row.IDs[i] == ',' {
			k.idEnds = append(k.idEnds, int32(len(ids))) //nolint:gosec // some 30 bytes a chunk
			continue
		}
		ids = append(ids, row.IDs[i])
	}
	k.idEnds = append(k.idEnds, int32(len(ids))) //nolint:gosec // as above
	k.ids = string(ids)
	if len(k.idEnds) != k.ChunkCount {
		return nil, errVectors
	}
	return k, nil
}
