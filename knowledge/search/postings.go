package search

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"parlance.dev/parlance/platform/lexicon"
)

// termsPerPage is how many terms share a row of source_postings: a row of about a kilobyte.
const termsPerPage = 64

// WordsVersion is raised whenever an index has other terms for the same text.
const WordsVersion = lexicon.Version + 1

// posting is how often a term occurs in a chunk.
type posting struct{ chunk, times int32 }

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
	postings := map[string]*[]posting{}
	var terms []string
	for i, chunk := range chunks {
		text := lexicon.Visible(chunk.Title + "\n" + chunk.Text)
		terms = append(analyser.AppendTerms(terms[:0], text), codesIn(text)...)
		index.lengths[i] = len(terms)
		index.termCount += len(terms)
		for _, term := range terms {
			list := postings[term]
			if list == nil {
				list = new([]posting)
				postings[term] = list
			}
			if last := len(*list) - 1; last >= 0 && (*list)[last].chunk == int32(i) {
				(*list)[last].times++
			} else {
				*list = append(*list, posting{int32(i), 1})
			}
		}
	}
	index.pages = make([][]byte, max(1, len(postings)/termsPerPage))
	for _, term := range slices.Sorted(maps.Keys(postings)) { // the same chunks make the same bytes
		page := &index.pages[pageOf(term, len(index.pages))]
		*page = appendPostings(*page, term, *postings[term])
	}
	return index
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
	_, _ = hash.Write([]byte(term)) // cannot fail
	return int(hash.Sum32() % uint32(pages))
}

// appendPostings packs a term: its length and bytes, how many chunks hold it, and for each the
// distance from the chunk before and how often it occurs, all numbers as uvarints.
func appendPostings(page []byte, term string, list []posting) []byte {
	page = binary.AppendUvarint(page, uint64(len(term)))
	page = append(page, term...)
	page = binary.AppendUvarint(page, uint64(len(list)))
	last := int32(0)
	for _, p := range list {
		page = binary.AppendUvarint(page, uint64(p.chunk-last))
		page = binary.AppendUvarint(page, uint64(p.times))
		last = p.chunk
	}
	return page
}

var errPacked = errors.New("packed postings cannot be read")

// postingsPage is a row of source_postings, unpacked.
type postingsPage struct {
	// terms are in their order, parts of one text.
	terms []string
	// ends are where the postings of each term end.
	ends     []int32
	postings []posting
}

// bytes is what the page takes in memory.
func (p postingsPage) bytes() int {
	const text, end, each = 24, 4, 8 // a term of eight letters
	return (text+end)*len(p.terms) + each*len(p.postings)
}

// readPage unpacks a page of a set of so many chunks.
func readPage(packed []byte, chunks int) (postingsPage, error) {
	var page postingsPage
	r, text := unpacker{rest: packed}, string(packed)
	for len(r.rest) > 0 {
		length := r.number(len(r.rest))
		begin := len(packed) - len(r.rest)
		term := text[begin : begin+len(r.bytes(length))]
		if last := len(page.terms) - 1; last >= 0 && page.terms[last] >= term {
			return postingsPage{}, errPacked
		}
		chunk := 0
		for range r.number(chunks) {
			chunk += r.number(chunks)
			page.postings = append(page.postings, posting{int32(chunk), int32(r.number(maxTimes))})
			if r.bad || chunk >= chunks {
				return postingsPage{}, errPacked
			}
		}
		page.terms, page.ends = append(page.terms, term), append(page.ends, int32(len(page.postings)))
	}
	if r.bad {
		return postingsPage{}, errPacked
	}
	return page, nil
}

// find returns the postings of a term.
func (p postingsPage) find(term string) []posting {
	at, found := slices.BinarySearch(p.terms, term)
	if !found {
		return nil
	}
	begin := int32(0)
	if at > 0 {
		begin = p.ends[at-1]
	}
	return p.postings[begin:p.ends[at]]
}

// maxTimes is more often than a term can occur in a chunk.
const maxTimes = 1 << 30

// packLengths packs the chunks' lengths as uvarints.
func packLengths(lengths []int) []byte {
	packed := make([]byte, 0, 2*len(lengths))
	for _, length := range lengths {
		packed = binary.AppendUvarint(packed, uint64(length))
	}
	return packed
}

func readLengths(packed []byte, count int) ([]int32, error) {
	r := unpacker{rest: packed}
	lengths := make([]int32, count)
	for i := range lengths {
		lengths[i] = int32(r.number(maxTimes))
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
	n, size := binary.Uvarint(u.rest)
	if size <= 0 || n > uint64(limit) {
		u.bad, u.rest = true, nil
		return 0
	}
	u.rest = u.rest[size:]
	return int(n)
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
