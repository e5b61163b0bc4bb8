package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/events"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

// Content is what a source was made of.
type Content struct {
	Kind      Kind   `bun:"kind"`
	MediaType string `bun:"media_type"`
	SizeBytes int64  `bun:"size_bytes"`
	SHA256    string `bun:"sha256"`
	BlobKey   string `bun:"blob_key"`
	ForceOCR  bool   `bun:"force_ocr"`
	// OCRLanguages as those of a Source.
	OCRLanguages []string `bun:"ocr_languages,array,nullzero"`
}

// content is what the source is made of now.
func (s Source) content() Content {
	return Content{
		Kind: s.Kind, MediaType: s.MediaType, SizeBytes: s.SizeBytes, SHA256: s.SHA256, BlobKey: s.BlobKey, ForceOCR: s.ForceOCR,
		OCRLanguages: s.OCRLanguages,
	}
}

// replace gives a source other content and queues it; the chunks that it has answer until those of
// the new content take their place. The content that they are of is kept, to go back to; any other
// is given up. Equal content changes nothing, unless it has failed.
//
// fresh has the new content and, when they are to change, the name and the tags. fits is false, and
// nothing is changed, when the plan has no room for it. Errors: NotFound, ErrTakenOver (fresh has
// an owner, and the source another).
func (s *Service) replace(ctx context.Context, tx bun.Tx, plan workspaces.Plan, id SourceID, fresh *Source) (fits bool, err error) {
	now, key := s.moment(), fresh.BlobKey
	current, err := selectSource(ctx, tx, fresh.Ref(), id, forUpdate)
	if err != nil {
		return false, err
	}
	if fresh.Owner != "" && fresh.Owner != current.Owner {
		return false, ErrTakenOver
	}
	fetching := current.Stage == StageFetching && fresh.Owner == "" // what it gives must not take the place of this
	if same := fresh.content(); current.Status != StatusFailed && !fetching && same.SHA256 == current.SHA256 &&
		same.MediaType == current.MediaType && same.ForceOCR == current.ForceOCR && slices.Equal(same.OCRLanguages, current.OCRLanguages) {
		if err := dropHold(ctx, tx, current.Ref(), key); err != nil {
			return false, err
		}
		name, tags := fresh.Name, fresh.Tags
		*fresh = current
		return true, describe(ctx, tx, fresh, name, tags, now)
	}
	kept, dropped := current.content(), current.Previous
	switch {
	case !current.Usable():
		kept, dropped = Content{}, kept
	case current.Replacing:
		kept, dropped = dropped, kept
	}
	if err := giveUp(ctx, tx, current.Ref(), dropped, now); err != nil {
		return false, err
	}
	if fits, err = s.count(ctx, tx, plan, fresh, now); err != nil || !fits {
		return fits, err
	}
	name, tags, next := fresh.Name, fresh.Tags, fresh.content()
	if *fresh, err = setContent(ctx, tx, current, next, kept, now); err != nil {
		return false, err
	}
	if err := describe(ctx, tx, fresh, name, tags, now); err != nil {
		return false, err
	}
	return true, appendQueued(ctx, tx, *fresh, now)
}

// giveUp gives the bytes of content back to the plan, and its blob to the worker.
func giveUp(ctx context.Context, tx bun.Tx, ref workspaces.Ref, dropped Content, now time.Time) error {
	if dropped.BlobKey == "" {
		return nil
	}
	if err := releaseStored(ctx, tx, ref, dropped.SizeBytes); err != nil {
		return err
	}
	_, err := events.Append(ctx, tx, events.Event{
		TenantID: string(ref.TenantID), WorkspaceID: string(ref.ID),
		Type: events.BlobOrphaned, Subject: dropped.BlobKey, CreatedAt: now,
	})
	return err
}

