package knowledge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge/document"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/platform/telemetry"
	"parlance.dev/parlance/workspaces"
)

const (
	// maxInlineBytes is the most pasted text. Source: decisions, Knowledge base.
	maxInlineBytes = 1 << 20
	// maxNameRunes is the longest display name.
	maxNameRunes = 200
	// cleanUpTimeout bounds what is put right after a caller has gone.
	cleanUpTimeout = 10 * time.Second
)

// UploadParams describes a file.
type UploadParams struct {
	// Filename is the name it has at the caller's; its extension decides the type when
	// MediaType is empty or application/octet-stream.
	Filename  string
	MediaType string
	// Name is the display name; empty: Filename.
	Name string
	// AtLeastBytes is the least size that is known beforehand, to refuse early; 0: unknown.
	AtLeastBytes int64
	// ForceOCR reads every page of a PDF from its picture.
	ForceOCR bool
	// Tags of the source; nil: none, or with Replaces those it has.
	Tags []string
	// OCRLanguages of the text in pictures, of a PDF or picture; empty: those of the installation.
	OCRLanguages []string
	// Replaces is the source whose content the file becomes; empty: the file becomes a source. Its
	// name stays when Name is empty.
	Replaces SourceID
	// Owner, when set, is the run that has fetched the file for Replaces: it is ErrTakenOver when the
	// source is no longer that run's.
	Owner string
	// AfterFile, when set, is called after the last byte and returns what the caller said there.
	// Its error refuses the upload.
	AfterFile func() (LateParams, error)
}

// LateParams are those of an upload that may come after the file. What is empty or false there is
// as UploadParams says.
type LateParams struct {
	Name         string
	ForceOCR     bool
	OCRLanguages []string
	Tags         []string
}

// Upload streams a file into the bucket and queues it for ingestion. The type is checked before r
// is read, the beginning of the content before anything is stored; when it fails, nothing stays.
// Memory does not grow with the file. Errors: UnsupportedMedia kb-unsupported-media-type,
// QuotaExceeded quota-exceeded-kb-upload-size and quota-exceeded-kb-storage, Invalid
// invalid-request (the name, OCR of what has no pictures, the names of languages), NotFound
// (Replaces), r's.
func (s *Service) Upload(ctx context.Context, ref workspaces.Ref, p UploadParams, r io.Reader) (Source, error) {
	mediaType, err := s.readableType(p.MediaType, p.Filename)
	if err != nil {
		return Source{}, err
	}
	if _, err := checkOCR(p.ForceOCR, p.OCRLanguages, mediaType); err != nil {
		return Source{}, err
	}
	plan, err := s.roomForFile(ctx, ref, p.AtLeastBytes)
	if err != nil {
		return Source{}, err
	}
	if p.Replaces != "" {
		if _, err := s.source(ctx, s.db, ref, p.Replaces); err != nil {
			return Source{}, err
		}
	}
	first, ended, err := beginning(r)
	if err != nil {
		return Source{}, err
	}
	if err := document.Sniff(mediaType, first); err != nil {
		return Source{}, err
	}
	if int64(len(first)) > plan.KBUploadBytes { // before its bytes are held, which may fail for the storage
		return Source{}, s.errUploadSize(plan)
	}
	body := io.Reader(bytes.NewReader(first))
	if !ended {
		body = io.MultiReader(body, r)
	}
	return s.store(ctx, stored{
		ref: ref, plan: plan, replaces: p.Replaces, source: Source{Kind: KindFile, MediaType: mediaType, Owner: p.Owner},
		body:    &cappedReader{r: body, left: plan.KBUploadBytes, refuseFunc: func() error { return s.errUploadSize(plan) }},
		atLeast: max(p.AtLeastBytes, int64(len(first))), sayFunc: func(source *Source) error { return p.say(source) },
	})
}

// beginning reads what Sniff looks at. io.ReadFull would not do: it gives a short file and a
// reader that was cut off the same error.
func beginning(r io.Reader) (first []byte, ended bool, err error) {
	first = make([]byte, document.SniffBytes)
	n := 0
	for n < len(first) {
		got, err := r.Read(first[n:])
		n += got
		if errors.Is(err, io.EOF) {
			return first[:n], true, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("read the beginning of the upload: %w", err)
		}
	}
	return first, false, nil
}

