package knowledge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pgvector/pgvector-go"
	"github.com/uptrace/bun"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/embedding"
)

// Progress, in percent, at which the stages begin.
const (
	progressChunking  = 20
	progressEmbedding = 30
	progressReady     = 100
)

const (
	// embedBatch is how many chunks are embedded between two reports of progress.
	embedBatch = 64
	// insertBatch keeps one INSERT of chunks at a few megabytes.
	insertBatch = 200
)

// process reads, cuts and embeds a claimed source, and replaces its chunks.
// Errors: *document.Error, errLost, and what the bucket, embedder and database meet.
func (s *Service) process(ctx context.Context, source Source) error {
	started := s.moment()
	var doc document.Document
	err := s.stage(ctx, StageParsing, func(ctx context.Context) (err error) {
		doc, err = s.parse(ctx, source)
		return err
	})
	if err != nil {
		return err
	}
	source.PageCount = doc.PageCount
	if err := s.report(ctx, source, StageChunking, progressChunking); err != nil {
		return err
	}
	var chunks []Chunk
	err = s.stage(ctx, StageChunking, func(context.Context) error {
		pieces, err := document.Cut(doc, document.ChunkOptions{})
		chunks = chunksOf(source, pieces)
		return err
	})
	if err != nil {
		return fmt.Errorf("cut source: %w", err)
	}
	if err := s.stage(ctx, StageEmbedding, func(ctx context.Context) error { return s.embed(ctx, source, chunks) }); err != nil {
		return err
	}
	return s.stage(ctx, stageStoring, func(ctx context.Context) error { return s.commit(ctx, source, chunks, started) })
}

// stageStoring is what follows the stages that callers see, for traces and metrics.
const stageStoring Stage = "storing"

// stage does a part of the run within a span, and measures it.
func (s *Service) stage(ctx context.Context, name Stage, fn func(context.Context) error) error {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "ingest "+string(name))
	begun := s.now()
	err := fn(ctx)
	s.metrics.staged(name, err, s.now().Sub(begun))
	span.End(err)
	return err
}

func (s *Service) parse(ctx context.Context, source Source) (document.Document, error) {
	r, err := s.bucket.Get(ctx, source.BlobKey)
	if err != nil {
		return document.Document{}, fmt.Errorf("open the bytes: %w", err)
	}
	defer func() { _ = r.Close() }() // only read
	doc, err := document.Parse(ctx, source.MediaType, r, document.Options{Readers: s.readers})
	if err != nil {
		return document.Document{}, fmt.Errorf("parse source: %w", err)
	}
	return doc, nil
}

// chunksOf are the rows of a source's pieces, without their vectors.
func chunksOf(source Source, pieces []document.Chunk) []Chunk {
	chunks := make([]Chunk, len(pieces))
	for i, piece := range pieces {
		chunks[i] = Chunk{
			ID: ChunkID(idgen.New(idgen.Chunk)), TenantID: source.TenantID, WorkspaceID: source.WorkspaceID,
			SourceID: source.ID, Index: piece.Index, Content: piece.Content, TokenCount: piece.TokenCount,
			Heading: piece.Heading, PageStart: piece.PageStart, PageEnd: piece.PageEnd,
			CharStart: piece.CharStart, CharEnd: piece.CharEnd,
		}
	}
	return chunks
}

// embed fills the chunks' vectors in batches and reports after each.
func (s *Service) embed(ctx context.Context, source Source, chunks []Chunk) error {
	done := 0
	for batch := range slices.Chunk(chunks, embedBatch) {
		progress := progressEmbedding + (progressReady-progressEmbedding)*done/len(chunks)
		if err := s.report(ctx, source, StageEmbedding, progress); err != nil {
			return err
		}
		texts := make([]string, len(batch))
		for i, chunk := range batch {
			texts[i] = embeddedText(chunk)
		}
		vectors, err := s.embedder.Embed(ctx, texts, embedding.Document)
		if err != nil {
			return fmt.Errorf("embed source: %w", err)
		}
		// The model is asked after the call: some learn it from the server.
		model := s.embedder.Model().Name
		for i := range batch {
			batch[i].Model, batch[i].Embedding = model, pgvector.NewVector(vectors[i])
		}
		done += len(batch)
	}
	return nil
}

