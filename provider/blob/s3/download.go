package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
)

// download reads an object as it comes from the store. Reading from another place, for a caller who
// wants a piece of a file, is a request of its own.
type download struct {
	ctx    context.Context //nolint:containedctx // that of Get: Read takes none
	bucket *Bucket
	object string

	// sizeBytes and etag are those of the first answer.
	sizeBytes int64
	etag      string
	// at is where the next Read begins.
	at int64

	// body, if it is not nil, is open at bodyAt. cancel ends its request.
	body   io.ReadCloser
	bodyAt int64
	cancel context.CancelCauseFunc
}

// request opens the body from an offset on. It wants the object of the first request, which may
// have been replaced since.
func (d *download) request(from int64) error {
	var options minio.GetObjectOptions
	var err error
	if d.etag != "" {
		err = options.SetMatchETag(d.etag)
	}
	if from > 0 { // SetRange takes 0, 0 for the first byte alone
		err = errors.Join(err, options.SetRange(from, 0))
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(d.ctx)
	late := time.AfterFunc(answerTimeout, func() { cancel(errSlow) })
	body, info, _, err := d.bucket.client.GetObject(ctx, d.bucket.at.bucket, d.object, options)
	if err == nil && !late.Stop() {
		err = errors.Join(errSlow, body.Close())
	}
	if err != nil {
		late.Stop()
		err = d.bucket.because(ctx, err)
		cancel(nil)
		return err
	}
	if d.etag == "" {
		d.sizeBytes, d.etag = info.Size, info.ETag
	}
	d.body, d.bodyAt, d.cancel = body, from, cancel
	return nil
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	if d.at >= d.sizeBytes {
		return 0, io.EOF
	}
	if d.body != nil && d.bodyAt != d.at {
		_ = d.Close() // nothing was written
	}
	if d.body == nil {
		if err := d.request(d.at); err != nil {
			return 0, fmt.Errorf("reading a blob from byte %d: %w", d.at, err)
		}
	}
	n, err := d.body.Read(p)
	d.at += int64(n)
	d.bodyAt = d.at
	if errors.Is(err, io.EOF) && d.at < d.sizeBytes {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek implements io.Seeker.
func (d *download) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += d.at
	case io.SeekEnd:
		offset += d.sizeBytes
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a blob")
	}
	d.at = offset
	return offset, nil
}

// Close implements io.Closer. It ends the request.
func (d *download) Close() error {
	if d.body == nil {
		return nil
	}
	err := d.body.Close()
	d.cancel(nil)
	d.body = nil
	return err
}
