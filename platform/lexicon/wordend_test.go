package lexicon

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/words"
)

// TestWordEnds puts texts together of what words may and may not be joined by, and compares the
// quick way through them with the rules of Unicode.
func TestWordEnds(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(4, 4))
	parts := []string{
		"a", "word", " ", "  ", "\n", "\r\n", "\t", ".", ",", ":", ";", "'", "’", "\"", "-", "_", "7", "3.5", "!", "(", ")", "/", "@",
		"é", "\u0301", "\u200d", "\u00ad", "\u00a0", "\u3000", "知", "あ", "カ", "한", "ש", "א\"ב", "🎉", "👩\u200d🚀", "🇳🇱", "\x00", "\xff",
	}
	quick := 0
	for range 30_000 {
		var b strings.Builder
		for range 1 + chance.IntN(10) {
			b.WriteString(parts[chance.IntN(len(parts))])
		}
		text := b.String()
		var got, want []string
		rules := words.FromString("")
		for rest := text; rest != ""; {
			end := asciiWordEnd(rest)
			if end > 0 {
				quick++
			} else {
				end = wordEnd(rules, rest)
			}
			got, rest = append(got, rest[:end]), rest[end:]
		}
		for it := words.FromString(text); it.Next(); {
			want = append(want, it.Value())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	}
	if quick < 2000 {
		t.Errorf("the quick way was gone %d times", quick)
	}
}
