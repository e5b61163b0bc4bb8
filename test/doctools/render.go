package doctools

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Formats of pictures that Render makes.
const (
	PNG  = "png"
	JPEG = "jpeg"
	WEBP = "webp"
)

// Render draws the first page of a PDF file at 150 dots an inch.
func Render(t testing.TB, pdf []byte, format string) []byte {
	t.Helper()
	Need(t)
	dir := t.TempDir()
	from, to := filepath.Join(dir, "page.pdf"), filepath.Join(dir, "page")
	if err := os.WriteFile(from, pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	kind, end := "-png", ".png"
	if format == JPEG {
		kind, end = "-jpeg", ".jpg"
	}
	run(t, "pdftoppm", kind, "-singlefile", "-r", "150", from, to)
	to += end
	if format == WEBP {
		NeedMakers(t)
		run(t, "cwebp", "-quiet", to, "-o", to+".webp")
		to += ".webp"
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("doctools: %s: %v\n%s", name, err, out)
	}
}
