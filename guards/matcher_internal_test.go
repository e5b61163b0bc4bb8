package guards

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// handbook returns about n bytes of documentation.
func handbook(t testing.TB, n int) string {
	t.Helper()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	var b strings.Builder
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(content)
	}
	return strings.ToValidUTF8(b.String()[:min(n, b.Len())], "")
}

// BenchmarkInspect examines ten passages of 3 KB, as a turn does that calls a tool after long
// passages.
func BenchmarkInspect(b *testing.B) {
	text := handbook(b, 150_000)
	prose := strings.Repeat("The wing was tested in the wind tunnel at several angles, and the pressure on its "+
		"upper side was measured by the team. When they had finished, the data were sent to the office, from "+
		"where you may order the report by mail. ", 700)
	for name, text := range map[string]string{"documentation": text, "prose": prose} {
		b.Run(name, func(b *testing.B) {
			var pieces []Text
			for i := range 10 {
				pieces = append(pieces, Text{Text: text[i*3000 : (i+1)*3000]})
			}
			b.ReportAllocs()
			for b.Loop() {
				Inspect(pieces)
			}
		})
	}
}

// TestDirectives looks for each directive in random texts made of its words and of others. The
// matcher must find what the pattern finds over the whole text.
func TestDirectives(t *testing.T) {
	t.Parallel()
	others := strings.Fields(handbook(t, 40_000))
	words := regexp.MustCompile(`[\pL'-]{2,}`)
	marks := []string{" ", " ", " ", " ", "\n", ": ", ". ", "-", "_", "é", "\"", "<", "["}
	found := 0
	files, err := fs.Glob(directiveFiles, "directives/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range files {
		lines = append(lines, linesOf(directiveFiles, file)...)
	}
	for i, line := range lines {
		patterns := newMatcher(fstest.MapFS{"directives/one.txt": {Data: []byte(line)}})
		_, pattern, _ := strings.Cut(line, " ")
		pattern = strings.TrimSpace(pattern)
		own := append(words.FindAllString(pattern, -1), "<|")
		if !isASCII(pattern) {
			pattern = fold(pattern)
		}
		whole := regexp.MustCompile(`(?s)` + pattern)
		r := rand.New(rand.NewPCG(uint64(i), 9))
		for range 150 {
			var b strings.Builder
			for range 2 + r.IntN(30) {
				from := others
				if r.IntN(3) == 0 {
					from = own
				}
				b.WriteString(from[r.IntN(len(from))] + marks[r.IntN(len(marks))])
			}
			view := collapseBlanks(fold(b.String()))
			want := whole.MatchString(view)
			instructs, weak := patterns.match(view, false)
			if got := instructs || weak; got != want {
				t.Errorf("%.60q found %v, want %v: %q", pattern, got, want, view)
			}
			if want {
				found++
			}
		}
	}
	if found < 500 {
		t.Errorf("%d of the texts have a directive, which is too few", found)
	}
}
