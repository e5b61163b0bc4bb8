package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/knowledge/document"
)

// change updates the state of an item and reports it.
func (j *Job) change(i int, do func(*State)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	do(&j.states[i])
	j.deps.Changed(i, j.states[i])
}

func (j *Job) end(i int, outcome Outcome, err error) {
	j.change(i, func(s *State) {
		s.Phase, s.Outcome, s.Err, s.Wait, s.Ended = Done, outcome, err, "", j.deps.Now()
	})
}

// add takes one item from begin to end. It holds a slot of uploads until the bytes are sent.
func (j *Job) add(ctx context.Context, i int) {
	j.change(i, func(s *State) { s.Began = j.deps.Now() })
	source, known, err := j.send(ctx, i)
	<-j.uploads
	switch {
	case err != nil && ctx.Err() != nil:
		j.end(i, NotSent, nil)
		return
	case err != nil:
		j.end(i, Failed, err)
		return
	}
	j.change(i, func(s *State) { s.Source, s.Phase = source, Ingesting })
	if j.params.NoWait && !finished(source) {
		j.end(i, Accepted, nil)
		return
	}
	j.finish(ctx, i, known)
}

// send brings the bytes of an item to the server, unless the workspace has them already.
func (j *Job) send(ctx context.Context, i int) (source *parlancev1.Source, known bool, err error) {
	if id := j.states[i].Item.SourceID; id != "" {
		source, err = j.reprocess(ctx, id, j.params.ForceOCR, j.params.OCRLanguages)
		return source, false, err
	}
	if err := j.download(ctx, i); err != nil {
		return nil, false, err
	}
	item := j.states[i].Item
	source, err = j.findExisting(ctx, item)
	switch {
	case err != nil:
		return nil, false, err
	case source.GetStatus() == "failed", source != nil && finished(source) && j.readsOtherwise(source):
		// A second source with the same bytes would fail in the same way.
		source, err = j.reprocess(ctx, source.GetId(), j.forced(source.GetMediaType()), j.languages(source.GetMediaType()))
		return source, false, err
	case source != nil:
		return source, true, nil
	}
	replaced, err := j.replaced(item)
	if err != nil {
		return nil, false, err
	}
	j.change(i, func(s *State) { s.Phase = Uploading })
	source, err = j.deps.upload(ctx, content{
		replaces: replaced.GetId(), path: item.Path, name: item.Name,
		mediaType: item.MediaType, sizeBytes: item.SizeBytes, forceOCR: j.forced(item.MediaType), tags: j.params.Tags,
		ocrLanguages: j.languages(item.MediaType),

		sent:  func(bytes int64) { j.sent(i, bytes) },
		waits: func(why string, _ time.Duration) { j.change(i, func(s *State) { s.Wait = why }) },
	})
	return source, false, err
}

// forced reports whether a source must be read by OCR even if it has text.
func (j *Job) forced(mediaType string) bool {
	return j.params.ForceOCR && document.BareType(mediaType) == document.ApplicationPDF
}

// languages are those that OCR must read a source in; none if it is never read by OCR.
func (j *Job) languages(mediaType string) []string {
	if !document.TakesOCR(document.BareType(mediaType)) {
		return nil
	}
	return j.params.OCRLanguages
}

// readsOtherwise reports whether a source must be read again because of how it is to be read.
func (j *Job) readsOtherwise(source *parlancev1.Source) bool {
	languages := j.languages(source.GetMediaType())
	return j.forced(source.GetMediaType()) || len(languages) > 0 && !slices.Equal(languages, source.GetOcrLanguages())
}

func (j *Job) reprocess(ctx context.Context, id string, forceOCR bool, languages []string) (*parlancev1.Source, error) {
	return j.deps.Knowledge.ReprocessSource(ctx, &parlancev1.ReprocessSourceRequest{
		WorkspaceId: j.deps.WorkspaceID, SourceId: id, ForceOcr: forceOCR, OcrLanguages: languages,
	})
}

// sent reports upload progress. It does nothing once the server has answered.
func (j *Job) sent(i int, bytes int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s := &j.states[i]; s.Phase == Uploading {
		s.SentBytes = bytes
		j.deps.Changed(i, *s)
	}
}

// download writes a page or the standard input to a file.
func (j *Job) download(ctx context.Context, i int) error {
	item := j.states[i].Item
	if item.Path != "" {
		return nil
	}
	j.change(i, func(s *State) { s.Phase = Fetching })
	file, err := os.Create(filepath.Join(j.dir, fmt.Sprint(i)))
	if err != nil {
		return plainPathError(err)
	}
	defer func() { _ = file.Close() }() // a failed write was reported already
	if item.URL == nil {
		item.SizeBytes, err = copyUntil(ctx, file, j.deps.In)
	} else {
		var page fetched
		page, err = fetchPage(ctx, j.deps.UserAgent, item.URL, item.MediaType, file)
		item.MediaType, item.SizeBytes = page.mediaType, page.sizeBytes
		if page.title != "" && item.Name == pageName("", item.URL) {
			item.Name = pageName(page.title, item.URL)
		}
	}
	if err != nil {
		return err
	}
	item.Path = file.Name()
	j.change(i, func(s *State) { s.Item = item })
	return nil
}

