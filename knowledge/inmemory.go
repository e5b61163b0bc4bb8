package knowledge

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"parlance.dev/parlance/platform/vector"
)

// memorySearch ranks the chunks of resident sources without asking Postgres: by the same steps, and with the same
// outcome, as rank does with it. What is of all chunks lies source after source, a source's in their order.
type memorySearch struct {
	p       probe
	sources []*resident
	*memoryDesk
}

// memoryDesk is used again for the next search.
type memoryDesk struct {
	// seats are the chunks that were compared by their vectors; marks say which seat a chunk has, 0 for none.
	seats []seat
	marks []int32
	// scores are the chunks' by words, norms those of lengths.
	scores, norms []float64
	top           vector.Top
	// similarities are all chunks', as far as the codes tell them.
	similarities []float32
	keys         []uint64
	order        []int32
	fused        []fusedSeat
	best         []candidate
	views        []visible
	// begins are where the sources' chunks begin among all, and behind the last how many there are.
	begins   []int
	mean     []float32
	sums     []float64
	question codedQuestion
}

var memoryDesks = sync.Pool{New: func() any { return new(memoryDesk) }}

// seat is a chunk that was compared with the question.
type seat struct {
	source, chunk        int32
	distance, similarity float64
	scores               Scores
}

// newMemorySearch begins a search, of at least one source; it is to be closed.
func newMemorySearch(p probe, sources []*resident) *memorySearch {
	m := &memorySearch{p: p, sources: sources}
	m.memoryDesk, _ = memoryDesks.Get().(*memoryDesk)
	m.views, m.begins = sized(m.views, len(sources)), sized(m.begins, len(sources)+1)
	m.begins[0] = 0
	for i, source := range sources {
		m.views[i], m.begins[i+1] = source.visible, m.begins[i]+source.ChunkCount
	}
	m.seats, m.marks = m.seats[:0], cleared(m.marks, m.total())
	return m
}

func (m *memorySearch) close() { memoryDesks.Put(m.memoryDesk) }

func (m *memorySearch) total() int { return m.begins[len(m.sources)] }

// cleared is a slice of n zeros, the same one if it is large enough.
func cleared[T any](s []T, n int) []T {
	s = sized(s, n)
	clear(s)
	return s
}

// rank is what rank is. A question without a vector, and more chunks than are compared by codes, it cannot rank.
func (m *memorySearch) rank() (r ranking, able bool) {
	square := squareOf(m.p.vector.Slice())
	if square == 0 || m.total() > m.p.coded {
		return ranking{}, false
	}
	if m.p.Ranking != RankHybrid {
		over, near := m.floor(m.nearest(m.p.want, square))
		return m.ranking(near[:over], near[over:]), true
	}
	depth := max(searchDepth, 4*m.p.want)
	over, near := m.floor(m.nearest(depth, square))
	hits, below := slices.Clone(near[:over]), near[over:]
	if words := m.words(depth); len(words) > 0 {
		hits = m.fuse(m.addWorded(hits, words, square), words)
	}
	return m.ranking(hits, below), true
}

// sit compares a chunk with the question; soon is the vector of one whose turn comes soon, if any.
func (m *memorySearch) sit(source, chunk int, square float64, soon []float32) *seat {
	distance := m.sources[source].distanceBefore(chunk, m.p.vector.Slice(), square, soon)
	m.seats = append(m.seats, seat{source: int32(source), chunk: int32(chunk), distance: distance, similarity: similarity(distance)}) //nolint:gosec // small
	m.marks[m.begins[source]+chunk] = int32(len(m.seats))                                                                             //nolint:gosec // small
	return &m.seats[len(m.seats)-1]
}

// nearest are the seats of the chunks nearest to the question, at most limit, nearest first; equal ones in the
// order of source and place.
func (m *memorySearch) nearest(limit int, square float64) []int32 {
	if m.total() <= m.p.exact {
		for source, one := range m.sources {
			for chunk := range one.ChunkCount {
				m.sit(source, chunk, square, nil)
			}
		}
	} else {
		m.sitByCodes(compared(m.total(), limit), square)
	}
	m.keys = m.keys[:0]
	for i := range m.seats {
		one := &m.seats[i]
		m.keys = append(m.keys, vector.Key(float32(one.distance), m.begins[one.source]+int(one.chunk)))
	}
	near := vector.Lowest(m.keys, limit)
	slices.Sort(near)
	m.order = m.order[:0]
	for _, key := range near {
		m.order = append(m.order, m.marks[vector.Place(key)]-1)
	}
	// The others were not asked for: they have no seat for the words either.
	for _, key := range m.keys[len(near):] {
		m.marks[vector.Place(key)] = 0
	}
	return m.order
}

