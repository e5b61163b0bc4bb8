package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"parlance.dev/parlance/platform/redact"
)

// ErrNotFound is in the chain of the error of Get and Stat when the key holds no blob.
var ErrNotFound = errors.New("no such blob")

// ErrInvalidKey is in the chain of every error about a key that CheckKey refuses.
var ErrInvalidKey = errors.New("invalid blob key")

// maxKeyBytes is the longest key; S3 allows 1,024 bytes.
const maxKeyBytes = 512

// keySegment is what every file system and S3 take unescaped; file systems allow 255 bytes.
var keySegment = regexp.MustCompile(`^[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,199}$`)

// Bucket stores whole blobs. It is safe for concurrent use.
type Bucket interface {
	// Put stores all of r under the key, replacing what was there, and returns the number of
	// bytes and their SHA-256 in lower-case hex. When r or the store fails, or ctx ends, the
	// key is as it was before.
	Put(ctx context.Context, key string, r io.Reader) (sizeBytes int64, sha256Hex string, err error)
	// Get opens the blob; the caller closes it. Errors: ErrNotFound, ErrInvalidKey.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Stat describes the blob without opening it. Errors: ErrNotFound, ErrInvalidKey.
	Stat(ctx context.Context, key string) (Info, error)
	// Delete removes the blob; deleting what is not there is no error.
	Delete(ctx context.Context, key string) error
	// Tidy removes what a Put left behind that began before a time and did not come to its end,
	// because its process was killed.
	Tidy(ctx context.Context, before time.Time) error
	// Check reports whether the bucket can be written now, for /readyz.
	Check(ctx context.Context) error
	// Close gives up what the bucket holds open. Readers from Get stay usable.
	Close() error
}

// Info describes a stored blob.
type Info struct {
	SizeBytes  int64
	ModifiedAt time.Time
}

// Open opens the bucket of a file:///absolute/path URL, making its directory if need be. Package
// s3 opens those of s3:// URLs.
func Open(bucketURL string) (Bucket, error) {
	u, err := url.Parse(bucketURL)
	if err != nil {
		return nil, errors.New("the bucket URL does not parse") // url.Error would print credentials in it
	}
	switch u.Scheme {
	case "file":
		if (u.Host != "" && u.Host != "localhost") || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
			return nil, fmt.Errorf("bucket URL %q: write file:/// and an absolute path", redact.URLs(u.String()))
		}
		return openFile(filepath.FromSlash(u.Path))
	}
	return nil, fmt.Errorf("bucket URL scheme %q is unknown: use file:///path", u.Scheme)
}

// CheckKey reports whether a key is one or more segments of letters, digits, '-', '_' and '.'
// joined by '/', none beginning with a dot, at most 512 bytes. Errors: ErrInvalidKey.
func CheckKey(key string) error {
	if key == "" || len(key) > maxKeyBytes {
		return fmt.Errorf("%w: %d bytes, want 1 to %d", ErrInvalidKey, len(key), maxKeyBytes)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if !keySegment.MatchString(segment) {
			return fmt.Errorf("%w: %q", ErrInvalidKey, key)
		}
	}
	return nil
}
