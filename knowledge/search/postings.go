package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/lexicon"
)

// termsPerPage is how many terms share a row of source_postings: a row of about a kilobyte.
const termsPerPage = 64

// posting is how often a term occurs in a chunk.
type posting struct {
	chunk int
	times int
}

// SetIndex is what a set's chunks are searched by: which chunks hold each term, how long the chunks
// are, and the codes of their vectors.
type SetIndex struct {
	// Language of most of the text; empty: it could not be told.
	Language string
	// lengths are the chunks' numbers of terms, by index.
	lengths   []int
	termCount int
	// pages are the packed postings; a term lies in the page that pageOf says.
	pages [][]byte
	// codes are packed; empty where vectors are missing.
	codes []byte
}

// BuildIndex makes the index of a set's chunks, which are in their order.
func BuildIndex(chunks []Entry) SetIndex {
	index := SetIndex{Language: languageOf(chunks), lengths: make([]int, len(chunks)), codes: codesOf(chunks)}
	analyser := lexicon.New(index.Language)
	numbers := map[string]int32{}
	var (
		terms   []string // the distinct ones, by their numbers
		counts  []int32  // how often each occurs in the set
		read    []int32  // the numbers of all terms in reading order
		ofChunk []string
	)
	for i, chunk := range chunks {
		ofChunk = analyser.AppendTerms(ofChunk[:0], chunk.Text)
		index.lengths[i] = len(ofChunk)
		index.termCount += len(ofChunk)
		for _, term := range ofChunk {
			n, known := numbers[term]
			if !known {
				n = int32(len(terms)) //nolint:gosec // a set has at most millions of terms
				numbers[term] = n
				terms, counts = append(terms, term), append(counts, 0)
			}
			counts[n]++
			read = append(read, n)
		}
	}
	places := occurrences(read, counts, index.lengths)
	index.pages = make([][]byte, max(1, len(terms)/termsPerPage))
	slices.Sort(terms) // the same chunks make the same bytes
	for _, term := range terms {
		page := &index.pages[pageOf(term, len(index.pages))]
		*page = appendPostings(*page, term, countTimes(places[numbers[term]]))
	}
	return index
}

// countTimes turns the chunks of a term's occurrences, which are in their order, into postings.
func countTimes(chunks []int32) []posting {
	var list []posting
	for _, chunk := range chunks {
		if last := len(list) - 1; last >= 0 && list[last].chunk == int(chunk) {
			list[last].times++
			continue
		}
		list = append(list, posting{int(chunk), 1})
	}
	return list
}

// codesOf are the packed codes of chunks in their order; none where vectors are missing.
func codesOf(chunks []Entry) []byte {
	vectors := make([][]float32, len(chunks))
	for i, chunk := range chunks {
		if vectors[i] = chunk.Embedding.Slice(); len(vectors[i]) == 0 || len(vectors[i]) != len(vectors[0]) {
			return nil
		}
	}
	if len(vectors) == 0 {
		return nil
	}
	return encode(vectors)
}

// occurrences are, for each term, the chunks of its occurrences in their order. read are the terms
// of all chunks, one chunk's after the other's.
func occurrences(read, counts []int32, lengths []int) [][]int32 {
	all := make([]int32, len(read))
	places := make([][]int32, len(counts))
	for n, count := range counts {
		places[n], all = all[:0:count], all[count:]
	}
	at := 0
	for chunk, length := range lengths {
		for _, n := range read[at : at+length] {
			places[n] = append(places[n], int32(chunk)) //nolint:gosec // at most 10,000
		}
		at += length
	}
	return places
}

// languageOf is the language of most of the chunks' text.
func languageOf(chunks []Entry) string {
	const enough = 64 << 10
	var sample strings.Builder
	step := 1 + len(chunks)/32
	for i := 0; i < len(chunks) && sample.Len() < enough; i += step {
		sample.WriteString(chunks[i].Text)
		sample.WriteByte('\n')
	}
	return lexicon.Detect(sample.String())
}

// pageOf is the page of a term among so many.
func pageOf(term string, pages int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(term))          // cannot fail
	return int(hash.Sum32() % uint32(pages)) //nolint:gosec // a source has at most millions of words
}

