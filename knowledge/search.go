package knowledge

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

const (
	// searchDepth is how far each order is looked at when two are fused. Measured: docs/decisions/0019.
	searchDepth = 100
	// fusionK is of reciprocal rank fusion. Source: Cormack, Clarke and Büttcher, SIGIR 2009.
	fusionK = 60
)

// hit is a chunk that a search found.
type hit struct {
	ID       ChunkID  `bun:"id"`
	SourceID SourceID `bun:"source_id"`
	Index    int      `bun:"index"`
	// Distance is 1 - cosine.
	Distance   float64 `bun:"distance"`
	Similarity float64 `bun:"-"`
	Scores     Scores  `bun:"-"`
}

// Scores say how a chunk came to its place. Places count from 1; 0: it is not in that order, or
// too far behind in it.
type Scores struct {
	SimilarityPlace int
	// WordPlace and WordScore (BM25) are of hybrid ranking.
	WordPlace int
	WordScore float64
	// FeedbackPlace is in the order of similarity to the question and the best chunks together; 0: not asked.
	FeedbackPlace int
	// Fused is the sum of the reciprocal ranks; 0 when nothing was fused.
	Fused float64
	// Rerank is the reranking server's score; nil when it was not asked for this chunk.
	Rerank *float64
}

// ranking is what a search ranked: hits best first, and the best few that the floor has cut.
type ranking struct {
	hits  []hit
	below []hit
}

// maxBelow is how many hits under the floor are kept, for the trace.
const maxBelow = 3

// searched is what a search found: chunks with their texts, best first, and how it ranked.
type searched struct {
	found  []Found
	ranked ranking
	// beside are chunks before and behind the best, where these were read at once; looked says where.
	beside []Found
	looked []spot
}

// spot is where a chunk stands.
type spot struct {
	source SourceID
	index  int
}

// searchOnce ranks the chunks that the agent may see, best first: the first p.want with their text, and
// all that were ranked without. It does so in memory where all sources are there, and else brings some there.
func (s *Service) searchOnce(ctx context.Context, ref workspaces.Ref, p probe) (searched, error) {
	if sources := s.residentsOf(p.numbers, p.model); len(sources) > 0 {
		if got, able, err := s.searchResidents(ctx, ref, p, sources); able || err != nil {
			return got, err
		}
	}
	var got searched
	var sources []visible
	// What is read is of one moment.
	options := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	err := s.db.RunInTx(ctx, options, func(ctx context.Context, tx bun.Tx) (err error) {
		if sources, err = visibleSources(ctx, tx, ref, p); err != nil {
			return err
		}
		if got.ranked, err = rank(ctx, tx, ref, p, sources); err != nil {
			return err
		}
		got.found, err = readFound(ctx, tx, ref, got.ranked.hits[:min(p.want, len(got.ranked.hits))])
		return err
	})
	if err != nil {
		return searched{}, err
	}
	s.moveIn(ctx, ref, p, sources)
	return got, nil
}

// besideBest is how many of the best chunks are read with their neighbours.
const besideBest = 3

// searchResidents searches in memory, and reads only texts that were not read lately. Which sources these are was asked
// when the search began. It is not able to when a source was replaced since, and where memorySearch is not.
func (s *Service) searchResidents(ctx context.Context, ref workspaces.Ref, p probe, sources []*resident) (got searched, able bool, err error) {
	search := newMemorySearch(p, sources)
	defer search.close()
	if got.ranked, able = search.rank(); !able {
		return got, false, nil
	}
	read := slices.Clone(got.ranked.hits[:min(p.want, len(got.ranked.hits))])
	want := len(read)
	for _, one := range read[:min(besideBest, want)] {
		source := sources[slices.IndexFunc(sources, func(r *resident) bool { return r.SourceID == one.SourceID })]
		for _, index := range []int{one.Index - 1, one.Index + 1} {
			got.looked = append(got.looked, spot{one.SourceID, index})
			if index < 0 || index >= source.ChunkCount || slices.ContainsFunc(read, func(h hit) bool { return h.SourceID == one.SourceID && h.Index == index }) {
				continue
			}
			read = append(read, hit{ID: source.id(index), SourceID: one.SourceID, Index: index})
		}
	}
	all, err := s.textsOf(ctx, ref, read, sources, p.model)
	if err != nil || len(all) < len(read) {
		return searched{}, false, err
	}
	got.found, got.beside = all[:want:want], all[want:]
	return got, true, nil
}

// rank orders chunks as p.Ranking says. The floor is on the similarity, whatever the order.
func rank(ctx context.Context, tx bun.Tx, ref workspaces.Ref, p probe, sources []visible) (ranking, error) {
	if len(sources) == 0 {
		return ranking{}, nil
	}
	if p.Ranking != RankHybrid {
		near, err := nearest(ctx, tx, ref, p, sources, p.want)
		return overFloor(near, p.floor), err
	}
	depth := max(searchDepth, 4*p.want)
	near, err := nearest(ctx, tx, ref, p, sources, depth)
	if err != nil {
		return ranking{}, err
	}
	ranked := overFloor(near, p.floor)
	worded, words, err := searchWords(ctx, tx, ref, p, sources, depth)
	if err != nil || len(words) == 0 {
		return ranked, err
	}
	others, err := compareOthers(ctx, tx, ref, p, worded, words, near)
	if err != nil {
		return ranking{}, err
	}
	ranked.hits, err = refine(ctx, tx, ref, p, fuse(append(ranked.hits, others...), worded, words))
	return ranked, err
}