// copyUntil copies until ctx ends. A read of the standard input cannot be cancelled, so its
// goroutine may live until the process ends.
func copyUntil(ctx context.Context, to io.Writer, from io.Reader) (int64, error) {
	type result struct {
		bytes int64
		err   error
	}
	ended := make(chan result, 1) // nobody receives after ctx has ended
	go func() {
		n, err := io.Copy(to, &untilDone{ctx, from})
		ended <- result{n, err}
	}()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case r := <-ended:
		return r.bytes, r.err
	}
}

// untilDone is a reader that returns an error once ctx has ended.
type untilDone struct {
	ctx context.Context //nolint:containedctx // lives for one copy
	r   io.Reader
}

// Read implements io.Reader.
func (u *untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// findExisting returns a source of the workspace with the item's name and content; a failed one
// only if there is no other. The file is read only when a source has its name and size.
func (j *Job) findExisting(ctx context.Context, item Item) (found *parlancev1.Source, err error) {
	sum := ""
	for _, source := range j.existing[item.Name] {
		if int64(source.GetSizeBytes()) != item.SizeBytes {
			continue
		}
		if sum == "" {
			if sum, err = sumOf(ctx, item.Path); err != nil {
				return nil, err
			}
		}
		switch {
		case source.GetSha256() != sum:
		case source.GetStatus() != "failed":
			return source, nil
		default:
			found = source
		}
	}
	return found, nil
}

// replaced returns the source whose content the item becomes, nil when it becomes a new one. The
// workspace has no source with the item's name and content.
func (j *Job) replaced(item Item) (*parlancev1.Source, error) {
	var named []*parlancev1.Source
	for name, sources := range j.existing {
		// A page keeps its place when its title changes.
		if name == item.Name || item.URL != nil && strings.HasSuffix(name, " ("+pageName("", item.URL)+")") {
			named = append(named, sources...)
		}
	}
	switch {
	case len(named) == 0:
		return nil, nil //nolint:nilnil // it becomes a new source
	case !j.params.Replace:
		return nil, fmt.Errorf("%s is there with other content: --replace puts this in its place, --again adds a second source",
			named[0].GetId())
	case len(named) > 1:
		return nil, fmt.Errorf("%d sources have this name, so none was replaced: delete all but one (parlance kb rm %s), or rename them",
			len(named), named[0].GetId())
	}
	return named[0], nil
}

func sumOf(ctx context.Context, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", plainPathError(err)
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	if _, err := io.Copy(hash, &untilDone{ctx, file}); err != nil {
		return "", plainPathError(err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// finish waits for the end of the ingestion and attaches the source.
func (j *Job) finish(ctx context.Context, i int, known bool) {
	settledBefore := finished(j.states[i].Source)
	source, err := j.ingested(ctx, i)
	outcome := Ready
	switch {
	case err != nil && ctx.Err() != nil:
		j.end(i, Accepted, nil)
		return
	case err != nil:
		j.end(i, Failed, fmt.Errorf("it was accepted as %s, but could not be watched: %w", j.states[i].Source.GetId(), err))
		return
	case source.GetStatus() == "failed":
		j.end(i, Failed, &SourceFailure{Source: source})
		return
	case known && settledBefore:
		outcome = AlreadyThere
	}
	j.change(i, func(s *State) { s.Source = source })
	if j.params.Attach != "" {
		_, err := j.deps.Knowledge.AttachSources(ctx, &parlancev1.AttachSourcesRequest{
			WorkspaceId: j.deps.WorkspaceID, AgentId: j.params.Attach, SourceIds: []string{source.GetId()},
		})
		if err != nil {
			j.end(i, Failed, fmt.Errorf("it is ready as %s, but not attached: %w", source.GetId(), err))
			return
		}
	}
	j.end(i, outcome, nil)
}

// ingested waits for the end of the ingestion.
func (j *Job) ingested(ctx context.Context, i int) (*parlancev1.Source, error) {
	source := j.states[i].Source
	if finished(source) {
		return source, nil
	}
	if !acquire(ctx, j.watches) {
		return nil, ctx.Err()
	}
	defer func() { <-j.watches }()
	return Watch(ctx, j.deps.Knowledge, j.deps.WorkspaceID, source.GetId(), func(now *parlancev1.Source) {
		j.change(i, func(s *State) { s.Source = now })
	})
}