// sitByCodes compares the chunks with the best codes with the question.
func (m *memorySearch) sitByCodes(limit int, square float64) {
	m.question.ask(m.p.vector.Slice())
	m.similarities = m.similarities[:0]
	for _, one := range m.sources {
		m.similarities = m.question.compare(m.similarities, one.codes)
	}
	keys := vector.Pick(&m.top, m.similarities, limit, float32(math.Inf(-1)))
	for i, key := range keys {
		source, chunk := m.spotOf(vector.Place(key))
		var soon []float32
		if i+ahead < len(keys) {
			next, at := m.spotOf(vector.Place(keys[i+ahead]))
			soon = m.sources[next].vector(at)
		}
		m.sit(source, chunk, square, soon)
	}
}

// ahead is how many comparisons before its own a vector is fetched: those of a search over 10,000 chunks took 36 µs of
// processor time with 2 of them, and 57 without.
const ahead = 2

// spotOf is a place among all chunks: the source, and the place in it.
func (m *memorySearch) spotOf(place int) (source, chunk int) {
	at, exact := slices.BinarySearch(m.begins, place)
	if !exact {
		at--
	}
	for m.begins[at+1] == place { // sources without chunks
		at++
	}
	return at, place - m.begins[at]
}

// floor numbers seats that are nearest first, and says how many are over the floor.
func (m *memorySearch) floor(near []int32) (over int, _ []int32) {
	over = len(near)
	for i, at := range near {
		one := &m.seats[at]
		one.scores.SimilarityPlace = i + 1
		if one.similarity < m.p.floor {
			over = min(over, i)
		}
	}
	return over, near
}

// addWorded adds seats for the chunks that the words found and the similarity did not, as far as they are over the floor.
func (m *memorySearch) addWorded(hits []int32, words []candidate, square float64) []int32 {
	for i, word := range words {
		if m.marks[m.begins[word.source]+word.chunk] != 0 {
			continue
		}
		var soon []float32
		if i+ahead < len(words) {
			next := words[i+ahead]
			soon = m.sources[next.source].vector(next.chunk)
		}
		if one := m.sit(word.source, word.chunk, square, soon); one.similarity >= m.p.floor {
			hits = append(hits, int32(len(m.seats)-1)) //nolint:gosec // small
		}
	}
	return hits
}

// fuse orders the hits as fuse and refine do.
func (m *memorySearch) fuse(hits []int32, words []candidate) []int32 {
	places := 0
	for _, word := range words {
		one := &m.seats[m.marks[m.begins[word.source]+word.chunk]-1]
		if one.similarity < m.p.floor {
			continue
		}
		places++
		one.scores.WordPlace, one.scores.WordScore = places, word.score
	}
	for _, at := range hits {
		scores := &m.seats[at].scores
		scores.Fused = reciprocal(scores.SimilarityPlace) + reciprocal(scores.WordPlace)
	}
	m.sortFused(hits)
	if len(hits) < feedbackLeast {
		return hits
	}
	about := m.about(hits[:feedbackChunks])
	square := squareOf(about)
	m.keys = m.keys[:0]
	for i, at := range hits {
		one := &m.seats[at]
		m.keys = append(m.keys, vector.Key(float32(m.sources[one.source].distance(int(one.chunk), about, square)), i))
	}
	slices.Sort(m.keys)
	for place, key := range m.keys {
		scores := &m.seats[hits[vector.Place(key)]].scores
		scores.FeedbackPlace = place + 1
		scores.Fused = reciprocal(scores.FeedbackPlace) + reciprocal(scores.WordPlace)
	}
	m.sortFused(hits)
	return hits
}

// reciprocal is what a place counts for when orders are fused; 0: it has none.
func reciprocal(place int) float64 {
	if place == 0 {
		return 0
	}
	return 1 / float64(fusionK+place)
}

// fusedSeat is what a seat is ordered by.
type fusedSeat struct {
	fused, similarity float64
	source, chunk, at int32
}

// sortFused puts seats in the order of byFused.
func (m *memorySearch) sortFused(hits []int32) {
	m.fused = m.fused[:0]
	for _, at := range hits {
		one := &m.seats[at]
		m.fused = append(m.fused, fusedSeat{one.scores.Fused, one.similarity, one.source, one.chunk, at})
	}
	slices.SortFunc(m.fused, func(x, y fusedSeat) int {
		switch {
		case x.fused > y.fused:
			return -1
		case x.fused < y.fused:
			return 1
		}
		return cmp.Or(cmp.Compare(y.similarity, x.similarity), cmp.Compare(x.source, y.source), cmp.Compare(x.chunk, y.chunk))
	})
	for i, one := range m.fused {
		hits[i] = one.at
	}
}

