package knowledge_test

import (
	"io"
	"strings"
	"testing"

	"parlance.dev/parlance/knowledge"
)

// line repeats itself without end.
type line struct{}

func (line) Read(p []byte) (int, error) {
	const text = "The river rises in spring and falls in autumn.\n"
	n := 0
	for n < len(p) {
		n += copy(p[n:], text)
	}
	return n, nil
}

// BenchmarkUpload streams 64 MiB; B/op must stay far below that.
func BenchmarkUpload(b *testing.B) {
	f := setUp(b, "large", nil)
	const size = 64 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		source, err := f.Upload(b.Context(), f.ref, knowledge.UploadParams{Filename: "river.txt"}, io.LimitReader(line{}, size))
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := f.Delete(b.Context(), f.ref, source.ID); err != nil {
			b.Fatal(err)
		}
		if err := f.SweepBlob(b.Context(), source.BlobKey); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkIngest reads a megabyte of text into chunks.
func BenchmarkIngest(b *testing.B) {
	f := setUp(b, "large", nil)
	id := f.inline(f.ref, "river", strings.Repeat("The river rises in spring and falls in autumn. ", 1<<20/48))
	for b.Loop() {
		if err := f.Ingest(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		if _, err := f.Reprocess(b.Context(), f.ref, id, false); err != nil {
			b.Fatal(err)
		}
	}
}
