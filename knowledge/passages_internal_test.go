package knowledge

import (
	"strings"
	"testing"
)

func TestShared(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("| 0 | 0 |\n", 40) // 400 characters
	rows := []struct {
		name, previous, next string
		characters, want     int
	}{
		{"nothing is shared", "One. Two.", "Two. Three.", 0, 0},
		{"as the offsets say", "One. Two.", "Two. Three.", 4, 4},
		{"characters of several bytes", "Eins. Größe.", "Größe. Drei.", 6, 8},
		{"the text says otherwise", "One. Two.", "Three.", 4, 0},
		{"a space less than in the source", "One.\nTwo three.", "Two three. Four.", 11, 10},
		{"a space more than in the source", "One. Two  three.", "Two  three. Four.", 10, 11},
		{"repetitive text", row, row, 60, 60},
		{"repetitive text, shared in full", row, row, 400, 400},
		{"one letter again and again", "aaaaaaaaaa", "aaaaaaaaaab", 3, 3},
	}
	for _, row := range rows {
		if got := shared(row.previous, row.next, row.characters); got != row.want {
			t.Errorf("%s: %d bytes, want %d", row.name, got, row.want)
		}
	}
}

// TestPassageOfRepetitiveText: a joined passage is what the source has from its first offset to its
// last.
func TestPassageOfRepetitiveText(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ja ja ja nein ja ja.\n", 120)
	var p passage
	for i, at := range []int{0, 700, 1400} {
		p.chunks = append(p.chunks, Found{Chunk: Chunk{Index: i, Content: text[at : at+800], CharStart: at, CharEnd: at + 800}})
	}
	if got, want := p.text(), text[:2200]; got != want {
		t.Errorf("%d characters, want %d", len(got), len(want))
	}
}
