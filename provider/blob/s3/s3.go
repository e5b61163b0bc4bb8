package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/blob"
)

const (
	// partBytes is how much of an upload is in memory, and the size of its parts. S3 wants at least
	// 5 MiB and at most 10,000 parts.
	partBytes = 8 << 20
	maxParts  = 10_000

	// maxTries of one request; the client waits up to a second between them.
	maxTries = 5
	// requestTimeout bounds one request with all its tries: a part of 8 MiB at 1 Mbit/s takes 67 s.
	requestTimeout = 2 * time.Minute
	// answerTimeout bounds a request that sends nothing until the store answers.
	answerTimeout = 30 * time.Second

	// probe is the key that Check asks for. No blob can have it (blob.CheckKey).
	probe = ".check"
)

// Config describes a bucket. URL and Guard are required.
type Config struct {
	// URL is s3://bucket/prefix?endpoint=https://host&region=name; see CheckURL.
	URL string
	// The key is empty to use AWS's environment variables or, on AWS, the role of the process.
	AccessKeyID, SecretAccessKey seal.Secret
	// Guard dials the store, which the operator named.
	Guard *publicnet.Guard
}

// Bucket implements blob.Bucket. It is safe for concurrent use.
type Bucket struct {
	at     address
	client minio.Core
	close  func()
}

// Open opens a bucket and checks that it can be read. Its errors name the setting to correct.
func Open(ctx context.Context, config Config) (*Bucket, error) {
	at, err := parse(config.URL)
	if err != nil {
		return nil, fmt.Errorf("PARLANCE_BLOB_URL %w", err)
	}
	keys, err := newCredentials(config, at)
	if err != nil {
		return nil, err
	}
	httpClient, err := config.Guard.OperatorClient(at.hosts(), publicnet.ClientOptions{})
	if err != nil {
		return nil, fmt.Errorf("PARLANCE_BLOB_URL: %w", err)
	}
	client, err := minio.NewCore(at.endpoint.Host, &minio.Options{
		Creds: keys, Secure: at.endpoint.Scheme == "https", Transport: httpClient.Transport, Region: at.region, MaxRetries: maxTries,
	})
	if err != nil {
		return nil, fmt.Errorf("PARLANCE_BLOB_URL: %w", err)
	}
	client.SetS3EnableDualstack(at.dualStack())
	b := &Bucket{at: at, client: *client, close: httpClient.CloseIdleConnections}
	if err := b.Check(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Put implements blob.Bucket: one request, or parts that become one object when all are there.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader) (int64, string, error) {
	if err := blob.CheckKey(key); err != nil {
		return 0, "", err
	}
	u := &upload{bucket: b, object: b.at.prefix + key, from: r, sum: sha256.New()}
	if err := u.run(ctx); err != nil {
		return 0, "", fmt.Errorf("storing blob %q: %w", key, err)
	}
	return u.sizeBytes, hex.EncodeToString(u.sum.Sum(nil)), nil
}

// Get implements blob.Bucket. The reader is also an io.Seeker.
func (b *Bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := blob.CheckCall(ctx, key); err != nil {
		return nil, err
	}
	d := &download{ctx: ctx, bucket: b, object: b.at.prefix + key}
	if err := d.request(0); err != nil {
		return nil, fmt.Errorf("opening blob %q: %w", key, err)
	}
	return d, nil
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, key string) (blob.Info, error) {
	if err := blob.CheckCall(ctx, key); err != nil {
		return blob.Info{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSlow)
	defer cancel()
	info, err := b.client.StatObject(ctx, b.at.bucket, b.at.prefix+key, minio.StatObjectOptions{})
	if err != nil {
		return blob.Info{}, fmt.Errorf("describing blob %q: %w", key, b.because(ctx, err))
	}
	return blob.Info{SizeBytes: info.Size, ModifiedAt: info.LastModified.UTC()}, nil
}

// Delete implements blob.Bucket. A bucket with versions keeps the old ones until its life-cycle
// rules remove them.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := blob.CheckCall(ctx, key); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSlow)
	defer cancel()
	err := b.client.RemoveObject(ctx, b.at.bucket, b.at.prefix+key, minio.RemoveObjectOptions{})
	if err != nil {
		err = b.because(ctx, err)
	}
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("deleting blob %q: %w", key, err)
	}
	return nil
}

// Tidy implements blob.Bucket. An upload is as old as its beginning.
func (b *Bucket) Tidy(ctx context.Context, before time.Time) error {
	for key, id := "", ""; ; {
		page, err := b.unfinished(ctx, key, id)
		if err != nil {
			return fmt.Errorf("listing unfinished blobs: %w", err)
		}
		for _, left := range page.Uploads {
			if !left.Initiated.Before(before) {
				continue
			}
			if err := b.abort(ctx, left.Key, left.UploadID); err != nil {
				return fmt.Errorf("removing an unfinished blob: %w", err)
			}
		}
		if !page.IsTruncated || page.NextKeyMarker == key && page.NextUploadIDMarker == id {
			return nil
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// unfinished lists uploads that have not come to their end.
func (b *Bucket) unfinished(ctx context.Context, afterKey, afterID string) (minio.ListMultipartUploadsResult, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSlow)
	defer cancel()
	page, err := b.client.ListMultipartUploads(ctx, b.at.bucket, b.at.prefix, afterKey, afterID, "", 0)
	if err != nil {
		err = b.because(ctx, err)
	}
	return page, err
}

// abort removes the parts of an upload.
func (b *Bucket) abort(ctx context.Context, object, uploadID string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSlow)
	defer cancel()
	err := b.client.AbortMultipartUpload(ctx, b.at.bucket, object, uploadID)
	if err == nil || minio.ToErrorResponse(err).Code == minio.NoSuchUpload {
		return nil
	}
	return b.because(ctx, err)
}

// Check implements blob.Bucket: it asks for an object that is never there. The answer shows that
// the store, the bucket and the key are right, and costs less than writing at every check.
func (b *Bucket) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, errSlow)
	defer cancel()
	body, _, _, err := b.client.GetObject(ctx, b.at.bucket, b.at.prefix+probe, minio.GetObjectOptions{})
	if err == nil {
		return body.Close() // somebody has put it there
	}
	if err = b.because(ctx, err); errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	return err
}

// Close implements blob.Bucket.
func (b *Bucket) Close() error {
	b.close()
	return nil
}

// because explains the error of a request, or says why its context ended.
func (b *Bucket) because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errSlow) {
			return unavailable(fmt.Errorf("%s: %w", b.at.endpoint, cause))
		}
		return cause
	}
	return b.explain(err)
}
