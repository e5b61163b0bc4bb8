package knowledge_test

import (
	"fmt"
	"io"
	"math/rand/v2"
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
		if _, err := f.Reprocess(b.Context(), f.ref, id, knowledge.ReprocessParams{}); err != nil {
			b.Fatal(err)
		}
	}
}

// prose is about n bytes of text that is unlike itself, as documents are.
func prose(n int) string {
	chance := rand.New(rand.NewPCG(7, 7))
	syllables := strings.Fields("ba co di fu ga ho li ma ne pi ro sa te vo wa xi ru lo min tor ster ing ed ly an er")
	words := make([]string, 4000)
	for i := range words {
		for range 1 + chance.IntN(3) {
			words[i] += syllables[chance.IntN(len(syllables))]
		}
	}
	var b strings.Builder
	for section := 0; b.Len() < n; section++ {
		if section%8 == 0 {
			fmt.Fprintf(&b, "## Section %d\n\n", section)
		}
		for range 4 + chance.IntN(5) {
			for i := range 8 + chance.IntN(14) {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(words[int(float64(len(words))*chance.Float64()*chance.Float64())])
			}
			b.WriteString(". ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// BenchmarkIngestProse reads four megabytes of text with the built-in embedder.
func BenchmarkIngestProse(b *testing.B) {
	f := setUp(b, "large", nil)
	text := prose(4 << 20)
	source, err := f.Upload(b.Context(), f.ref, knowledge.UploadParams{Filename: "prose.md"}, strings.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := f.Ingest(b.Context(), source.ID); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if got := f.get(f.ref, source.ID); got.Status != knowledge.StatusReady {
			b.Fatalf("%+v", got)
		}
		if _, err := f.Reprocess(b.Context(), f.ref, source.ID, knowledge.ReprocessParams{}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