// similarity is max(0, cosine).
func similarity(distance float64) float64 { return min(1, max(0, 1-distance)) }

// overFloor numbers the hits, which are nearest first, and parts them at the floor.
func overFloor(hits []hit, floor float64) ranking {
	over := len(hits)
	for i := range hits {
		hits[i].Similarity = similarity(hits[i].Distance)
		hits[i].Scores.SimilarityPlace = i + 1
		if hits[i].Similarity < floor {
			over = min(over, i)
		}
	}
	return ranking{hits: hits[:over:over], below: hits[over:min(len(hits), over+maxBelow)]}
}

// compareOthers are the chunks that the words found and the similarity did not rank, as far as
// they are over the floor.
func compareOthers(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, sources []visible, words []candidate, near []hit) ([]hit, error) {
	seen := make(map[spot]bool, len(near))
	for _, one := range near {
		seen[spot{one.SourceID, one.Index}] = true
	}
	unseen := slices.DeleteFunc(slices.Clone(words), func(c candidate) bool { return seen[spot{sources[c.source].SourceID, c.chunk}] })
	hits, err := compareSome(ctx, db, ref, p, sources, unseen, len(unseen))
	if err != nil {
		return nil, err
	}
	for i := range hits {
		hits[i].Similarity = similarity(hits[i].Distance)
	}
	return slices.DeleteFunc(hits, func(h hit) bool { return h.Similarity < p.floor }), nil
}

// fuse orders the hits by the sum of their reciprocal ranks in both orders; equal ones by similarity.
// The words' places are counted among the hits that are left: what the floor has cut holds none.
func fuse(hits []hit, sources []visible, words []candidate) []hit {
	at := make(map[spot]int, len(hits))
	for i, one := range hits {
		at[spot{one.SourceID, one.Index}] = i
	}
	places := 0
	for _, word := range words {
		i, there := at[spot{sources[word.source].SourceID, word.chunk}]
		if !there {
			continue
		}
		places++
		hits[i].Scores.WordPlace, hits[i].Scores.WordScore = places, word.score
	}
	for i := range hits {
		scores := &hits[i].Scores
		scores.Fused = reciprocal(scores.SimilarityPlace) + reciprocal(scores.WordPlace)
	}
	slices.SortStableFunc(hits, byFused)
	return hits
}

// readFound reads the text of hits, in their order.
func readFound(ctx context.Context, db bun.IDB, ref workspaces.Ref, hits []hit) ([]Found, error) {
	if len(hits) == 0 {
		return []Found{}, nil
	}
	var rows []Found
	if err := db.NewRaw(selectFound("?0", "?1", "?2"), ref.TenantID, ref.ID, pgdialect.Array(idsOf(hits))).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read the chunks that were found: %w", err)
	}
	return inOrder(rows, hits), nil
}

// askFound is readFound by pgx alone: turns do it, and Bun's models take half of that time.
func (s *Service) askFound(ctx context.Context, ref workspaces.Ref, hits []hit) ([]Found, error) {
	if len(hits) == 0 {
		return []Found{}, nil
	}
	ids := make([]string, len(hits))
	for i, one := range hits {
		ids[i] = string(one.ID)
	}
	rows := make([]Found, 0, len(hits))
	_, err := s.db.Ask(ctx, postgres.Step{
		SQL:  askedFound,
		Args: []any{string(ref.TenantID), string(ref.ID), ids},
		Row: func(scan func(into ...any) error) error {
			rows = append(rows, Found{})
			f := &rows[len(rows)-1]
			return scan(&f.ID, &f.TenantID, &f.WorkspaceID, &f.SourceID, &f.Index, &f.Content, &f.TokenCount, &f.Heading,
				&f.PageStart, &f.PageEnd, &f.CharStart, &f.CharEnd, &f.Model, &f.SourceName)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the chunks that were found: %w", err)
	}
	return inOrder(rows, hits), nil
}

var askedFound = selectFound("$1", "$2", "$3::text[]")

// selectFound reads the chunks of ids, an array; all are placeholders.
func selectFound(tenant, workspace, ids string) string {
	return `
	SELECT c.id,
	       c.tenant_id,
	       c.workspace_id,
	       c.source_id,
	       c.index,
	       c.content,
	       c.token_count,
	       c.heading,
	       c.page_start,
	       c.page_end,
	       c.char_start,
	       c.char_end,
	       c.model,
	       s.name AS source_name
	FROM chunks AS c
	JOIN sources AS s ON s.workspace_id = c.workspace_id AND s.id = c.source_id
	WHERE c.tenant_id = ` + tenant + `
	  AND c.workspace_id = ` + workspace + `
	  AND c.id = ANY(` + ids + `)`
}

// inOrder are the rows of hits in their order, with what these scored.
func inOrder(rows []Found, hits []hit) []Found {
	found := make([]Found, 0, len(hits))
	for _, one := range hits {
		i := slices.IndexFunc(rows, func(f Found) bool { return f.ID == one.ID })
		if i < 0 {
			continue
		}
		rows[i].Similarity, rows[i].Scores = one.Similarity, one.Scores
		found = append(found, rows[i])
	}
	return found
}
