package knowledge

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/workspaces"
)

// Of the chunks with the best codes some are compared by their vectors: one of comparedShare, between leastCompared and
// mostCompared; codeDepth times as many as are wanted if that is more. Measured: docs/benchmarks.md has the recall.
const (
	leastCompared = 256
	mostCompared  = 400
	comparedShare = 50
	codeDepth     = 2
)

// compared is how many of so many chunks are compared by their vectors where limit are wanted.
func compared(chunks, limit int) int {
	return max(min(max(chunks/comparedShare, leastCompared), mostCompared), codeDepth*limit)
}

// codesOf are the packed codes of chunks in their order; none where vectors are missing.
func codesOf(chunks []Chunk) []byte {
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

// storeCodes keeps a source's codes of the model that answers, and no other.
func storeCodes(ctx context.Context, tx bun.IDB, source Source, number int64, model string, packed []byte) error {
	if len(packed) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		DELETE FROM source_codes
		WHERE tenant_id = ?
		  AND words_number = ?`, source.TenantID, number)
	if err != nil {
		return fmt.Errorf("delete old codes: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO source_codes (tenant_id, words_number, model, version, codes)
		VALUES (?, ?, ?, ?, ?)`, source.TenantID, number, model, codesVersion, packed)
	if err != nil {
		return fmt.Errorf("insert codes: %w", err)
	}
	return nil
}

// askCodes are the chunks of sources nearest to the question among those whose codes are, and the
// sources whose codes cannot be read.
func askCodes(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, sources []visible, limit int) (hits []hit, unread []SourceID, err error) {
	all, err := readCodes(ctx, db, ref, p, sources)
	if err != nil {
		return nil, nil, err
	}
	question := newCodedQuestion(p.vector.Slice())
	chunks := 0
	for _, source := range sources {
		chunks += source.ChunkCount
	}
	nearest := newBest(sources, compared(chunks, limit))
	var similarities []float32
	for i, source := range sources {
		if len(all[i].scales) == 0 {
			unread = append(unread, source.SourceID)
			continue
		}
		similarities = question.compare(similarities[:0], all[i])
		for chunk, similarity := range similarities {
			if score := float64(similarity); score >= nearest.floor {
				nearest.add(candidate{i, chunk, score})
			}
		}
	}
	hits, err = compareSome(ctx, db, ref, p, sources, nearest.sorted(), limit)
	return hits, unread, err
}

// readCodes takes the sources' codes from the shelf, and those that are not there from the database.
func readCodes(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, sources []visible) ([]codes, error) {
	all := make([]codes, len(sources))
	var missing []int64
	place := map[int64]int{}
	for i, source := range sources {
		if kept, there := p.shelf.Get(shelfKey{source.Number, codesPage, p.model}); there {
			all[i], _ = kept.(codes)
			continue
		}
		missing, place[source.Number] = append(missing, source.Number), i
	}
	if len(missing) == 0 {
		return all, nil
	}
	var rows []struct {
		Number int64  `bun:"words_number"`
		Codes  []byte `bun:"codes"`
	}
	err := db.NewRaw(`
		SELECT words_number,
		       codes
		FROM source_codes
		WHERE tenant_id = ?
		  AND model = ?
		  AND version = ?
		  AND words_number = ANY (?::bigint[])`, ref.TenantID, p.model, codesVersion, pgdialect.Array(missing)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read codes: %w", err)
	}
	for _, row := range rows {
		i := place[row.Number]
		if all[i], err = decode(row.Codes, sources[i].ChunkCount, len(p.vector.Slice())); err == nil {
			p.shelf.Put(shelfKey{row.Number, codesPage, p.model}, all[i], len(row.Codes))
		}
	}
	return all, nil
}

