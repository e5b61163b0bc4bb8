package ingestion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/knowledge/chunking"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/provider/blob"
)

// maxMoves is how often a run starts its embedding over because the workspace's model changed.
const maxMoves = 3

// stageStoring is what follows the stages that callers see, for traces and metrics.
const stageStoring knowledge.Stage = "storing"

// errMoved says that the workspace's answering model is another than the chunks'.
var errMoved = errors.New("the workspace answers with another model by now")

// process reads, cuts and embeds a claimed source, and replaces its chunks.
// Errors: *document.Error, errLost, and what the bucket, readers, embedder and database meet.
func (r *run) process(ctx context.Context) error {
	if r.source.Stage == knowledge.StageFetching {
		return r.fetch(ctx)
	}
	started := r.moment()
	var doc document.Document
	err := r.stage(ctx, knowledge.StageParsing, func(ctx context.Context) (err error) {
		doc, err = r.parse(ctx)
		return err
	})
	if err != nil {
		return err
	}
	r.source.PageCount, r.source.PagesDone, r.source.OCRPageCount = doc.PageCount, doc.PageCount, doc.RecognizedPages
	r.source.Warnings = doc.Warnings
	if err := r.enter(ctx, knowledge.StageChunking, progressChunking); err != nil {
		return err
	}
	var chunks []knowledge.Chunk
	err = r.stage(ctx, knowledge.StageChunking, func(ctx context.Context) error {
		leave, err := r.slots.compute.Enter(ctx, string(r.source.TenantID))
		if err != nil {
			return err
		}
		defer leave()
		pieces, err := chunking.Cut(doc, chunking.Options{})
		chunks = chunksOf(r.source, pieces)
		return err
	})
	if err != nil {
		return fmt.Errorf("cut source: %w", err)
	}
	for range maxMoves {
		if err = r.embedAndCommit(ctx, chunks, started); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// embedAndCommit embeds for the model that answers in the workspace and makes the source ready.
// Errors: errMoved when another model answers when it comes to the commit.
func (r *run) embedAndCommit(ctx context.Context, chunks []knowledge.Chunk, started time.Time) error {
	embedder, err := r.embedderFor(ctx, r.source.Ref())
	if err != nil {
		return err
	}
	if err := r.enter(ctx, knowledge.StageEmbedding, progressEmbedding); err != nil {
		return err
	}
	if err := r.stage(ctx, knowledge.StageEmbedding, func(ctx context.Context) error {
		return r.embed(ctx, embedder,
			chunks)
	}); err != nil {
		return err
	}
	return r.stage(ctx, stageStoring, func(ctx context.Context) error { return r.commit(ctx, chunks, started) })
}

// stage does a part of the run within a span, and measures it.
func (s *Service) stage(ctx context.Context, name knowledge.Stage, fn func(context.Context) error) error {
	ctx, span := telemetry.Start(ctx, telemetry.Internal, "ingest "+string(name))
	begun := s.now()
	err := fn(ctx)
	s.stages.WithLabelValues(string(name), telemetry.Result(err)).Observe(s.now().Sub(begun).Seconds())
	span.End(err)
	return err
}

func (r *run) parse(ctx context.Context) (document.Document, error) {
	work, err := r.slots.compute.Enter(ctx, string(r.source.TenantID))
	if err != nil {
		return document.Document{}, err
	}
	slot := &slot{gate: r.slots.compute, tenant: string(r.source.TenantID), leave: work}
	defer slot.end()
	// Opened after the wait: a store closes a download that nobody reads.
	content, err := r.bucket.Get(ctx, r.source.BlobKey)
	if err != nil {
		return document.Document{}, fmt.Errorf("open the bytes: %w", err)
	}
	defer func() { _ = content.Close() }() // only read
	doc, err := document.Parse(ctx, r.source.MediaType, blob.Verify(content, r.source.SHA256), document.Options{
		Readers: r.sharedReaders(slot), ForceOCR: r.source.ForceOCR, OCRLanguages: r.source.OCRLanguages,
		Store: keptPages{r},
		Pages: func(done, total, recognized int) error { return r.pages(ctx, done, total, recognized) },
	})
	if err != nil {
		return document.Document{}, fmt.Errorf("parse source: %w", err)
	}
	return doc, nil
}

// chunksOf are the rows of a source's pieces, without their vectors.
func chunksOf(source knowledge.Source, pieces []chunking.Chunk) []knowledge.Chunk {
	chunks := make([]knowledge.Chunk, len(pieces))
	for i, piece := range pieces {
		chunks[i] = knowledge.Chunk{
			ID: knowledge.ChunkID(idgen.New(idgen.Chunk)), TenantID: source.TenantID, WorkspaceID: source.WorkspaceID,
			SourceID: source.ID, Index: piece.Index, Content: piece.Content, TokenCount: piece.TokenCount,
			Heading: piece.Heading, PageStart: piece.PageStart, PageEnd: piece.PageEnd,
			CharStart: piece.CharStart, CharEnd: piece.CharEnd,
		}
	}
	return chunks
}

// commit replaces the source's chunks and makes it ready, unless it is no longer this run's.
// Errors: errLost, errMoved.
func (r *run) commit(ctx context.Context, chunks []knowledge.Chunk, started time.Time) error {
	now, source := r.moment(), r.source
	index := buildIndex(source.Name, chunks)
	if err := nameModel(ctx, r.db, source.Ref(), chunks[0].Model); err != nil {
		return err
	}
	return r.db.InCopyTx(ctx, func(ctx context.Context, tx bun.Tx, copyIn postgres.CopyFunc) error {
		if err := holdModel(ctx, tx, source, chunks[0].Model, now); err != nil {
			return err
		}
		ready, err := markReady(ctx, tx, source, chunks, now)
		if err != nil {
			return err
		}
		if err := knowledge.KeepDisabled(ctx, tx, ready, chunks, now); err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*knowledge.Chunk)(nil)).Where("tenant_id = ?",
			source.TenantID).Where("source_id = ?", source.ID).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete old chunks: %w", err)
		}
		if err := copyChunks(ctx, copyIn, chunks); err != nil {
			return err
		}
		if err := dropKept(ctx, tx, source); err != nil {
			return err
		}
		if ready.Name != source.Name { // it was renamed meanwhile
			index = buildIndex(ready.Name, chunks)
		}
		if err := storeIndex(ctx, tx, ready, index); err != nil {
			return err
		}
		_, err = events.Append(ctx, tx, events.Event{
			TenantID: string(ready.TenantID), WorkspaceID: string(ready.WorkspaceID), Type: events.KBSourceIngested,
			Subject: string(ready.ID), Payload: ingested(ready, now.Sub(started)), CreatedAt: now,
		})
		if err != nil {
			return err
		}
		if !ready.ReprocessWanted {
			return nil
		}
		return knowledge.QueueAgain(ctx, tx, ready, now)
	})
}

