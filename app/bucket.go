package app

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/blob/s3"
)

// OpenBucket opens the bucket that BLOB_URL names. It fails if the bucket cannot be used; the error
// names the setting to correct.
func OpenBucket(ctx context.Context, config Config) (blob.Bucket, error) {
	if !config.inS3() {
		return blob.Open(config.BlobURL)
	}
	guard, err := config.operatorGuard()
	if err != nil {
		return nil, err
	}
	return s3.Open(ctx, s3.Config{
		URL: config.BlobURL, AccessKeyID: config.S3AccessKeyID, SecretAccessKey: config.S3SecretAccessKey, Guard: guard,
	})
}

// inS3 reports whether files are kept in an S3 bucket.
func (c Config) inS3() bool { return strings.HasPrefix(c.BlobURL, s3.Scheme+"://") }

func (c *Config) parseBlobURL(v string) error {
	u, err := url.Parse(v)
	if err != nil {
		return errors.New("must be a URL") // url.Error would print what may be a password
	}
	if u.Scheme == s3.Scheme {
		c.BlobURL = v
		return s3.CheckURL(v)
	}
	return address(&c.BlobURL, "file", s3.Scheme)(v)
}
