package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"parlance.dev/parlance/provider/blob"
)

// Run holds a bucket to the promises of blob.Bucket. open makes an empty one and cleans up
// after the test.
func Run(t *testing.T, open func(t *testing.T) blob.Bucket) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, blob.Bucket)
	}{
		{"RoundTrip", testRoundTrip},
		{"Replace", testReplace},
		{"Missing", testMissing},
		{"FailingReaderLeavesNothing", testFailingReader},
		{"CancelledPutLeavesNothing", testCancelledPut},
		{"ForeignKeys", testForeignKeys},
		{"ConcurrentPutsAreWhole", testConcurrentPuts},
		{"Check", testCheck},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}

func testRoundTrip(t *testing.T, b blob.Bucket) {
	// The last is one that a store takes in parts.
	for _, content := range []string{"", "hello", strings.Repeat("0123456789abcdef", 1<<16), strings.Repeat("0123456789abcdef", 1<<20) + "!"} {
		size, sum, err := b.Put(t.Context(), "ws_1/src_1", strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256([]byte(content))
		if size != int64(len(content)) || sum != hex.EncodeToString(want[:]) {
			t.Errorf("Put answers %d bytes and sum %s, want %d and %x", size, sum, len(content), want)
		}
		if got := read(t, b, "ws_1/src_1"); got != content {
			t.Errorf("got %d bytes back, want %d", len(got), len(content))
		}
		info, err := b.Stat(t.Context(), "ws_1/src_1")
		if err != nil || info.SizeBytes != size || info.ModifiedAt.IsZero() {
			t.Errorf("Stat: %+v, %v", info, err)
		}
	}
}

func testReplace(t *testing.T, b blob.Bucket) {
	put(t, b, "k", "a longer first blob")
	old, err := b.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	put(t, b, "k", "second")
	first, err := io.ReadAll(old)
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
	if string(first) != "a longer first blob" {
		t.Errorf("an open reader sees %q after the replacement", first)
	}
	if got := read(t, b, "k"); got != "second" {
		t.Errorf("got %q, want the second blob", got)
	}
}

func testMissing(t *testing.T, b blob.Bucket) {
	put(t, b, "dir/blob", "x")
	for _, key := range []string{"nothing", "dir", "dir/nothing", "dir/blob/below"} {
		if _, err := b.Get(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Get(%q): got %v, want ErrNotFound", key, err)
		}
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("Stat(%q): got %v, want ErrNotFound", key, err)
		}
		if err := b.Delete(t.Context(), key); err != nil {
			t.Errorf("Delete(%q): %v", key, err)
		}
	}
	if got := read(t, b, "dir/blob"); got != "x" {
		t.Errorf("deleting its neighbours changed the blob to %q", got)
	}
	for range 2 {
		if err := b.Delete(t.Context(), "dir/blob"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	if _, err := b.Stat(t.Context(), "dir/blob"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("after Delete: got %v, want ErrNotFound", err)
	}
}

func testFailingReader(t *testing.T, b blob.Bucket) {
	put(t, b, "old", "kept")
	// io.ErrUnexpectedEOF is how the body of a request ends whose caller hangs up.
	for _, cause := range []error{errors.New("the upload broke off"), io.ErrUnexpectedEOF} {
		for _, sizeBytes := range []int{0, 1 << 17, 9 << 20} {
			broken := func() io.Reader {
				return io.MultiReader(strings.NewReader(strings.Repeat("x", sizeBytes)), failingReader{cause})
			}
			if _, _, err := b.Put(t.Context(), "new/blob", broken()); !errors.Is(err, cause) {
				t.Errorf("Put of %d bytes: got %v, want the reader's error", sizeBytes, err)
			}
			if _, err := b.Stat(t.Context(), "new/blob"); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("a failed Put of %d bytes left something: %v", sizeBytes, err)
			}
			if _, _, err := b.Put(t.Context(), "old", broken()); !errors.Is(err, cause) {
				t.Errorf("Put of %d bytes: got %v, want the reader's error", sizeBytes, err)
			}
			if got := read(t, b, "old"); got != "kept" {
				t.Errorf("a failed Put of %d bytes changed the blob to %d bytes", sizeBytes, len(got))
			}
		}
	}
}

func testCancelledPut(t *testing.T, b blob.Bucket) {
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(strings.NewReader("first part"), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	}), strings.NewReader("second part"))
	if _, _, err := b.Put(ctx, "k", r); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: got %v, want context.Canceled", err)
	}
	if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a cancelled Put left something: %v", err)
	}
}

func testForeignKeys(t *testing.T, b blob.Bucket) {
	keys := []string{
		"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "./a", "a//b", "a/", ".parts/x", "a/.hidden",
		"a\x00b", `a\b`, "a b", "ключ", "c:x", strings.Repeat("k", 201), strings.Repeat("k/", 300) + "k",
	}
	for _, key := range keys {
		if _, _, err := b.Put(t.Context(), key, strings.NewReader("x")); !errors.Is(err, blob.ErrInvalidKey) {
			t.Errorf("Put(%q): got %v, want ErrInvalidKey", key, err)
		}
		if _, err := b.Get(t.Context(), key); !errors.Is(err, blob.ErrInvalidKey) {
			t.Errorf("Get(%q): got %v, want ErrInvalidKey", key, err)
		}
		if err := b.Delete(t.Context(), key); !errors.Is(err, blob.ErrInvalidKey) {
			t.Errorf("Delete(%q): got %v, want ErrInvalidKey", key, err)
		}
	}
}

func testConcurrentPuts(t *testing.T, b blob.Bucket) {
	var group sync.WaitGroup
	for i := range 8 {
		content := bytes.Repeat([]byte{byte('a' + i)}, 1<<16)
		group.Go(func() {
			if _, _, err := b.Put(t.Context(), "same/key", bytes.NewReader(content)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := read(t, b, "same/key")
	if len(got) != 1<<16 || strings.Trim(got, got[:1]) != "" {
		t.Errorf("the blob is a mixture of %d bytes", len(got))
	}
}

func testCheck(t *testing.T, b blob.Bucket) {
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Check with a cancelled context: %v", err)
	}
}

func put(t *testing.T, b blob.Bucket, key, content string) {
	t.Helper()
	if _, _, err := b.Put(t.Context(), key, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, b blob.Bucket, key string) string {
	t.Helper()
	r, err := b.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }
