package knowledge

import (
	"slices"
	"strings"
)

// Budgets of a prompt in tokens (cl100k, as the chunks are counted).
const (
	// maxAlwaysTokens is for sources in usage mode prompt. Attach refuses what does not fit.
	maxAlwaysTokens = 8000
	// maxFoundTokens is for the passages of a turn.
	maxFoundTokens = 8000
	// widened is how many of the best passages get their neighbours, as long as they are short of
	// maxWideTokens: what answers often stands before or behind the words that were asked for.
	widened       = 2
	maxWideTokens = 1200
)

// nearlyEqual is the share of words two passages have in common when one of them adds nothing.
const nearlyEqual = 0.9

// Use says what became of a chunk that a turn's search considered.
type Use string

// The uses.
const (
	UsePassage Use = "passage"
	// UseMerged: it follows another passage of its source, and is part of that.
	UseMerged Use = "merged"
	// UseDuplicate: another passage says nearly the same.
	UseDuplicate Use = "duplicate"
	// UseOverBudget: the prompt was full.
	UseOverBudget Use = "over_budget"
	// UseCrowdedOut: top_k others rank higher.
	UseCrowdedOut Use = "crowded_out"
	// UseBelowFloor: its similarity is under the floor.
	UseBelowFloor Use = "below_floor"
)

// Considered is a chunk that a search looked at, and what became of it.
type Considered struct {
	ChunkID    ChunkID
	SourceID   SourceID
	Similarity float64
	Scores     Scores
	Use        Use
}

// Trace says how the passages of a turn were chosen.
type Trace struct {
	Ranking  Ranking
	Model    string
	Floor    float64
	Reranked Reranked
	// Considered are in the order of the ranking; those under the floor come last.
	Considered []Considered
}

// considered says what became of the chunk.
func (f *Found) considered(use Use) Considered {
	return Considered{ChunkID: f.ID, SourceID: f.SourceID, Similarity: f.Similarity, Scores: f.Scores, Use: use}
}

// Passage is a part of a source for a prompt: a chunk, or some that follow each other.
type Passage struct {
	// ChunkID is of its best chunk.
	ChunkID    ChunkID
	SourceID   SourceID
	SourceName string
	// Heading is the path of headings, joined by " > ".
	Heading string
	Content string
	// Similarity is 0 for a passage that is always in the prompt: it was not compared.
	Similarity float64
	// PageStart and PageEnd count from 1; 0 for types without pages.
	PageStart int
	PageEnd   int
	// CharStart and CharEnd count characters of the extracted text, end exclusive.
	CharStart int
	CharEnd   int
	// Always says that its source is attached in usage mode prompt.
	Always bool
}

func passageOf(f Found, always bool) Passage {
	return Passage{
		ChunkID: f.ID, SourceID: f.SourceID, SourceName: f.SourceName, Heading: f.Heading, Content: f.Content,
		Similarity: f.Similarity, PageStart: f.PageStart, PageEnd: f.PageEnd, CharStart: f.CharStart, CharEnd: f.CharEnd, Always: always,
	}
}

// passage is chunks of a source that follow each other.
type passage struct {
	chunks []Found
	tokens int
}

// choose makes at most topK passages of what was found, best first: what says nearly the same is
// left out, chunks that follow each other become one passage, and all fit the budget.
func choose(found []Found, topK int) (passages []passage, considered []Considered) {
	considered = make([]Considered, 0, len(found))
	var seen []wordSet
	left, used := maxFoundTokens, 0
	for i := range found {
		one := &found[i]
		use := UsePassage
		at := slices.IndexFunc(passages, func(p passage) bool { return p.touches(one) })
		switch {
		case used == topK:
			use = UseCrowdedOut
		case slices.ContainsFunc(seen, func(other wordSet) bool { return one.words.overlap(other) >= nearlyEqual }):
			use = UseDuplicate
		case one.TokenCount > left && used > 0:
			use = UseOverBudget
		case at >= 0:
			use = UseMerged
			passages[at].add(*one)
		default:
			passages = append(passages, passage{chunks: []Found{*one}, tokens: one.TokenCount})
		}
		if use == UsePassage || use == UseMerged {
			used, left, seen = used+1, left-one.TokenCount, append(seen, one.words)
		}
		considered = append(considered, one.considered(use))
	}
	return passages, considered
}

// touches says whether a chunk stands just before or behind the passage.
func (p *passage) touches(one *Found) bool {
	first, last := &p.chunks[0], &p.chunks[len(p.chunks)-1]
	return one.SourceID == first.SourceID && (one.Index == first.Index-1 || one.Index == last.Index+1)
}

func (p *passage) add(one Found) {
	if one.Index < p.chunks[0].Index {
		p.chunks = slices.Insert(p.chunks, 0, one)
	} else {
		p.chunks = append(p.chunks, one)
	}
	p.tokens += one.TokenCount
}

// before is where the chunk before the passage stands.
func (p *passage) before() spot {
	first := p.chunks[0].spot
	return spot{first.set, first.chunk - 1}
}

// behind is where the chunk behind the passage stands.
func (p *passage) behind() spot {
	last := p.chunks[len(p.chunks)-1].spot
	return spot{last.set, last.chunk + 1}
}

// taken says whether the chunk at a spot is part of a passage.
func taken(passages []passage, at spot) bool {
	return slices.ContainsFunc(passages, func(p passage) bool {
		return slices.ContainsFunc(p.chunks, func(f Found) bool { return f.spot == at })
	})
}

// asPassage is the passage for a prompt: its text once, though chunks overlap, and the id and
// scores of its best chunk.
func (p *passage) asPassage() Passage {
	best := p.chunks[0]
	for _, one := range p.chunks[1:] {
		if one.Scores.place() != 0 && (best.Scores.place() == 0 || one.Scores.place() < best.Scores.place()) {
			best = one
		}
	}
	made := passageOf(best, false)
	made.Content = p.text()
	made.PageStart, made.PageEnd = p.chunks[0].PageStart, p.chunks[len(p.chunks)-1].PageEnd
	made.CharStart, made.CharEnd = p.chunks[0].CharStart, p.chunks[len(p.chunks)-1].CharEnd
	return made
}

// place is a place to compare chunks of one passage by; 0: it was not ranked.
func (s Scores) place() int {
	if s.SimilarityPlace == 0 {
		return s.WordPlace
	}
	return s.SimilarityPlace
}

// text joins the chunks' texts. Where a chunk begins before the one before it ends, the part that
// both have is taken once.
func (p *passage) text() string {
	var b strings.Builder
	for i, one := range p.chunks {
		text := one.Content
		if i > 0 {
			shared := shared(p.chunks[i-1].Content, text, p.chunks[i-1].CharEnd-one.CharStart)
			if text = text[shared:]; shared == 0 {
				b.WriteString("\n\n")
			}
		}
		b.WriteString(text)
	}
	return b.String()
}