// about is the question and twice the mean of the best hits, each of length 1.
func (m *memorySearch) about(best []int32) []float32 {
	question := m.p.vector.Slice()
	m.sums = cleared(m.sums, len(question))
	sums := m.sums
	for _, at := range best {
		for i, x := range m.sources[m.seats[at].source].vector(int(m.seats[at].chunk)) {
			sums[i] += float64(x)
		}
	}
	m.mean = sized(m.mean, len(question))
	mean := m.mean
	for i, sum := range sums {
		mean[i] = float32(sum / float64(len(best)))
	}
	asked, found := toUnit(question), toUnit(mean)
	for i, x := range question {
		unit := float32(float64(mean[i]) * found)
		mean[i] = float32(float64(x)*asked) + unit + unit
	}
	return mean
}

// words are the chunks that hold a term of the question, as rankByWords ranks them.
func (m *memorySearch) words(limit int) []candidate {
	chunks, length := m.total(), int64(0)
	for _, source := range m.sources {
		length += source.TermCount
	}
	if length == 0 {
		return nil
	}
	average := float64(length) / float64(chunks)
	words := wordsOf(m.p.Question, m.views)
	m.scores = cleared(m.scores, chunks)
	m.setNorms(average)
	// lists are where each source has the term, and how many times the question does in its language.
	lists := make([]struct {
		times    int
		postings []uint32
	}, len(m.sources))
	for _, term := range words.terms() {
		hash, holding := hashOf(term), 0
		language, times := "", words[""][term]
		for i, source := range m.sources {
			if source.Language != language { // most are of the one before
				language, times = source.Language, words[source.Language][term]
			}
			lists[i].times, lists[i].postings = times, nil
			if times > 0 {
				lists[i].postings = source.terms.find(hash, term)
				holding += len(lists[i].postings)
			}
		}
		idf := math.Log(1 + (float64(chunks)-float64(holding)+0.5)/(float64(holding)+0.5))
		for i, source := range m.sources {
			weight := idf * float64(lists[i].times)
			of, lengths, norms := m.scores[m.begins[i]:m.begins[i+1]], source.lengths, m.norms
			for _, posting := range lists[i].postings {
				chunk, times := posting>>timesBits, float64(posting&timesMask)
				of[chunk] += weight * times * (bm25K1 + 1) / (times + norms[lengths[chunk]])
			}
		}
	}
	return m.bestWorded(limit)
}

// setNorms makes what the length of a text does to its score, for each length.
func (m *memorySearch) setNorms(average float64) {
	longest := int32(0)
	for _, source := range m.sources {
		longest = max(longest, source.longest)
	}
	m.norms = m.norms[:0]
	for length := range longest + 1 {
		m.norms = append(m.norms, bm25K1*(1-bm25B+bm25B*float64(length)/average))
	}
}

// bestWorded are the chunks with the highest scores, best first; equal ones in the order of source and place.
func (m *memorySearch) bestWorded(limit int) []candidate {
	keys := vector.Pick(&m.top, m.scores, limit, math.SmallestNonzeroFloat32)
	slices.Sort(keys)
	m.best = m.best[:0]
	for _, key := range keys {
		place := vector.Place(key)
		source, chunk := m.spotOf(place)
		m.best = append(m.best, candidate{source, chunk, m.scores[place]})
	}
	slices.SortStableFunc(m.best, func(x, y candidate) int { return cmp.Compare(y.score, x.score) }) // which were rounded
	return m.best
}

// ranking makes hits of seats: of those that are read, or of all when the question is after these.
func (m *memorySearch) ranking(hits, below []int32) ranking {
	if !m.p.whole {
		hits = hits[:min(len(hits), m.p.want)]
	}
	return ranking{hits: m.hits(hits), below: m.hits(below[:min(len(below), maxBelow)])}
}

func (m *memorySearch) hits(seats []int32) []hit {
	all := make([]hit, len(seats))
	for i, at := range seats {
		one := &m.seats[at]
		source := m.sources[one.source]
		all[i] = hit{
			ID: source.id(int(one.chunk)), SourceID: source.SourceID, Index: int(one.chunk),
			Distance: one.distance, Similarity: one.similarity, Scores: one.scores,
		}
	}
	return all
}
