package chunking_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/knowledge/chunking"
	"parlance.dev/parlance/knowledge/document"
)

func parse(t *testing.T, mediaType, text string) document.Document {
	t.Helper()
	doc, err := document.Parse(t.Context(), mediaType, strings.NewReader(text), document.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// checkInvariants holds what every parse and cut promises.
func checkInvariants(t *testing.T, doc document.Document, chunks []chunking.Chunk, maxTokens int) {
	t.Helper()
	text := []rune(doc.Text)
	end := 0
	for i, block := range doc.Blocks {
		if block.CharStart < end || block.CharEnd <= block.CharStart || block.CharEnd > len(text) {
			t.Fatalf("block %d spans [%d,%d) after %d of %d", i, block.CharStart, block.CharEnd, end, len(text))
		}
		if got := string(text[block.CharStart:block.CharEnd]); got != block.Text {
			t.Fatalf("block %d is %q, its range %q", i, block.Text, got)
		}
		end = block.CharEnd
	}
	covered, previous := 0, -1
	for i, chunk := range chunks {
		if chunk.Index != i || chunk.CharStart <= previous || chunk.CharEnd <= covered {
			t.Fatalf("chunk %d: index %d, [%d,%d) after start %d and end %d", i, chunk.Index, chunk.CharStart,
				chunk.CharEnd, previous, covered)
		}
		if got := string(text[chunk.CharStart:chunk.CharEnd]); got != chunk.Content {
			t.Fatalf("chunk %d is %q, its range %q", i, chunk.Content, got)
		}
		if chunk.TokenCount < 1 || chunk.TokenCount > maxTokens || !utf8.ValidString(chunk.Content) {
			t.Fatalf("chunk %d has %d tokens, at most %d allowed", i, chunk.TokenCount, maxTokens)
		}
		for _, r := range text[min(covered, chunk.CharStart):chunk.CharStart] {
			if !unicode.IsSpace(r) && r != '\u200b' {
				t.Fatalf("%q before chunk %d is in no chunk", r, i)
			}
		}
		previous, covered = chunk.CharStart, chunk.CharEnd
	}
	if rest := strings.TrimFunc(string(text[covered:]), func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }); rest != "" {
		t.Fatalf("after the last chunk: %q", rest)
	}
}

func cut(t *testing.T, mediaType, text string) []chunking.Chunk {
	t.Helper()
	doc := parse(t, mediaType, text)
	chunks, err := chunking.Cut(doc, chunking.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkInvariants(t, doc, chunks, 512)
	return chunks
}

// prose is n numbered sentences of about a dozen tokens.
func prose(topic string, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "Sentence %d says something useful about %s. ", i, topic)
	}
	return s.String()
}

func TestCutLongSection(t *testing.T) {
	t.Parallel()
	chunks := cut(t, document.TextMarkdown, "# Guide\n\n## Refunds\n\n"+prose("refunds", 150))
	if len(chunks) < 3 {
		t.Fatalf("got %d chunks", len(chunks))
	}
	for i, chunk := range chunks {
		if chunk.Heading != "Guide > Refunds" {
			t.Errorf("chunk %d stands under %q", i, chunk.Heading)
		}
		if chunk.TokenCount < 80 {
			t.Errorf("chunk %d has only %d tokens", i, chunk.TokenCount)
		}
		if i == 0 {
			continue
		}
		overlap := chunks[i-1].CharEnd - chunk.CharStart
		if overlap <= 0 || overlap > 64*7 {
			t.Errorf("chunk %d repeats %d characters", i, overlap)
		}
		if !strings.HasPrefix(chunk.Content, "Sentence ") {
			t.Errorf("chunk %d begins inside a sentence: %.40q", i, chunk.Content)
		}
	}
}

func TestCutAtHeadings(t *testing.T) {
	t.Parallel()
	chunks := cut(t, document.TextMarkdown, "# A\n\n"+prose("apples", 30)+"\n\n# B\n\n"+prose("pears", 30))
	if len(chunks) != 2 || chunks[0].Heading != "A" || chunks[1].Heading != "B" {
		t.Fatalf("got %d chunks: %+v", len(chunks), chunks)
	}
	if strings.Contains(chunks[1].Content, "apples") {
		t.Error("the overlap crosses a heading")
	}
}

func TestCutMergesSmall(t *testing.T) {
	t.Parallel()
	var faq strings.Builder
	faq.WriteString("# FAQ\n\n")
	for i := range 12 {
		fmt.Fprintf(&faq, "## Question %d\n\nA short answer that holds about twenty tokens, number %d of the list.\n\n", i, i)
	}
	chunks := cut(t, document.TextMarkdown, faq.String())
	for i, chunk := range chunks {
		if chunk.TokenCount < 80 || chunk.Heading != "FAQ" {
			t.Errorf("chunk %d has %d tokens and the heading %q", i, chunk.TokenCount, chunk.Heading)
		}
	}
	if got := cut(t, document.TextMarkdown, "# One\n\nTwo words.\n\n## Three\n\nFour."); len(got) != 1 || got[0].Heading != "One" {
		t.Errorf("a tiny document makes %+v", got)
	}
	// Neither neighbour has room: the cut moves instead.
	full := cut(t, document.TextMarkdown, "# A\n\n"+prose("apples", 43)+"\n\n# B\n\nShort.\n\n# C\n\n"+prose("cherries", 43))
	for i, chunk := range full {
		if chunk.TokenCount < 80 {
			t.Errorf("chunk %d of %d has %d tokens", i, len(full), chunk.TokenCount)
		}
	}
}

