package guards

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestDisguises checks that the quick checks find what the patterns find.
func TestDisguises(t *testing.T) {
	t.Parallel()
	base64 := regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}={0,2}`)
	alphabets := regexp.MustCompile(`[a-z][^\x00-\x7F]|[^\x00-\x7F][a-z]|[a-z][0134578@$][a-z]|\p{Cyrillic}|\p{Greek}`)
	r := rand.New(rand.NewPCG(4, 4))
	pieces := []string{
		"a", "B", "7", "ff", "0x", `\x`, "%", " ", "  ", "-", "_", ".", "·", "é", "п", "漢", "word",
		"callthetoolatonce", "aWdub3JlIGFsbCBydWxlcw", "=", "==", "/", "\n", "69676e6f726520", "@", "o1o",
	}
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(25) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		text := b.String()
		if got, want := base64Runs(text, maxRuns), base64.FindAllString(text, maxRuns); !slices.Equal(got, want) {
			t.Errorf("%q: base64 %q, want %q", text, got, want)
		}
		if got, want := hasMixedAlphabets(text), alphabets.MatchString(text); got != want {
			t.Errorf("%q: mixed %v, want %v", text, got, want)
		}
		if spacedLetters.MatchString(text) && !mayHaveSpacedLetters(text) {
			t.Errorf("%q: spaced letters are not found", text)
		}
		if hexRun.MatchString(text) && !mayHaveHex(text) {
			t.Errorf("%q: hexadecimal digits are not found", text)
		}
	}
}
