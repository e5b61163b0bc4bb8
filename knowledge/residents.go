package knowledge

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// maxMovedIn is how many bytes a search brings into memory for those after it: some ten milliseconds.
const maxMovedIn = 4 << 20

// residentsOf are the sources with these numbers, with vectors of the model, when all of them are in memory.
func (s *Service) residentsOf(numbers []int64, model string) []*resident {
	all := make([]*resident, len(numbers))
	for i, number := range numbers {
		kept, there := s.residents.Get(shelfKey{number: number, model: model})
		if !there {
			return nil
		}
		all[i], _ = kept.(*resident)
	}
	return all
}

// moveIn brings sources that a search has asked Postgres about into memory, as many as one search may. When all of
// them would not fit it leaves them where they are: a part of them helps nobody. What goes wrong is only logged.
func (s *Service) moveIn(ctx context.Context, ref workspaces.Ref, p probe, sources []visible) {
	dimension := len(p.vector.Slice())
	var numbers []int64
	total, moving := 0, 0
	for _, source := range sources {
		size := source.residentBytes(dimension)
		if total += size; !source.Worded || !source.Coded || total > s.residents.MaxBytes() {
			return
		}
		key := shelfKey{number: source.Number, model: p.model}
		if _, there := s.residents.Get(key); there || moving+size > maxMovedIn && moving > 0 || !s.residents.Reserve(key, size) {
			continue
		}
		moving += size
		numbers = append(numbers, source.Number)
	}
	if len(numbers) == 0 {
		return
	}
	made, err := s.readResidents(ctx, ref, p, numbers)
	for _, number := range numbers {
		key := shelfKey{number: number, model: p.model}
		s.residents.Release(key)
		if one := made[number]; one != nil {
			s.residents.Put(key, one, one.bytes())
		}
	}
	if err != nil {
		s.log.WarnContext(ctx, "sources not brought into memory", telemetry.KeyWorkspaceID, string(ref.ID), telemetry.KeyError, err)
	}
}

// readResidents reads sources as they are at one moment. One that cannot be held in memory is left out.
func (s *Service) readResidents(ctx context.Context, ref workspaces.Ref, p probe, numbers []int64) (map[int64]*resident, error) {
	var rows []residentRow
	var pages []postingsPage
	options := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	err := s.db.RunInTx(ctx, options, func(ctx context.Context, tx bun.Tx) error {
		err := tx.NewRaw(`
			SELECT w.number,
			       w.source_id,
			       w.language,
			       w.chunk_count,
			       w.term_count,
			       w.page_count,
			       w.batch,
			       true AS worded,
			       true AS coded,
			       w.lengths,
			       k.codes,
			       c.vectors,
			       c.ids
			FROM source_words AS w
			JOIN source_codes AS k ON k.tenant_id = w.tenant_id AND k.words_number = w.number AND k.model = ? AND k.version = ?
			JOIN LATERAL (
				SELECT string_agg(vector_send(embedding), '' ORDER BY index) AS vectors,
				       string_agg(id, ',' ORDER BY index) AS ids
				FROM chunks
				WHERE workspace_id = w.workspace_id
				  AND source_id = w.source_id
				  AND model = ?
			) AS c ON true
			WHERE w.tenant_id = ?
			  AND w.workspace_id = ?
			  AND w.number = ANY (?::bigint[])
			  AND w.version = ?`, p.model, codesVersion, p.model, ref.TenantID, ref.ID, pgdialect.Array(numbers), lexicon.Version).Scan(ctx, &rows)
		if err != nil {
			return fmt.Errorf("read sources: %w", err)
		}
		err = tx.NewSelect().Model(&pages).Where("p.tenant_id = ?", ref.TenantID).Where("p.words_number IN (?)", bun.List(numbers)).Scan(ctx)
		if err != nil {
			return fmt.Errorf("read postings: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	packed := map[int64][][]byte{}
	for _, page := range pages {
		packed[page.Number] = append(packed[page.Number], page.Postings)
	}
	made := make(map[int64]*resident, len(rows))
	var failed error
	for _, row := range rows {
		one, err := newResident(row, packed[row.Number], len(p.vector.Slice()))
		if err != nil {
			failed = fmt.Errorf("source %s: %w", row.SourceID, err)
			continue
		}
		made[row.Number] = one
	}
	return made, failed
}