func TestCutKeepsCodeAndTables(t *testing.T) {
	t.Parallel()
	code := "```go\n" + strings.Repeat("fmt.Println(\"a line of code\")\n", 40) + "```"
	chunks := cut(t, document.TextMarkdown, "# Code\n\n"+prose("code", 20)+"\n\n"+code+"\n\n"+prose("more", 20))
	whole := 0
	for _, chunk := range chunks {
		if strings.Count(chunk.Content, "fmt.Println") == 40 {
			whole++
		}
	}
	if whole == 0 {
		t.Error("a code block that fits was cut")
	}
	var table strings.Builder
	table.WriteString("| plan | price |\n|---|---|\n")
	for i := range 200 {
		fmt.Fprintf(&table, "| plan number %d | %d euros a month |\n", i, i*10)
	}
	for i, chunk := range cut(t, document.TextMarkdown, table.String()) {
		for line := range strings.SplitSeq(chunk.Content, "\n") {
			if line != "plan | price" && (!strings.HasPrefix(line, "plan number") || !strings.HasSuffix(line, "month")) {
				t.Errorf("chunk %d cuts a row: %q", i, line)
			}
		}
	}
}

func TestCutHardCases(t *testing.T) {
	t.Parallel()
	rows := map[string]string{
		"endless word":     strings.Repeat("a", 200_000),
		"endless sentence": strings.Repeat("word without any end ", 5_000),
		"cjk":              strings.Repeat("知識ベースは文書を検索します。", 2_000),
		"cjk no stops":     strings.Repeat("知識庫", 20_000),
		"emoji":            strings.Repeat("👩‍👩‍👧‍👦🎉", 5_000),
		"spaces":           "a" + strings.Repeat(" ", 300_000) + "b",
		"closers":          "Well." + strings.Repeat(")", 300_000),
		"marks":            "e" + strings.Repeat("\u0301", 100_000),
		"lines":            strings.Repeat("x\n", 50_000),
		"brackets":         strings.Repeat("[", 100_000),
		"quotes":           strings.Repeat(">", 100_000) + " deep",
		"list nesting":     strings.Repeat("- ", 50_000) + "deep",
		"stars":            strings.Repeat("*a_ ", 30_000),
		"links":            strings.Repeat("[a](", 30_000),
		"table":            "|a|b|\n|-|-|\n|" + strings.Repeat("cell ", 3_000) + "|x|\n",
	}
	for name, text := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut(t, document.TextPlain, text) // what takes a square of its length does not come back in time
			cut(t, document.TextMarkdown, text)
		})
	}
}

func TestCutRefuses(t *testing.T) {
	t.Parallel()
	doc := parse(t, document.TextPlain, prose("everything", 1000))
	_, err := chunking.Cut(doc, chunking.Options{MaxChunks: 5})
	if got, ok := errors.AsType[*document.Error](err); !ok || got.Kind != document.TooManyChunks {
		t.Errorf("got %v, want too-many-chunks", err)
	}
	_, err = chunking.Cut(document.Document{}, chunking.Options{})
	if got, ok := errors.AsType[*document.Error](err); !ok || got.Kind != document.Empty {
		t.Errorf("got %v, want empty", err)
	}
}

func FuzzParseAndCut(f *testing.F) {
	f.Add([]byte("# A\n\ntext *b* [c](http://d)\n\n- x\n  - y\n\n|a|b|\n|-|-|\n|1|2|\n"), true, uint8(40))
	f.Add([]byte("\xff\xfea\x00b\x00"), false, uint8(0))
	f.Add([]byte("---\ntitle: x\n---\nbody &amp; \\* `code` <br> <b>x</b>"), true, uint8(33))
	f.Fuzz(func(t *testing.T, data []byte, markdown bool, maxTokens uint8) {
		mediaType := document.TextPlain
		if markdown {
			mediaType = document.TextMarkdown
		}
		doc, err := document.Parse(t.Context(), mediaType, strings.NewReader(string(data)), document.Options{})
		if err != nil {
			if _, ok := errors.AsType[*document.Error](err); !ok {
				t.Fatalf("not a document error: %v", err)
			}
			return
		}
		chunks, err := chunking.Cut(doc, chunking.Options{MaxTokens: int(maxTokens)})
		if err != nil {
			t.Fatal(err)
		}
		limit := max(int(maxTokens), 32)
		if maxTokens == 0 {
			limit = 512
		}
		checkInvariants(t, doc, chunks, limit)
	})
}

func BenchmarkParseAndCut5MB(b *testing.B) {
	var s strings.Builder
	for i := 0; s.Len() < 5<<20; i++ {
		fmt.Fprintf(&s, "# Chapter %d\n\n%s\n\n%s\n\n", i, prose("chapters", 30), prose("books", 25))
	}
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		doc, err := document.Parse(b.Context(), document.TextMarkdown, strings.NewReader(s.String()), document.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := chunking.Cut(doc, chunking.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
