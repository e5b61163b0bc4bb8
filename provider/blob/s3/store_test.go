//go:build s3

package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/platform/publicnet"
	"parlance.dev/parlance/platform/seal"
	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/blob/blobtest"
)

// These tests run on a real store: .ci/s3 starts one. To use another, set PARLANCE_TEST_S3_URL to
// an s3:// URL of a bucket, set PARLANCE_S3_ACCESS_KEY_ID and PARLANCE_S3_SECRET_ACCESS_KEY, and
// run go test -tags s3 ./provider/blob/s3. They write below a prefix of their own.

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket { return open(t) })
}

// TestParts stores blobs whose sizes lie around those of parts.
func TestParts(t *testing.T) {
	t.Parallel()
	b := open(t)
	for _, sizeBytes := range []int{partBytes - 1, partBytes, partBytes + 1, 2 * partBytes} {
		content := make([]byte, sizeBytes)
		_, _ = rand.Read(content) // never fails
		size, sum, err := b.Put(t.Context(), "parts", bytes.NewReader(content))
		if want := sha256.Sum256(content); err != nil || size != int64(sizeBytes) || sum != hex.EncodeToString(want[:]) {
			t.Fatalf("Put of %d bytes: %d, %s, %v", sizeBytes, size, sum, err)
		}
		r, err := b.Get(t.Context(), "parts")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes came back as %d, %v", sizeBytes, len(got), err)
		}
	}
	wantUnfinished(t, b, 0)
}

// TestPieces reads a blob from several places, as a download with Range does.
func TestPieces(t *testing.T) {
	t.Parallel()
	b := open(t)
	if _, _, err := b.Put(t.Context(), "k", strings.NewReader("0123456789")); err != nil {
		t.Fatal(err)
	}
	r, err := b.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		offset int64
		whence int
		want   string
	}{
		{0, io.SeekStart, "0123456789"},
		{0, io.SeekEnd, ""},
		{-3, io.SeekEnd, "789"},
		{4, io.SeekStart, "456789"},
		{-10, io.SeekCurrent, "0123456789"},
	} {
		if _, err := r.(io.Seeker).Seek(row.offset, row.whence); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != row.want {
			t.Errorf("from %d (%d): got %q, %v; want %q", row.offset, row.whence, got, err, row.want)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestHangUp: an upload whose caller goes away leaves no parts that cost storage.
func TestHangUp(t *testing.T) {
	t.Parallel()
	b := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(strings.NewReader(strings.Repeat("x", partBytes+1)), readerFunc(func([]byte) (int, error) {
		wantUnfinished(t, b, 1)
		cancel()
		return 0, io.EOF
	}), strings.NewReader("never read"))
	if _, _, err := b.Put(ctx, "k", r); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: got %v, want context.Canceled", err)
	}
	wantUnfinished(t, b, 0)
}

// TestTidy removes the parts that a killed process left, and not those of an upload that goes on.
func TestTidy(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := &upload{bucket: b, object: b.at.prefix + "killed", sum: sha256.New()}
	if _, err := u.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := open(t)
	for _, row := range []struct {
		bucket *Bucket
		before time.Time
		left   int
	}{
		{b, time.Now().Add(-time.Hour), 1},
		{other, time.Now().Add(time.Hour), 1}, // of another prefix
		{b, time.Now().Add(time.Hour), 0},
	} {
		if err := row.bucket.Tidy(t.Context(), row.before); err != nil {
			t.Fatal(err)
		}
		wantUnfinished(t, b, row.left)
	}
}

// TestRefusals: what an operator gets wrong is said with the setting to correct.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const id, secret = "PARLANCE_S3_ACCESS_KEY_ID", "PARLANCE_S3_SECRET_ACCESS_KEY"
	right := storeConfig(t)
	for name, row := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"Bucket": {func(c *Config) { c.URL = strings.Replace(c.URL, "s3://", "s3://no-such-", 1) }, "has no bucket"},
		"Key":    {func(c *Config) { c.AccessKeyID = "nobody" }, id},
		"Secret": {func(c *Config) { c.SecretAccessKey = "wrong" }, secret},
		"Region": {func(c *Config) { c.URL = withParameter(t, c.URL, "region", "mars-north-1") }, "region"},
		"Closed": {func(c *Config) { c.URL = withParameter(t, c.URL, "endpoint", "http://127.0.0.1:1") }, "PARLANCE_BLOB_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := right
			row.change(&config)
			_, err := Open(t.Context(), config)
			if err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), right.SecretAccessKey.Reveal()) {
				t.Errorf("got %v, want an error saying %q", err, row.says)
			}
		})
	}
}

// TestNothingIsPublic reads a blob without a signature.
func TestNothingIsPublic(t *testing.T) {
	t.Parallel()
	b := open(t)
	if _, _, err := b.Put(t.Context(), "secret", strings.NewReader("s")); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		b.at.endpoint.String()+"/"+b.at.bucket+"/"+b.at.prefix+"secret", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client, err := storeConfig(t).Guard.OperatorClient(b.at.hosts(), publicnet.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("anybody gets %s, %v", answer.Status, err)
	}
}

// open opens the bucket with a prefix of the test's own.
func open(t *testing.T) *Bucket {
	t.Helper()
	config := storeConfig(t)
	u, err := url.Parse(config.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/test/" + strings.ToLower(rand.Text())
	config.URL = u.String()
	b, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func storeConfig(t *testing.T) Config {
	t.Helper()
	guard, err := publicnet.New(publicnet.Options{CAFile: os.Getenv("PARLANCE_EGRESS_CA_FILE")})
	if err != nil {
		t.Fatal(err)
	}
	config := Config{
		URL: os.Getenv("PARLANCE_TEST_S3_URL"), AccessKeyID: seal.Secret(os.Getenv("PARLANCE_S3_ACCESS_KEY_ID")),
		SecretAccessKey: seal.Secret(os.Getenv("PARLANCE_S3_SECRET_ACCESS_KEY")), Guard: guard,
	}
	if config.URL == "" {
		t.Fatal("PARLANCE_TEST_S3_URL names no bucket: run .ci/s3")
	}
	return config
}

func wantUnfinished(t *testing.T, b *Bucket, want int) {
	t.Helper()
	page, err := b.unfinished(context.WithoutCancel(t.Context()), "", "")
	if err != nil || len(page.Uploads) != want {
		t.Errorf("%d uploads are unfinished, %v; want %d", len(page.Uploads), err, want)
	}
}

func withParameter(t *testing.T, bucketURL, name, value string) string {
	t.Helper()
	u, err := url.Parse(bucketURL)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }
