package vector

import "encoding/binary"

// blockVectors are compared at once.
const blockVectors = 32

// maxSignBytes is up to how many bytes of signs a sum fits its 16 bits.
const maxSignBytes = 512

// Signs are the signs of many vectors of one length, a bit for each number, laid out for Sums: byte by byte, those of 32
// vectors side by side.
type Signs struct {
	// count is how many vectors there are, width how many bytes each has.
	count, width int
	blocks       []byte
}

// NewSigns lays out the signs of vectors of so many words; bits of a word count from the lowest. It has none where this
// processor gains nothing by them, and for very long vectors: see Any.
func NewSigns(words []uint64, each int) Signs {
	width := 8 * each
	if !wide || each == 0 || width > maxSignBytes {
		return Signs{}
	}
	s := Signs{count: len(words) / each, width: width}
	s.blocks = make([]byte, (s.count+blockVectors-1)/blockVectors*blockVectors*width)
	for i := range s.count {
		block := s.blocks[i/blockVectors*blockVectors*width:]
		for at := range width {
			block[at*blockVectors+seatOf(i%blockVectors)] = byte(words[i*each+at/8] >> (at % 8 * 8))
		}
	}
	return s
}

// seatOf is where a vector's byte lies among those of its block: the sums of the even ones come first.
func seatOf(i int) int {
	if i < blockVectors/2 {
		return 2 * i
	}
	return 2*(i-blockVectors/2) + 1
}

// Any says that there are some.
func (s Signs) Any() bool { return s.count > 0 }

// Bytes is what they take.
func (s Signs) Bytes() int { return len(s.blocks) }

// Weights are what a question's numbers weigh where a sign is set; made by Set.
type Weights struct{ tables []byte }

const (
	nibble = 16
	// lift keeps the entries of tables positive.
	lift = 32
)

// Set prepares weights of -8 to 7, one for each bit of a vector, for sums.
func (w *Weights) Set(weights []int8) {
	if need := len(weights) / 4 * nibble; cap(w.tables) < need {
		w.tables = make([]byte, need)
	} else {
		w.tables = w.tables[:need]
	}
	for at := 0; at+4 <= len(weights); at += 4 {
		four, table := (*[4]int8)(weights[at:]), (*[nibble]byte)(w.tables[at/4*nibble:])
		// Eight entries at once: whatever one borrows from the next is given back, as the sums are of 0 to 64.
		low := uint64(lift*everyByte + int64(four[0])*secondBytes + int64(four[1])*secondPairs + int64(four[2])*secondFours)
		binary.LittleEndian.PutUint64(table[:], low)
		binary.LittleEndian.PutUint64(table[8:], low+uint64(int64(four[3])*everyByte))
	}
}

// A 1 in each byte of eight, in each second one, in those of each second pair and of the second four.
const (
	everyByte   = 0x0101010101010101
	secondBytes = 0x0100010001000100
	secondPairs = 0x0101000001010000
	secondFours = 0x0101010100000000
)

// Sums adds, for each vector, the weights where its sign is set. out has room for as many as there are vectors, rounded
// up to 32.
func (s Signs) Sums(w *Weights, out []int32) {
	if len(w.tables) != 2*nibble*s.width {
		panic("vector: weights for signs of another length")
	}
	var sums [blockVectors]uint16
	less := int32(2 * lift * s.width) //nolint:gosec // at most 32,768
	for at := 0; at*s.width < len(s.blocks); at += blockVectors {
		sumsWide(&sums, &s.blocks[at*s.width], &w.tables[0], s.width)
		some := (*[blockVectors]int32)(out[at:])
		for i, sum := range sums {
			some[i] = int32(sum) - less
		}
	}
}