// appendPostings packs a term: its length and bytes, how many chunks hold it, and for each the
// distance from the chunk before and how often it occurs, all numbers as uvarints.
func appendPostings(page []byte, term string, list []posting) []byte {
	page = binary.AppendUvarint(page, uint64(len(term)))
	page = append(page, term...)
	page = binary.AppendUvarint(page, uint64(len(list)))
	last := 0
	for _, p := range list {
		page = binary.AppendUvarint(page, uint64(p.chunk-last)) //nolint:gosec // ascending
		page = binary.AppendUvarint(page, uint64(p.times))      //nolint:gosec // positive
		last = p.chunk
	}
	return page
}

var errPacked = errors.New("packed postings cannot be read")

// postingsPage is a row of source_postings with the places of its terms, which are in their order.
type postingsPage struct {
	packed []byte
	at     []int32
}

// bytes is what the page takes in memory.
func (p postingsPage) bytes() int { return len(p.packed) + 4*len(p.at) }

// readPage looks where the terms of a packed page are.
func readPage(packed []byte, chunks int) (postingsPage, error) {
	page := postingsPage{packed: packed}
	r := unpacker{rest: packed}
	var last []byte
	for len(r.rest) > 0 {
		page.at = append(page.at, int32(len(packed)-len(r.rest))) //nolint:gosec // a page is small
		term := r.bytes(r.number(len(r.rest)))
		r.skip(2 * r.number(chunks))
		if r.bad || bytes.Compare(last, term) >= 0 {
			return postingsPage{}, errPacked
		}
		last = term
	}
	return page, nil
}

// find returns how many chunks hold the term, and their packed postings.
func (p postingsPage) find(term string) (count int, packed []byte) {
	at, there := slices.BinarySearchFunc(p.at, term, func(at int32, term string) int {
		r := unpacker{rest: p.packed[at:]}
		switch have := r.bytes(r.number(len(r.rest))); {
		case string(have) < term:
			return -1
		case string(have) > term:
			return 1
		}
		return 0
	})
	if !there {
		return 0, nil
	}
	r := unpacker{rest: p.packed[p.at[at]:]}
	r.bytes(r.number(len(r.rest)))
	count = r.number(len(p.packed))
	return count, r.rest
}

// maxTimes is more often than a term can occur in a chunk.
const maxTimes = 1 << 30

// packLengths packs the chunks' lengths as uvarints.
func packLengths(lengths []int) []byte {
	packed := make([]byte, 0, 2*len(lengths))
	for _, length := range lengths {
		packed = binary.AppendUvarint(packed, uint64(length)) //nolint:gosec // not negative
	}
	return packed
}

func readLengths(packed []byte, count int) ([]int32, error) {
	r := unpacker{rest: packed}
	lengths := make([]int32, count)
	for i := range lengths {
		lengths[i] = int32(r.number(maxTimes)) //nolint:gosec // at most maxTimes
	}
	if r.bad || len(r.rest) > 0 {
		return nil, errPacked
	}
	return lengths, nil
}

// unpacker reads uvarints. bad says that something was not one.
type unpacker struct {
	rest []byte
	bad  bool
}

// number is the next number, at most limit.
func (u *unpacker) number(limit int) int {
	if len(u.rest) > 0 && u.rest[0] < 0x80 && int(u.rest[0]) <= limit { // nearly all
		n := int(u.rest[0])
		u.rest = u.rest[1:]
		return n
	}
	n, size := binary.Uvarint(u.rest)
	if size <= 0 || n > uint64(limit) { //nolint:gosec // limits are positive
		u.bad, u.rest = true, nil
		return 0
	}
	u.rest = u.rest[size:]
	return int(n) //nolint:gosec // at most limit
}

// skip passes so many numbers.
func (u *unpacker) skip(count int) {
	at := 0
	for ; count > 0 && at < len(u.rest); at++ {
		if u.rest[at] < 0x80 { // the last byte of a number
			count--
		}
	}
	u.bad, u.rest = u.bad || count > 0, u.rest[at:]
}

func (u *unpacker) bytes(n int) []byte {
	if n > len(u.rest) {
		u.bad, u.rest = true, nil
		return nil
	}
	out := u.rest[:n]
	u.rest = u.rest[n:]
	return out
}
