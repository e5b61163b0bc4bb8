package document

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestQuickWays puts texts together of what the quick ways look for, and compares with the long
// ones.
func TestQuickWays(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(5, 5))
	parts := []string{
		"a", "word", " ", "  ", "\n", "\t", "\r", "\v", "\x7f", "\x00", "\u0085", "\u00a0", "é", "\u200b",
		"\ufeff", "\uff5e", "\u3000", "知", "\xff", "\xc2",
	}
	clean, squeezedAlready := 0, 0
	for range 20_000 {
		var b strings.Builder
		for range chance.IntN(6) {
			b.WriteString(parts[chance.IntN(len(parts))])
		}
		text := b.String()
		if got, want := cleanText(text), withoutControls(text); got != want {
			t.Fatalf("clean %q: got %q, want %q", text, got, want)
		}
		if got, want := squeezed(text), strings.Join(strings.Fields(text), " "); got != want {
			t.Fatalf("squeeze %q: got %q, want %q", text, got, want)
		}
		if isClean(text) {
			clean++
		}
		if isSqueezed(text) {
			squeezedAlready++
		}
	}
	if clean < 1000 || squeezedAlready < 1000 {
		t.Errorf("the quick ways were gone %d and %d times", clean, squeezedAlready)
	}
}
