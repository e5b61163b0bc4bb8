package knowledge

import (
	"context"
	"fmt"

	"parlance.dev/parlance/knowledge/search"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// readHits returns hits with their texts, in their order. Those whose source is gone are left out.
// The neighbours of the first are read with them, for widen.
func (s *Service) readHits(ctx context.Context, ref workspaces.Ref, in found, hits []search.Hit) ([]Found, error) {
	spots := make([]spot, len(hits))
	for i, hit := range hits {
		spots[i] = spot{hit.Set, hit.Chunk}
	}
	for _, hit := range hits[:min(widened, len(hits))] {
		spots = append(spots, spot{hit.Set, hit.Chunk - 1}, spot{hit.Set, hit.Chunk + 1})
	}
	texts, err := s.readTexts(ctx, ref, in, spots)
	if err != nil {
		return nil, err
	}
	read := make([]Found, 0, len(hits))
	for i, hit := range hits {
		if one, there := texts[spots[i]]; there {
			one.Similarity, one.Scores = hit.Similarity, Scores{Scores: hit.Scores}
			read = append(read, one)
		}
	}
	return read, nil
}

const selectTexts = `
	SELECT wanted.set,
	       c.id,
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
	       s.name AS source_name
	FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS wanted (set, source_id, index, batch)
	JOIN chunks AS c ON c.source_id = wanted.source_id AND c.index = wanted.index::integer
	JOIN sources AS s ON s.workspace_id = c.workspace_id AND s.id = c.source_id
	WHERE c.tenant_id = $5
	  AND c.workspace_id = $6
	  AND (wanted.batch = 0 OR c.batch = wanted.batch)`

// readTexts returns the chunks at spots, as far as there are any: from the cache, and those that
// are not there from Postgres.
func (s *Service) readTexts(ctx context.Context, ref workspaces.Ref, in found, spots []spot) (map[spot]Found, error) {
	texts := make(map[spot]Found, len(spots))
	var sets, indexes, batches []int64
	var sources []string
	for _, one := range spots {
		set := in.sets[one.set]
		if one.chunk < 0 || one.chunk >= set.ChunkCount || set.IsDisabled(one.chunk) {
			continue
		}
		if kept, cached := s.texts.Get(textKey{set.Number, one.chunk}); cached && set.Number != 0 {
			kept.spot, kept.Model = one, in.model
			texts[one] = kept
			continue
		}
		sets, sources = append(sets, int64(one.set)), append(sources, set.SourceID)
		indexes, batches = append(indexes, int64(one.chunk)), append(batches, set.Batch)
	}
	if len(sets) == 0 {
		return texts, nil
	}
	_, err := s.db.Pipeline(ctx, postgres.Step{
		SQL: selectTexts, Args: []any{sets, sources, indexes, batches, string(ref.TenantID), string(ref.ID)},
		Row: func(scan func(into ...any) error) error {
			var f Found
			err := scan(&f.spot.set, &f.ID, &f.TenantID, &f.WorkspaceID, &f.SourceID, &f.Index, &f.Content, &f.TokenCount,
				&f.Heading, &f.PageStart, &f.PageEnd, &f.CharStart, &f.CharEnd, &f.SourceName)
			if err != nil {
				return err
			}
			f.spot.chunk, f.Model = f.Index, in.model
			f.words = wordsIn(f.Content)
			texts[f.spot] = f
			if number := in.sets[f.spot.set].Number; number != 0 {
				s.texts.Set(textKey{number, f.Index}, f)
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the chunks that were found: %w", err)
	}
	return texts, nil
}