// CheckUpload refuses an upload that cannot succeed before its body is read. replaces is the source
// whose content it would become; empty: none.
// Errors: QuotaExceeded quota-exceeded-kb-upload-size and quota-exceeded-kb-storage, NotFound.
func (s *Service) CheckUpload(ctx context.Context, ref workspaces.Ref, replaces SourceID, atLeastBytes int64) error {
	if replaces != "" {
		if _, err := s.source(ctx, s.db, ref, replaces); err != nil {
			return err
		}
	}
	_, err := s.roomForFile(ctx, ref, atLeastBytes)
	return err
}

// CreateInline stores pasted Markdown and queues it for ingestion. Errors: TooLarge body-too-large,
// QuotaExceeded quota-exceeded-kb-storage, Invalid invalid-request.
func (s *Service) CreateInline(ctx context.Context, ref workspaces.Ref, name, content string, tags ...string) (Source, error) {
	name, err := cleanName(name)
	if err != nil {
		return Source{}, err
	}
	if tags, err = cleanTags(tags); err != nil {
		return Source{}, err
	}
	return s.putInline(ctx, ref, "", Source{Name: name, Tags: tags}, content)
}

// putInline stores pasted text as a source, or as the content of the one that it replaces. source
// has the name and the tags; empty and nil leave those of the replaced one.
func (s *Service) putInline(ctx context.Context, ref workspaces.Ref, replaces SourceID, source Source, content string) (Source, error) {
	if len(content) > maxInlineBytes {
		return Source{}, fault.OnField(fault.BodyTooLarge, "content",
			"content has %d bytes; pasted text may have 1 MiB. Upload it as a file.", len(content))
	}
	if strings.TrimSpace(content) == "" {
		return Source{}, fault.InvalidField("content", "required", "content holds no text.")
	}
	plan, err := s.workspaces.Plan(ctx, ref.TenantID)
	if err != nil {
		return Source{}, err
	}
	if err := s.room(ctx, ref, plan, int64(len(content))); err != nil {
		return Source{}, err
	}
	source.Kind, source.MediaType = KindInline, document.TextMarkdown
	return s.store(ctx, stored{
		ref: ref, plan: plan, replaces: replaces, source: source,
		body: strings.NewReader(content), atLeast: int64(len(content)),
	})
}

// roomForFile is the tenant's plan, or the refusal of a file of so many bytes as things stand now.
func (s *Service) roomForFile(ctx context.Context, ref workspaces.Ref, bytes int64) (workspaces.Plan, error) {
	plan, err := s.workspaces.Plan(ctx, ref.TenantID)
	if err != nil {
		return workspaces.Plan{}, err
	}
	if bytes > plan.KBUploadBytes {
		return workspaces.Plan{}, s.errUploadSize(plan)
	}
	return plan, s.room(ctx, ref, plan, bytes)
}

// room refuses early what admit would refuse later.
func (s *Service) room(ctx context.Context, ref workspaces.Ref, plan workspaces.Plan, bytes int64) error {
	workspace, err := s.workspaces.Workspace(ctx, ref)
	if err == nil && workspace.KBUsedBytes+bytes > plan.KBStorageBytes {
		err = s.errNoRoom(plan)
	}
	return err
}

// stored is what store works with.
type stored struct {
	ref  workspaces.Ref
	plan workspaces.Plan
	// replaces is the source whose content it becomes; empty: it becomes a source.
	replaces SourceID
	source   Source
	body     io.Reader
	// atLeast is how many bytes body is known to have.
	atLeast int64
	// sayFunc, when set, says the rest of the source when body has been read.
	sayFunc func(*Source) error
}

