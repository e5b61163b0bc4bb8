package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/workspaces"
)

// visible is a source that a search may look into, and what there is to search it by.
type visible struct {
	SourceID   SourceID `bun:"source_id"`
	ChunkCount int      `bun:"chunk_count"`
	// Number is of the words and codes of its chunks, 0: it has none.
	Number    int64  `bun:"number"`
	Language  string `bun:"language"`
	TermCount int64  `bun:"term_count"`
	PageCount int    `bun:"page_count"`
	// Batch is the transaction that wrote its chunks.
	Batch int64 `bun:"batch"`
	// Worded says that its words are of this version, Coded that it has codes of the question's model.
	Worded bool `bun:"worded"`
	Coded  bool `bun:"coded"`
}

// visibleSources are the sources attached to the agent, in the order of their ids.
func visibleSources(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe) ([]visible, error) {
	var sources []visible
	err := db.NewRaw(`
		SELECT a.source_id,
		       s.chunk_count,
		       coalesce(w.number, 0) AS number,
		       coalesce(w.language, '') AS language,
		       coalesce(w.term_count, 0) AS term_count,
		       coalesce(w.page_count, 0) AS page_count,
		       coalesce(w.batch, 0) AS batch,
		       coalesce(w.version = ?, false) AS worded,
		       k.words_number IS NOT NULL AS coded
		FROM source_attachments AS a
		JOIN sources AS s ON s.workspace_id = a.workspace_id AND s.id = a.source_id
		LEFT JOIN source_words AS w ON w.workspace_id = a.workspace_id AND w.source_id = a.source_id
		LEFT JOIN source_codes AS k ON k.tenant_id = a.tenant_id AND k.words_number = w.number AND k.model = ? AND k.version = ?
		WHERE a.tenant_id = ?
		  AND a.workspace_id = ?
		  AND a.agent_id = ?
		  AND a.usage_mode <> ?
		ORDER BY a.source_id`, lexicon.Version, p.model, codesVersion, ref.TenantID, ref.ID, p.AgentID, p.without).Scan(ctx, &sources)
	if err != nil {
		return nil, fmt.Errorf("read which sources the agent sees: %w", err)
	}
	return sources, nil
}

// candidate is a chunk that something ranks.
type candidate struct {
	// source is the place in the list of sources that were searched.
	source int
	chunk  int
	score  float64
}

// best keeps the candidates of the highest scores; equal ones in the order of source and place.
type best struct {
	sources []visible
	limit   int
	// heap has the worst of them at its top: each is before the two at twice its place and one or two more.
	heap []candidate
	// floor is what a score must reach to be among them.
	floor float64
}

func newBest(sources []visible, limit int) *best {
	return &best{sources: sources, limit: limit, heap: make([]candidate, 0, limit), floor: math.Inf(-1)}
}

// order has the better one first.
func (b *best) order(x, y candidate) int {
	if x.score != y.score {
		return cmp.Compare(y.score, x.score)
	}
	return cmp.Or(cmp.Compare(b.sources[x.source].SourceID, b.sources[y.source].SourceID), cmp.Compare(x.chunk, y.chunk))
}

// add takes a candidate, whose score should not be below the floor.
func (b *best) add(one candidate) {
	if len(b.heap) < b.limit {
		if b.heap = append(b.heap, one); len(b.heap) < b.limit {
			return
		}
		slices.SortFunc(b.heap, func(x, y candidate) int { return b.order(y, x) })
	} else if b.order(one, b.heap[0]) < 0 {
		b.replaceWorst(one)
	}
	b.floor = b.heap[0].score
}

func (b *best) replaceWorst(one candidate) {
	at := 0
	for {
		next := 2*at + 1
		if next >= len(b.heap) {
			break
		}
		if next+1 < len(b.heap) && b.order(b.heap[next], b.heap[next+1]) < 0 {
			next++
		}
		if b.order(one, b.heap[next]) >= 0 {
			break
		}
		b.heap[at] = b.heap[next]
		at = next
	}
	b.heap[at] = one
}

// sorted are the best, best first. It ends the adding.
func (b *best) sorted() []candidate {
	slices.SortFunc(b.heap, b.order)
	return b.heap
}