// embeddedText is a chunk's content, under its innermost heading when the content does not
// begin with it: what stands under "Opening hours" seldom says so again.
func embeddedText(c Chunk) string {
	heading := c.Heading[strings.LastIndex(c.Heading, " > ")+1:]
	heading = strings.TrimSpace(strings.TrimPrefix(heading, "> "))
	if heading == "" || strings.Contains(c.Content, heading) {
		return c.Content
	}
	return heading + "\n\n" + c.Content
}

// commit replaces the source's chunks and makes it ready, unless it is no longer this run's.
func (s *Service) commit(ctx context.Context, source Source, chunks []Chunk, started time.Time) error {
	now := s.moment()
	words := indexWords(chunks)
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		ready, err := markReady(ctx, tx, source, chunks, now)
		if err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*Chunk)(nil)).Where("tenant_id = ?", source.TenantID).Where("source_id = ?", source.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete old chunks: %w", err)
		}
		for batch := range slices.Chunk(chunks, insertBatch) {
			if _, err := tx.NewInsert().Model(&batch).Exec(ctx); err != nil {
				return fmt.Errorf("insert chunks: %w", err)
			}
		}
		if err := storeWords(ctx, tx, ready, words); err != nil {
			return err
		}
		_, err = events.Append(ctx, tx, events.Event{
			TenantID: string(ready.TenantID), WorkspaceID: string(ready.WorkspaceID), Type: events.KBSourceIngested,
			Subject: string(ready.ID), Payload: ingested(ready, now.Sub(started)), CreatedAt: now,
		})
		return err
	})
}

// markReady is the check of ownership: it locks the row, so that a takeover waits for tx or has
// happened. Errors: errLost.
func markReady(ctx context.Context, tx bun.IDB, source Source, chunks []Chunk, now time.Time) (Source, error) {
	var ready Source
	err := tx.NewRaw(`
		UPDATE sources
		SET status = 'ready', stage = '', progress = ?, owner = '', heartbeat_at = ?, page_count = ?, chunk_count = ?,
		    embedding_model = ?, ready_at = ?, updated_at = ?
		WHERE tenant_id = ?
		  AND id = ?
		  AND owner = ?
		  AND status = 'processing'
		RETURNING *`, progressReady, now, source.PageCount, len(chunks), chunks[0].Model, now, now,
		source.TenantID, source.ID, source.Owner).Scan(ctx, &ready)
	if postgres.NoRows(err) {
		return Source{}, errLost
	}
	if err != nil {
		return Source{}, fmt.Errorf("mark source ready: %w", err)
	}
	return ready, nil
}

// ingested is the payload of kb.source_ingested.
func ingested(s Source, took time.Duration) *events.KBSourceIngestedData {
	return &events.KBSourceIngestedData{
		SourceId: string(s.ID), Name: s.Name, Kind: string(s.Kind), MediaType: bareType(s.MediaType), Status: string(s.Status),
		SizeBytes: uint32(min(s.SizeBytes, math.MaxUint32)),            //nolint:gosec // bounded
		PageCount: int32(s.PageCount), ChunkCount: int32(s.ChunkCount), //nolint:gosec // at most 2,000 and 10,000
		EmbeddingModel: s.EmbeddingModel, DurationMs: int32(min(took.Milliseconds(), math.MaxInt32)), //nolint:gosec // bounded
		ReadyAt: timestamppb.New(s.ReadyAt),
	}
}

// bareType is a media type without parameters.
func bareType(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	return strings.TrimSpace(name)
}
