package knowledge

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/workspaces"
)

// Get returns a source, with its content when it is inline. Errors: NotFound.
func (s *Service) Get(ctx context.Context, ref workspaces.Ref, id SourceID) (Source, error) {
	source, err := s.source(ctx, s.db, ref, id)
	if err != nil || source.Kind != KindInline {
		return source, err
	}
	r, err := s.bucket.Get(ctx, source.BlobKey)
	if err != nil {
		return Source{}, fmt.Errorf("open the text of %s: %w", id, err)
	}
	defer func() { _ = r.Close() }() // only read
	text, err := io.ReadAll(blob.Verify(r, source.SHA256))
	if err != nil {
		return Source{}, fmt.Errorf("read the text of %s: %w", id, err)
	}
	source.Content = string(text)
	return source, nil
}

// Open returns a source and its stored bytes, which the caller closes. Errors: NotFound,
// Precondition kb-source-not-ready (its URL was not fetched yet).
func (s *Service) Open(ctx context.Context, ref workspaces.Ref, id SourceID) (Source, io.ReadCloser, error) {
	source, err := s.source(ctx, s.db, ref, id)
	if err != nil {
		return Source{}, nil, err
	}
	if source.BlobKey == "" {
		return Source{}, nil, fault.New(fault.KBSourceNotReady, "The source's URL has not given its content yet: it is %s.", source.Status)
	}
	r, err := s.bucket.Get(ctx, source.BlobKey)
	if err != nil {
		return Source{}, nil, fmt.Errorf("open the bytes of %s: %w", id, err)
	}
	return source, r, nil
}

// ListParams is a page of the workspace's sources.
type ListParams struct {
	postgres.PageParams
	// Status narrows the list; empty: all.
	Status Status
	// Tags narrow it to sources that have all of them.
	Tags []string
}

// List lists the workspace's sources without content, newest first unless p has an OrderBy. A Query
// narrows it by name. Errors: Invalid invalid-request (page_size, order_by, page_token).
func (s *Service) List(ctx context.Context, ref workspaces.Ref, p ListParams) ([]Source, string, error) {
	p.Order = postgres.NewestFirst
	if err := agents.CheckTags("tags", p.Tags); err != nil {
		return nil, "", err
	}
	p.Filters = append([]string{string(ref.TenantID), string(ref.ID), string(p.Status)}, p.Tags...)
	var sources []Source
	query := s.db.NewSelect().Model(&sources).Where("s.tenant_id = ?", ref.TenantID).Where("s.workspace_id = ?", ref.ID)
	if p.Status != "" {
		query = query.Where("s.status = ?", p.Status)
	}
	if len(p.Tags) > 0 {
		query = query.Where("s.tags @> ?", textArray(p.Tags))
	}
	query = postgres.Containing(query, p.Query, "s.name")
	return postgres.List(ctx, p.PageParams, query, &sources, func(s Source) postgres.Key {
		return postgres.Key{CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Name: s.Name, ID: string(s.ID)}
	})
}

// ListChunks lists a source's chunks in their order.
// Errors: NotFound, Invalid invalid-request (page_size, page_token).
func (s *Service) ListChunks(ctx context.Context, ref workspaces.Ref, id SourceID, p postgres.PageParams) ([]Chunk, string, error) {
	source, err := s.source(ctx, s.db, ref, id)
	if err != nil {
		return nil, "", err
	}
	p.Order = postgres.OldestFirst
	p.Filters = []string{string(ref.TenantID), string(ref.ID), string(id)}
	page, err := postgres.NewPage(p)
	if err != nil {
		return nil, "", err
	}
	return listChunks(ctx, s.db, source, page)
}

// ReprocessParams says how a source is read from now on.
type ReprocessParams struct {
	// ForceOCR reads every page of a PDF from its picture.
	ForceOCR bool
	// OCRLanguages of the text in its pictures; empty: as before.
	OCRLanguages []string
}

// Reprocess ingests the stored bytes again. While a run is at work, another one is noted to follow
// it (ReprocessWanted); for a source that waits, only p is noted. Errors: NotFound, Invalid
// invalid-request (OCR of what has no pictures, the names of languages).
func (s *Service) Reprocess(ctx context.Context, ref workspaces.Ref, id SourceID, p ReprocessParams) (source Source, err error) {
	now := s.moment()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		if source, err = s.source(ctx, tx, ref, id); err != nil {
			return err
		}
		if p.OCRLanguages, err = checkOCR(p.ForceOCR, p.OCRLanguages, source.MediaType); err != nil {
			return err
		}
		queued, err := requeue(ctx, tx, ref, id, p, now)
		if err != nil {
			return err
		}
		if source, err = selectSource(ctx, tx, ref, id, ""); err != nil || !queued {
			return err
		}
		return appendQueued(ctx, tx, source, now)
	})
	return source, err
}

// appendQueued tells the worker that a source waits.
func appendQueued(ctx context.Context, tx bun.IDB, source Source, now time.Time) error {
	_, err := events.Append(ctx, tx, events.Event{
		TenantID: string(source.TenantID), WorkspaceID: string(source.WorkspaceID),
		Type: events.SourceQueued, Subject: string(source.ID), CreatedAt: now,
	})
	return err
}

// Delete removes a source with its chunks and attachments, gives its bytes back to the plan and
// leaves its blob to the worker; repeating it is not an error. Errors: NotFound.
func (s *Service) Delete(ctx context.Context, ref workspaces.Ref, id SourceID) error {
	if !idgen.Valid(idgen.Source, string(id)) {
		return fault.NoSuch("source", string(id))
	}
	now := s.moment()
	return postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		source, deleted, err := deleteSource(ctx, tx, ref, id)
		if err != nil {
			return err
		}
		if !deleted {
			return s.workspaces.Gone(ctx, tx, ref.TenantID, "source", string(id))
		}
		if err := giveUp(ctx, tx, ref, source.content(), now); err != nil {
			return err
		}
		if err := giveUp(ctx, tx, ref, source.Previous, now); err != nil {
			return err
		}
		return s.workspaces.Bury(ctx, tx, ref.TenantID, string(id), now)
	})
}

// watchEvery is how often Watch looks; a person cannot tell it from at once.
const watchEvery = 300 * time.Millisecond

// Watch calls send with the source as it is, and again whenever its status, stage, progress
// or pages have changed, until it is ready or failed. Errors: NotFound, also when it is deleted
// meanwhile; send's; ctx's.
func (s *Service) Watch(ctx context.Context, ref workspaces.Ref, id SourceID, send func(Source) error) error {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	type view struct {
		status    Status
		stage     Stage
		progress  int
		pagesDone int
	}
	var last view
	for {
		source, err := s.source(ctx, s.db, ref, id)
		if err != nil {
			return err
		}
		if now := (view{source.Status, source.Stage, source.Progress, source.PagesDone}); now != last {
			last = now
			if err := send(source); err != nil {
				return err
			}
		}
		if source.Status == StatusReady || source.Status == StatusFailed {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