// store holds room in the plan, puts the bytes into the bucket, and makes the row.
func (s *Service) store(ctx context.Context, p stored) (source Source, err error) {
	source = p.source
	key := string(p.ref.ID) + "/" + strings.ToLower(rand.Text())
	room := &hold{service: s, ref: p.ref, plan: p.plan, key: key}
	defer func() {
		if err != nil || source.BlobKey != key {
			s.discard(ctx, p.ref, key)
		}
	}()
	// Whoever hangs up does not cut it off: nobody would know whether the room was taken.
	taking, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	err = room.take(taking, p.atLeast)
	cancel()
	if err != nil {
		return Source{}, err
	}
	source.SizeBytes, source.SHA256, err = s.bucket.Put(ctx, key, room.reader(ctx, p.body))
	if err != nil {
		return Source{}, fmt.Errorf("store the bytes: %w", err)
	}
	if p.sayFunc != nil {
		if err := p.sayFunc(&source); err != nil {
			return Source{}, err
		}
	}
	source.TenantID, source.WorkspaceID = p.ref.TenantID, p.ref.ID
	if p.replaces != "" {
		return s.storeReplacement(ctx, p, source, key)
	}
	now := s.moment()
	source.ID = SourceID(idgen.In(ctx, idgen.Source))
	source.Status, source.DueAt, source.CreatedAt, source.UpdatedAt = StatusQueued, now, now, now
	origin := telemetry.OriginOf(ctx)
	source.Traceparent, source.RequestID = origin.Traceparent, origin.RequestID
	telemetry.Note(ctx, telemetry.KeySourceID, string(source.ID))
	fits := false
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		source.BlobKey = key
		fits, err = s.admit(ctx, tx, p.plan, &source)
		return err
	})
	if err == nil && !fits {
		err = s.errNoRoom(p.plan)
	}
	if err != nil {
		if made, findErr := selectSource(ctx, s.db, p.ref, source.ID, ""); findErr == nil && made.SHA256 == source.SHA256 { // see idgen.In
			source, err = made, nil
		}
	}
	return source, err
}

// storeReplacement makes what was put under key the content of the source that it replaces.
func (s *Service) storeReplacement(ctx context.Context, p stored, fresh Source, key string) (source Source, err error) {
	telemetry.Note(ctx, telemetry.KeySourceID, string(p.replaces))
	fits := false
	err = postgres.InTx(ctx, s.db, func(ctx context.Context, tx bun.Tx) (err error) {
		source = fresh
		source.BlobKey = key
		fits, err = s.replace(ctx, tx, p.plan, p.replaces, &source)
		if err == nil && !fits {
			err = s.errNoRoom(p.plan) // rolls back what was given up for it
		}
		return err
	})
	return source, err
}

// admit counts the bytes and inserts the row. When the bytes do not fit, only the hold is gone.
func (s *Service) admit(ctx context.Context, tx bun.Tx, plan workspaces.Plan, source *Source) (fits bool, err error) {
	if fits, err = s.count(ctx, tx, plan, source, source.CreatedAt); err != nil || !fits {
		return fits, err
	}
	if err := insertSource(ctx, tx, *source); err != nil {
		return false, err
	}
	return true, appendQueued(ctx, tx, *source, source.CreatedAt)
}

// count turns what was held into bytes counted against the plan, and gives the source the blob of
// equal bytes when the workspace has one. The workspace's row stays locked from the count to the
// commit, so no other upload or deletion changes what is found here. When the bytes do not fit
// after all, only the hold is gone; see hold.take.
func (s *Service) count(ctx context.Context, tx bun.Tx, plan workspaces.Plan, source *Source, now time.Time) (fits bool, err error) {
	ref, key := source.Ref(), source.BlobKey
	free, err := freeBytes(ctx, tx, ref, plan.KBStorageBytes, key, now)
	if err != nil {
		return false, err
	}
	if err := dropHold(ctx, tx, ref, key); err != nil || source.SizeBytes > free {
		return false, err
	}
	if err := countStored(ctx, tx, ref, source.SizeBytes); err != nil {
		return false, err
	}
	shared, err := sharedBlob(ctx, tx, ref, source.SHA256)
	if err != nil {
		return false, err
	}
	if shared == "" {
		mine, err := ownStray(ctx, tx, key)
		if err != nil {
			return false, err
		}
		if !mine {
			return false, fault.New(fault.DeadlineExceeded, "The upload took longer than a day.")
		}
	} else {
		source.BlobKey = shared
	}
	return true, nil
}

// discard deletes a blob that no row came to own, and what is held for it. The caller may be gone
// by now. What fails here is done by Sweep, which is why the note goes last.
func (s *Service) discard(ctx context.Context, ref workspaces.Ref, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	if err := errors.Join(dropHold(ctx, s.db, ref, key), s.SweepBlob(ctx, key)); err != nil {
		s.log.WarnContext(ctx, "blob left to the sweeper", telemetry.KeyError, err)
	}
}

// readableType is the media type of an upload that this version can read.
// Errors: UnsupportedMedia kb-unsupported-media-type.
func (s *Service) readableType(declared, filename string) (string, error) {
	mediaType, ok := document.Resolve(declared, filename)
	if !ok {
		ending := path.Ext(filename)
		switch {
		case !document.IsUnspecific(declared):
			return "", fault.New(fault.KBUnsupportedMediaType, "Files of type %s are not accepted; this version reads %s.",
				declared, s.readableTypes())
		case ending == "":
			return "", fault.New(fault.KBUnsupportedMediaType,
				"What the file is, is said neither by a Content-Type nor by the ending of its name; "+
					"this version reads %s.", s.readableTypes())
		}
		return "", fault.New(fault.KBUnsupportedMediaType, "The file %s cannot be read: files with the ending %s are not accepted. "+
			"This version reads %s.", strconv.Quote(filename), strconv.Quote(ending), s.readableTypes())
	}
	if document.Contradicts(mediaType, filename) {
		return "", fault.New(fault.KBUnsupportedMediaType,
			"The file is declared as %s, but called %s: send the type that it has.", mediaType, strconv.Quote(path.Ext(filename)))
	}
	if !document.Readable(mediaType, s.readers) {
		return "", fault.New(fault.KBUnsupportedMediaType, "This version cannot read %s yet; it reads %s.", mediaType, s.readableTypes())
	}
	return mediaType, nil
}

func (s *Service) readableTypes() string {
	var names []string
	for _, one := range document.MediaTypes() {
		if document.Readable(one.Name, s.readers) {
			names = append(names, one.Name)
		}
	}
	return strings.Join(names, ", ")
}

// say gives the source its display name (the one after the file, the one before it, the file's),
// its tags, and how it is read.
func (p UploadParams) say(source *Source) (err error) {
	if p.AfterFile != nil {
		late, err := p.AfterFile()
		if err != nil {
			return err
		}
		p.Name, p.ForceOCR = cmp.Or(late.Name, p.Name), late.ForceOCR || p.ForceOCR
		if late.Tags != nil {
			p.Tags = late.Tags
		}
		if len(late.OCRLanguages) > 0 {
			p.OCRLanguages = late.OCRLanguages
		}
	}
	if source.Tags, err = cleanTags(p.Tags); err != nil {
		return err
	}
	if source.OCRLanguages, err = checkOCR(p.ForceOCR, p.OCRLanguages, source.MediaType); err != nil {
		return err
	}
	source.ForceOCR = p.ForceOCR
	if p.Name != "" {
		source.Name, err = cleanName(p.Name)
	} else if p.Replaces == "" {
		source.Name, err = nameOfFile(p.Filename)
	}
	return err
}

func nameOfFile(filename string) (string, error) {
	file := path.Base(strings.ReplaceAll(filename, `\`, "/"))
	if file == "." || file == "/" {
		return "", fault.InvalidField("name", "required", "Send a name, or a file name.")
	}
	runes := []rune(strings.Map(dropControl, strings.ToValidUTF8(file, "")))
	return cleanName(string(runes[:min(len(runes), maxNameRunes)]))
}

func dropControl(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// dropTurn drops the characters that turn the text after them around, by which a name can look like
// another one; the marks that right-to-left names need stay.
func dropTurn(r rune) rune {
	if r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' {
		return -1
	}
	return r
}

// cleanName trims a display name. Errors: Invalid invalid-request.
func cleanName(name string) (string, error) {
	if utf8.ValidString(name) {
		name = strings.Map(dropTurn, name)
	}
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", fault.InvalidField("name", "required", "name cannot be empty.")
	case utf8.RuneCountInString(name) > maxNameRunes:
		return "", fault.InvalidField("name", "max_len", "name may have %d characters.", maxNameRunes)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", fault.InvalidField("name", "characters", "name must be UTF-8 without control characters.")
	}
	return name, nil
}

func (s *Service) errUploadSize(plan workspaces.Plan) error {
	refusal := fault.New(fault.QuotaKBUploadSize, "The plan %q takes uploads of up to %d bytes.", plan.Name, plan.KBUploadBytes)
	refusal.Meta = map[string]string{"limit_bytes": strconv.FormatInt(plan.KBUploadBytes, 10)}
	return workspaces.Refuse(refusal, plan, s.workspaces.PlanWithMore(plan, func(p workspaces.Plan) int64 { return p.KBUploadBytes }))
}

// cappedReader fails with quota-exceeded-kb-upload-size at the first byte over the plan's.
type cappedReader struct {
	r    io.Reader
	left int64
	// refuseFunc makes the error.
	refuseFunc func() error
}

// Read implements io.Reader.
func (c *cappedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if c.left < 0 {
		return n, c.refuseFunc()
	}
	return n, err
}