// GoBack has a source whose replacement has failed be made of the content before again, and gives
// the new one up.
func GoBack(ctx context.Context, tx bun.Tx, source Source, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET kind = previous_kind, media_type = previous_media_type, size_bytes = previous_size_bytes, sha256 = previous_sha256,
		    blob_key = previous_blob_key, force_ocr = previous_force_ocr, ocr_languages = previous_ocr_languages,
		    previous_kind = '', previous_media_type = '', previous_size_bytes = 0, previous_sha256 = '', previous_blob_key = '',
		    previous_force_ocr = false, previous_ocr_languages = '{}', replacing = false
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?`, source.TenantID, source.WorkspaceID, source.ID)
	if err != nil {
		return fmt.Errorf("go back to the content before: %w", err)
	}
	return giveUp(ctx, tx, source.Ref(), source.content(), now)
}

// Restore goes back to the content that the source had before its last replacement; what it has
// now becomes the one before. A replacement that is not ready yet is given up. Until the chunks are
// made, those that there are answer.
// Errors: NotFound, Precondition kb-nothing-to-restore.
func (s *Service) Restore(ctx context.Context, ref workspaces.Ref, id SourceID) (Source, error) {
	now := s.moment()
	var source Source
	err := postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		current, err := selectSource(ctx, tx, ref, id, forUpdate)
		if err != nil {
			return err
		}
		next, kept := current.Previous, current.content()
		if next.BlobKey == "" {
			return fault.New(fault.KBNothingToRestore, "The source was not replaced, so there is no content before.")
		}
		if current.Replacing {
			if err := giveUp(ctx, tx, ref, kept, now); err != nil {
				return err
			}
			kept = Content{}
		}
		if source, err = setContent(ctx, tx, current, next, kept, now); err != nil {
			return err
		}
		return appendQueued(ctx, tx, source, now)
	})
	return source, err
}

// UpdateParams are the changes of a source; nil leaves what there is.
type UpdateParams struct {
	// Name is searched too.
	Name *string
	Tags *[]string
	// RefreshEvery is for a source with a URL.
	RefreshEvery *string
	// Content is pasted text, which takes the place of the content.
	Content *string
}

// clean checks the changes that describe replaces; empty and nil are none.
func (p UpdateParams) clean() (name string, tags []string, err error) {
	if p.Name != nil {
		if name, err = cleanName(*p.Name); err != nil {
			return "", nil, err
		}
	}
	if p.Tags != nil {
		tags, err = cleanTags(append([]string{}, *p.Tags...))
	}
	return name, tags, err
}

// Update changes a source. Errors: NotFound, Invalid invalid-request, Precondition kb-no-url, those
// of CreateInline.
func (s *Service) Update(ctx context.Context, ref workspaces.Ref, id SourceID, p UpdateParams) (source Source, err error) {
	name, tags, err := p.clean()
	if err != nil {
		return Source{}, err
	}
	if p.Content != nil {
		if p.RefreshEvery != nil {
			return Source{}, fault.InvalidField("refresh_every", "alone", "Change content and refresh_every in two requests.")
		}
		if _, err := s.source(ctx, s.db, ref, id); err != nil {
			return Source{}, err
		}
		return s.putInline(ctx, ref, id, Source{Name: name, Tags: tags}, *p.Content)
	}
	every := 0
	if p.RefreshEvery != nil {
		if every, err = parseRefresh(*p.RefreshEvery); err != nil {
			return Source{}, err
		}
	}
	now := s.moment()
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) error {
		if source, err = selectSource(ctx, tx, ref, id, forUpdate); err != nil {
			return err
		}
		if p.RefreshEvery != nil {
			if err := setRefresh(ctx, tx, &source, every, now); err != nil {
				return err
			}
		}
		return describe(ctx, tx, &source, name, tags, now)
	})
	return source, err
}

// setContent makes content a source's and queues it. A run that is at work on it is lost, and so is
// what a URL said about the content before: it is asked anew when it is due.
func setContent(ctx context.Context, tx bun.IDB, current Source, next, kept Content, now time.Time) (Source, error) {
	origin := telemetry.OriginOf(ctx)
	var source Source
	err := tx.NewRaw(`
		UPDATE sources
		SET kind = ?, media_type = ?, size_bytes = ?, sha256 = ?, blob_key = ?, force_ocr = ?, ocr_languages = ?,
		    previous_kind = ?, previous_media_type = ?, previous_size_bytes = ?, previous_sha256 = ?, previous_blob_key = ?,
		    previous_force_ocr = ?, previous_ocr_languages = ?, replacing = ?, reprocess_wanted = false,
		    status = 'queued', stage = '', progress = 0, owner = '', heartbeat_at = NULL, attempt = 0, due_at = ?,
		    queued_until = NULL, error_code = '', error_message = '', updated_at = ?, traceparent = ?, request_id = ?,
		    etag = '', last_modified = '', fetch_error = '',
		    fetch_due_at = CASE WHEN refresh_every_seconds > 0 THEN ?::timestamptz + make_interval(secs => refresh_every_seconds) END
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?
		RETURNING *`,
		next.Kind, next.MediaType, next.SizeBytes, next.SHA256, next.BlobKey, next.ForceOCR, textArray(next.OCRLanguages),
		kept.Kind, kept.MediaType, kept.SizeBytes, kept.SHA256, kept.BlobKey, kept.ForceOCR, textArray(kept.OCRLanguages), kept.BlobKey != "",
		now, now, origin.Traceparent, origin.RequestID, now,
		current.TenantID, current.WorkspaceID, current.ID).Scan(ctx, &source)
	if err != nil {
		return Source{}, fmt.Errorf("change the content of a source: %w", err)
	}
	return source, nil
}

// describe gives a source a name and tags; empty and nil leave them. With another name its index is
// made anew in the background: the words of the name are in it.
func describe(ctx context.Context, tx bun.IDB, source *Source, name string, tags []string, now time.Time) error {
	name = cmp.Or(name, source.Name)
	if tags == nil {
		tags = source.Tags
	}
	renamed := name != source.Name
	if !renamed && slices.Equal(tags, source.Tags) {
		return nil
	}
	source.Name, source.Tags, source.UpdatedAt = name, tags, now
	_, err := tx.ExecContext(ctx, `
		UPDATE sources
		SET name = ?, tags = ?, updated_at = ?
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND id = ?`, name, textArray(tags), now, source.TenantID, source.WorkspaceID, source.ID)
	if err != nil {
		return fmt.Errorf("describe source: %w", err)
	}
	if !renamed {
		return nil
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE source_words
		SET version = -version
		WHERE tenant_id = ?
		  AND workspace_id = ?
		  AND source_id = ?
		  AND version > 0`, source.TenantID, source.WorkspaceID, source.ID)
	if err != nil {
		return fmt.Errorf("have the index of a source made anew: %w", err)
	}
	return nil
}
