package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/workspaces"
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

// passage is chunks of a source that follow each other.
type passage struct {
	chunks []Found
	tokens int
}

// choose makes at most topK passages of what was found, best first: what says nearly the same is
// left out, chunks that follow each other become one passage, and all fit the budget.
func choose(found []Found, topK int) (passages []passage, considered []Considered) {
	considered = make([]Considered, 0, len(found)+maxBelow) // its caller's few more
	var seen []wordSet
	left, used := maxFoundTokens, 0
	for i := range found {
		one := &found[i]
		use := UsePassage
		words := one.words
		if words == nil && used < topK {
			words = wordsIn(one.Content)
		}
		at := slices.IndexFunc(passages, func(p passage) bool { return p.touches(one) })
		switch {
		case used == topK:
			use = UseCrowdedOut
		case slices.ContainsFunc(seen, func(other wordSet) bool { return words.overlap(other) >= nearlyEqual }):
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
			used, left, seen = used+1, left-one.TokenCount, append(seen, words)
		}
		considered = append(considered, Considered{ChunkID: one.ID, SourceID: one.SourceID, Similarity: one.Similarity, Scores: one.Scores, Use: use})
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

// wordSet are the hashes of the different words of a text in lower case, ascending.
type wordSet []uint64

// FNV-1a of 64 bits. Source: Fowler, Noll, Vo and Eastlake, RFC 9923.
const (
	hashOffset = 14695981039346656037
	hashPrime  = 1099511628211
)

func wordsIn(text string) wordSet {
	words := make(wordSet, 0, len(text)/4)
	hash := uint64(hashOffset)
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
		case r >= 'A' && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			r = unicode.ToLower(r)
		default:
			if hash != hashOffset {
				words, hash = append(words, hash), hashOffset
			}
			continue
		}
		hash = (hash ^ uint64(r)) * hashPrime //nolint:gosec // a character
	}
	if hash != hashOffset {
		words = append(words, hash)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// overlap is the share of all words of two sets that both have.
func (w wordSet) overlap(other wordSet) float64 {
	if len(w) == 0 || len(other) == 0 {
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(w) && j < len(other); {
		switch {
		case w[i] < other[j]:
			i++
		case w[i] > other[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(w)+len(other)-both)
}

// widen gives the best passages the chunks before and behind them that stand under the same
// heading, the later first, as long as there is room.
func widen(ctx context.Context, db bun.IDB, ref workspaces.Ref, passages []passage, got searched) error {
	best := passages[:min(widened, len(passages))]
	read, err := readNeighbours(ctx, db, ref, best, got)
	if err != nil {
		return err
	}
	known := [][]Found{got.found, got.beside, read}
	left := maxFoundTokens
	for _, p := range passages {
		left -= p.tokens
	}
	for i := range best {
		p := &best[i]
		for _, behind := range []bool{true, false} {
			one := p.neighbour(known, behind)
			if one == nil || taken(passages, one.ID) || p.tokens+one.TokenCount > maxWideTokens || one.TokenCount > left {
				continue
			}
			left -= one.TokenCount
			add := *one
			add.Similarity, add.Scores = 0, Scores{} // a neighbour is not there for what it scored
			p.add(add)
		}
	}
	return nil
}

// neighbour is the chunk behind or before the passage, under the same heading; nil: it is not known.
func (p *passage) neighbour(known [][]Found, behind bool) *Found {
	index := p.chunks[0].Index - 1
	if behind {
		index = p.chunks[len(p.chunks)-1].Index + 1
	}
	for _, some := range known {
		for i := range some {
			if n := &some[i]; n.Index == index && n.SourceID == p.chunks[0].SourceID && n.Heading == p.chunks[0].Heading {
				return n
			}
		}
	}
	return nil
}

func taken(passages []passage, id ChunkID) bool {
	for _, p := range passages {
		for i := range p.chunks {
			if p.chunks[i].ID == id {
				return true
			}
		}
	}
	return false
}

// readNeighbours reads the chunks before and behind passages, as far as the search has not read them.
func readNeighbours(ctx context.Context, db bun.IDB, ref workspaces.Ref, passages []passage, got searched) ([]Found, error) {
	var sources []SourceID
	var indexes []int
	for _, p := range passages {
		for _, index := range []int{p.chunks[0].Index - 1, p.chunks[len(p.chunks)-1].Index + 1} {
			if one := (spot{p.chunks[0].SourceID, index}); !slices.Contains(got.looked, one) {
				sources, indexes = append(sources, one.source), append(indexes, one.index)
			}
		}
	}
	if len(sources) == 0 {
		return nil, nil
	}
	var found []Found
	err := db.NewSelect().Model(&found).ExcludeColumn("embedding", "source_name", "similarity").ColumnExpr("s.name AS source_name").
		Join("JOIN unnest(?::text[], ?::integer[]) AS wanted (source_id, index) ON wanted.source_id = c.source_id AND wanted.index = c.index",
			pgdialect.Array(sources), pgdialect.Array(indexes)).
		Join("JOIN sources AS s ON s.workspace_id = c.workspace_id AND s.id = c.source_id").
		Where("c.tenant_id = ?", ref.TenantID).Where("c.workspace_id = ?", ref.ID).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the neighbours of passages: %w", err)
	}
	return found, nil
}

// asPassage is the passage for a prompt: its text once, though chunks overlap, and the id and scores of
// its best chunk.
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

// shared is how many bytes of the beginning of next end previous: the match that is nearest to so many characters, which they
// share in the source. A chunk's text may differ from the source's in white space; repetitive text matches at other places too.
func shared(previous, next string, characters int) int {
	if characters <= 0 {
		return 0
	}
	limit := min(len(previous), len(next), 4*characters+64)
	known := min(limit, bytesOf(next, characters))
	for off := range max(known, limit-known) + 1 {
		for _, size := range [2]int{known - off, known + off} {
			if size < 1 || size > limit || size < len(next) && !utf8.RuneStart(next[size]) {
				continue
			}
			if strings.HasSuffix(previous, next[:size]) {
				return size
			}
		}
	}
	return 0
}

// bytesOf is how many bytes the first characters of a text have.
func bytesOf(text string, characters int) int {
	for at := range text {
		if characters == 0 {
			return at
		}
		characters--
	}
	return len(text)
}
