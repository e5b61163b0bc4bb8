package blob_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/blob"
	"parlance.dev/parlance/provider/blob/blobtest"
)

func TestFileConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Bucket { return open(t, t.TempDir()) })
}

// TestFileLeavesNothing looks at the disk itself: after a failed Put there is no file at all.
func TestFileLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir)
	broken, w := io.Pipe()
	w.CloseWithError(errors.New("broke off"))
	if _, _, err := b.Put(t.Context(), "a/b", broken); err == nil {
		t.Fatal("Put of a broken reader succeeded")
	}
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileStaysInside plants a symbolic link, which no key may follow outside.
func TestFileStaysInside(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir)
	if _, err := b.Get(t.Context(), "link/secret"); err == nil {
		t.Error("Get followed the link outside")
	}
	if _, _, err := b.Put(t.Context(), "link/planted", strings.NewReader("x")); err == nil {
		t.Error("Put followed the link outside")
	}
}

func TestFileSurvivesReopening(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "here")
	if _, _, err := open(t, dir).Put(t.Context(), "a/b", strings.NewReader("kept")); err != nil {
		t.Fatal(err)
	}
	info, err := open(t, dir).Stat(t.Context(), "a/b")
	if err != nil || info.SizeBytes != 4 {
		t.Errorf("after reopening: %+v, %v", info, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	rows := []struct{ url, says string }{
		{"s3://bucket?region=x", `scheme "s3" is unknown`},
		{"file://relative/path", "absolute path"},
		{"file:relative", "absolute path"},
		{"gs://bucket", `scheme "gs" is unknown`},
		{"/plain/path", "scheme"},
		{"s3://key:secret@%zz", "does not parse"},
	}
	for _, row := range rows {
		_, err := blob.Open(row.url)
		if err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): got %v, want an error saying %q", row.url, err, row.says)
		}
	}
}

func open(t *testing.T, dir string) blob.Bucket {
	t.Helper()
	b, err := blob.Open("file://" + filepath.ToSlash(dir))
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

// TestVerify: bytes that were changed behind our back are not taken for the blob.
func TestVerify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := open(t, dir)
	_, sum, err := b.Put(t.Context(), "k", strings.NewReader("as it was"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(want error) {
		r, err := b.Get(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(blob.Verify(r, sum))
		if !errors.Is(err, want) || r.Close() != nil {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	check(nil)
	if err := os.WriteFile(filepath.Join(dir, "k"), []byte("as it is "), 0o600); err != nil {
		t.Fatal(err)
	}
	check(blob.ErrDamaged)
}
