package recordings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/platform/audio"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/workspaces"
)

// fileFormat is that of segments and of whole recordings.
var fileFormat = audio.Format{Encoding: audio.PCM16, RateHz: RateHz}

// File is the WAV file of a recording: stereo, 16 kHz, 16 bits, the user left. It is read from the
// bucket as it is needed. It is an io.ReadSeeker and an io.Closer, and not safe for concurrent use.
type File struct {
	// Name is the name to store it under.
	Name string
	// SizeBytes is the size of the whole file.
	SizeBytes int64

	bucket   blob.Bucket
	ctx      context.Context //nolint:containedctx // lives for one reading of the file, whose interface takes no context
	header   []byte
	segments []storedSegment
	// begins are where the samples of each segment begin in the file.
	begins []int64
	at     int64
	// open is the file of the segment openAt, read to where at is; nil: none is open.
	open   io.ReadCloser
	openAt int
}

// Open returns the recording of a session, as much as is stored now. The caller closes it. ctx
// bounds the reading. Errors: NotFound not-found when there is no recording, or none any more.
func (s *Service) Open(ctx context.Context, session sessions.Session) (*File, error) {
	if !isRecorded(session) {
		return nil, noRecording(session.ID)
	}
	return s.OpenTx(ctx, s.db, session.TenantID, session.ID)
}

// OpenTx is Open of what a transaction sees.
func (s *Service) OpenTx(ctx context.Context, db bun.IDB, tenant workspaces.TenantID, id sessions.ID) (*File, error) {
	segments, err := selectSegments(ctx, db, tenant, id)
	if err != nil {
		return nil, err
	}
	file := newFile(ctx, s.bucket, segments)
	if file.SizeBytes == headerBytes {
		return nil, noRecording(id)
	}
	file.Name = string(id) + ".wav"
	return file, nil
}

func newFile(ctx context.Context, bucket blob.Bucket, segments []storedSegment) *File {
	f := &File{bucket: bucket, ctx: ctx, SizeBytes: headerBytes}
	frames := 0
	for _, g := range segments {
		if g.Frames == 0 {
			continue
		}
		f.segments, f.begins = append(f.segments, g), append(f.begins, f.SizeBytes)
		frames += int(g.Frames)
		f.SizeBytes += g.Frames * frameBytes
	}
	f.header = audio.AppendWAVHeader(nil, fileFormat, channels, frames)
	return f
}

// Seek implements io.Seeker.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.SizeBytes
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a recording")
	}
	if offset != f.at {
		f.at = offset
		return offset, f.Close()
	}
	return offset, nil
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (n int, err error) {
	switch {
	case f.at >= f.SizeBytes:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	case f.at < headerBytes:
		n = copy(p, f.header[f.at:])
	default:
		n, err = f.readSegment(p)
	}
	f.at += int64(n)
	return n, err
}

// readSegment reads samples of the segment that the file is at.
func (f *File) readSegment(p []byte) (int, error) {
	number := sort.Search(len(f.begins), func(i int) bool { return f.begins[i] > f.at }) - 1
	skip := f.at - f.begins[number]
	p = p[:min(int64(len(p)), f.segments[number].Frames*frameBytes-skip)]
	if f.segments[number].Key == "" {
		clear(p)
		return len(p), nil
	}
	if f.open == nil || f.openAt != number {
		if err := f.openSegment(number, skip); err != nil {
			return 0, err
		}
	}
	n, err := f.open.Read(p)
	if errors.Is(err, io.EOF) {
		err = nil // of the segment
		if n == 0 {
			err = fmt.Errorf("read a segment of a recording: %w", io.ErrUnexpectedEOF)
		}
	}
	return n, err
}

// openSegment opens the file of a segment behind some bytes of its samples.
func (f *File) openSegment(number int, skip int64) error {
	if err := f.Close(); err != nil {
		return err
	}
	content, err := f.bucket.Get(f.ctx, f.segments[number].Key)
	if err != nil {
		return fmt.Errorf("open a segment of a recording: %w", err)
	}
	f.open, f.openAt = content, number
	if seeker, ok := content.(io.Seeker); ok {
		_, err = seeker.Seek(headerBytes+skip, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, content, headerBytes+skip)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("read a segment of a recording: %w", err), f.Close())
	}
	return nil
}

// Close implements io.Closer.
func (f *File) Close() error {
	if f.open == nil {
		return nil
	}
	err := f.open.Close()
	f.open = nil
	return err
}
