package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/minio/minio-go/v7"

	"parlance.dev/parlance/provider/blob"
)

// upload is one Put. minio's own PutObject is not used for streams: it takes a stream that broke
// off (io.ErrUnexpectedEOF) for one that ended, and would store half a file as a whole one.
type upload struct {
	bucket *Bucket
	object string
	from   io.Reader
	sum    hash.Hash

	part      bytes.Buffer
	sizeBytes int64
}

// run stores all of the stream.
func (u *upload) run(ctx context.Context) error {
	last, err := u.read(ctx)
	if err != nil {
		return err
	}
	if last {
		return u.putWhole(ctx)
	}
	id, err := u.begin(ctx)
	if err != nil {
		return err
	}
	if err := u.putParts(ctx, id); err != nil {
		// The parts must go also when the caller has hung up.
		return errors.Join(err, u.bucket.abort(context.WithoutCancel(ctx), u.object, id))
	}
	return nil
}

// read fills the part from the stream, and reports whether that was the stream's end.
func (u *upload) read(ctx context.Context) (last bool, err error) {
	u.part.Reset()
	n, err := io.Copy(io.MultiWriter(&u.part, u.sum), io.LimitReader(blob.WithContext(ctx, u.from), partBytes))
	u.sizeBytes += n
	if err == nil {
		err = ctx.Err()
	}
	return n < partBytes, err
}

// putWhole stores a blob of one part by one request.
func (u *upload) putWhole(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errSlow)
	defer cancel()
	_, err := u.bucket.client.PutObject(ctx, u.bucket.at.bucket, u.object, bytes.NewReader(u.part.Bytes()), int64(u.part.Len()),
		"", u.partSum(), minio.PutObjectOptions{DisableContentSha256: true})
	if err != nil {
		return u.bucket.because(ctx, err)
	}
	return nil
}

// begin announces an upload in parts.
func (u *upload) begin(ctx context.Context) (id string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSlow)
	defer cancel()
	if id, err = u.bucket.client.NewMultipartUpload(ctx, u.bucket.at.bucket, u.object, minio.PutObjectOptions{}); err != nil {
		return "", u.bucket.because(ctx, err)
	}
	return id, nil
}

// putParts stores the part that has been read and those that follow, and completes the object.
func (u *upload) putParts(ctx context.Context, id string) error {
	var parts []minio.CompletePart
	for last := false; ; {
		if len(parts) == maxParts {
			return fmt.Errorf("a blob cannot have more than %d parts of %d bytes", maxParts, partBytes)
		}
		part, err := u.putPart(ctx, id, len(parts)+1)
		if err != nil {
			return err
		}
		if parts = append(parts, part); last {
			break
		}
		if last, err = u.read(ctx); err != nil {
			return err
		}
		if last && u.part.Len() == 0 {
			break
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errSlow)
	defer cancel()
	_, err := u.bucket.client.CompleteMultipartUpload(ctx, u.bucket.at.bucket, u.object, id, parts, minio.PutObjectOptions{})
	if err != nil {
		return u.bucket.because(ctx, err)
	}
	return nil
}

// putPart stores the part that has been read.
func (u *upload) putPart(ctx context.Context, id string, number int) (minio.CompletePart, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errSlow)
	defer cancel()
	part, err := u.bucket.client.PutObjectPart(ctx, u.bucket.at.bucket, u.object, id, number, bytes.NewReader(u.part.Bytes()),
		int64(u.part.Len()), minio.PutObjectPartOptions{Sha256Hex: u.partSum(), DisableContentSha256: true})
	if err != nil {
		return minio.CompletePart{}, u.bucket.because(ctx, err)
	}
	return minio.CompletePart{PartNumber: number, ETag: part.ETag}, nil
}

// partSum is signed with the request: the store refuses a body with another sum.
func (u *upload) partSum() string {
	sum := sha256.Sum256(u.part.Bytes())
	return hex.EncodeToString(sum[:])
}