// compareSome compares the question with some chunks of sources; the nearest first, at most limit.
func compareSome(ctx context.Context, db bun.IDB, ref workspaces.Ref, p probe, sources []visible, some []candidate, limit int) ([]hit, error) {
	if len(some) == 0 {
		return nil, nil
	}
	ids, indexes := make([]SourceID, len(some)), make([]int, len(some))
	for i, one := range some {
		ids[i], indexes[i] = sources[one.source].SourceID, one.chunk
	}
	var hits []hit
	err := db.NewRaw(`
		SELECT c.id,
		       c.source_id,
		       c.index,
		       c.embedding <=> ?::vector AS distance
		FROM unnest(?::text[], ?::integer[]) AS wanted (source_id, index)
		JOIN chunks AS c ON c.source_id = wanted.source_id AND c.index = wanted.index
		WHERE c.tenant_id = ?
		  AND c.workspace_id = ?
		  AND c.model = ?
		ORDER BY distance, c.source_id, c.index
		LIMIT ?`, p.vector, pgdialect.Array(ids), pgdialect.Array(indexes), ref.TenantID, ref.ID, p.model, limit).Scan(ctx, &hits)
	if err != nil {
		return nil, fmt.Errorf("compare with some chunks: %w", err)
	}
	return hits, nil
}

// fillCodes makes the codes of ready sources that have none of their model: those of an earlier version
// of the program, and those whose vectors another model has made since.
func (s *Service) fillCodes(ctx context.Context) error {
	after := SourceID("")
	var failed []error
	for {
		var sources []Source
		err := s.db.NewRaw(postgres.RawForAllTenants("codes are made for everybody's sources", `
			SELECT s.id,
			       s.tenant_id,
			       s.workspace_id
			FROM sources AS s
			JOIN source_words AS w ON w.workspace_id = s.workspace_id AND w.source_id = s.id
			WHERE s.ready_at IS NOT NULL
			  AND s.id > ?
			  AND NOT EXISTS (
				SELECT 1
				FROM source_codes AS k
				WHERE k.words_number = w.number
				  AND k.model = s.embedding_model
				  AND k.version >= ?
			  )
			ORDER BY s.id
			LIMIT ?`), after, codesVersion, tendBatch).Scan(ctx, &sources)
		if err != nil || len(sources) == 0 {
			return errors.Join(append(failed, err)...)
		}
		for _, source := range sources {
			failed = append(failed, s.fillCodesOf(ctx, source)) // one must not keep the others
		}
		after = sources[len(sources)-1].ID
	}
}

// fillCodesOf makes one source's codes. It locks the row, so that nobody replaces the chunks or their
// vectors meanwhile.
func (s *Service) fillCodesOf(ctx context.Context, source Source) error {
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		err := tx.NewSelect().Model(&source).Column("id", "embedding_model", "chunk_count").Where("s.tenant_id = ?", source.TenantID).
			Where("s.workspace_id = ?", source.WorkspaceID).Where("s.id = ?", source.ID).For("NO KEY UPDATE").Scan(ctx)
		if postgres.NoRows(err) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("lock source %s: %w", source.ID, err)
		}
		var number int64
		err = tx.NewRaw(`
			SELECT number
			FROM source_words
			WHERE tenant_id = ?
			  AND workspace_id = ?
			  AND source_id = ?`, source.TenantID, source.WorkspaceID, source.ID).Scan(ctx, &number)
		if err != nil {
			return fmt.Errorf("find the number of %s: %w", source.ID, err)
		}
		var chunks []Chunk
		err = tx.NewSelect().Model(&chunks).Column("embedding").Where("c.tenant_id = ?", source.TenantID).Where("c.workspace_id = ?", source.WorkspaceID).
			Where("c.source_id = ?", source.ID).Where("c.model = ?", source.EmbeddingModel).OrderExpr("c.index").Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the vectors of %s: %w", source.ID, err)
		}
		if len(chunks) != source.ChunkCount {
			return nil // not all are of one model
		}
		return storeCodes(ctx, tx, source, number, source.EmbeddingModel, codesOf(chunks))
	})
}