// copyChunks writes the chunks with their vectors.
func copyChunks(ctx context.Context, copyIn postgres.CopyFunc, chunks []knowledge.Chunk) error {
	return copyIn(ctx, postgres.CopyParams{
		Table: "chunks",
		Columns: []string{
			"id", "tenant_id", "workspace_id", "source_id", "index", "content", "token_count", "heading",
			"page_start", "page_end", "char_start", "char_end", "model", "embedding",
		},
		Rows: len(chunks),
		RowFunc: func(i int) []any {
			c := chunks[i]
			return []any{
				string(c.ID), string(c.TenantID), string(c.WorkspaceID), string(c.SourceID), c.Index, c.Content, c.TokenCount, c.Heading,
				c.PageStart, c.PageEnd, c.CharStart, c.CharEnd, c.Model, c.Embedding.Slice(),
			}
		},
	})
}

// markReady is the check of ownership: it locks the row, so that a takeover waits for tx or has
// happened. Errors: errLost.
func markReady(ctx context.Context, tx bun.IDB, source knowledge.Source, chunks []knowledge.Chunk,
	now time.Time,
) (knowledge.Source, error) {
	var ready knowledge.Source
	err := tx.NewRaw(`
		UPDATE sources
		SET status = 'ready', stage = '', progress = ?, owner = '', heartbeat_at = ?, page_count = ?, pages_done = ?,
		    ocr_page_count = ?, language = ?, warnings = ?::text[], chunk_count = ?, embedding_model = ?, ready_at = ?, updated_at = ?,
		    replacing = false
		WHERE tenant_id = ?
		  AND id = ?
		  AND owner = ?
		  AND status = 'processing'
		RETURNING *`, progressReady, now, source.PageCount, source.PagesDone, source.OCRPageCount, source.Language,
		pgdialect.Array(append([]string{}, source.Warnings...)), len(chunks), chunks[0].Model, now, now,
		source.TenantID, source.ID, source.Owner).Scan(ctx, &ready)
	if postgres.NoRows(err) {
		return knowledge.Source{}, errLost
	}
	if err != nil {
		return knowledge.Source{}, fmt.Errorf("mark source ready: %w", err)
	}
	return ready, nil
}

// ingested is the payload of kb.source_ingested.
func ingested(s knowledge.Source, took time.Duration) *events.KBSourceIngestedData {
	return &events.KBSourceIngestedData{
		SourceId: string(s.ID), Name: s.Name, Kind: string(s.Kind), MediaType: document.BareType(s.MediaType), Status: string(s.Status),
		SizeBytes: uint32(min(s.SizeBytes, math.MaxUint32)),
		PageCount: int32(s.PageCount), ChunkCount: int32(s.ChunkCount),
		EmbeddingModel: s.EmbeddingModel, DurationMs: int32(min(took.Milliseconds(), math.MaxInt32)),
		ReadyAt: timestamppb.New(s.ReadyAt),
	}
}
