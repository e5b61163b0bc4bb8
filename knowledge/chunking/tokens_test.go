package chunking

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// sameCount fails unless a text is counted as the tokenizer itself does, cached and not.
func sameCount(t *testing.T, text string) {
	t.Helper()
	want, err := vocabulary().Count(text)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the cache
		if got, err := countTokens(text); got != want || err != nil {
			t.Errorf("%q: got %d tokens, %v; want %d", text, got, err, want)
		}
	}
}

func TestCountTokens(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "  ", "a", "The museum opens at nine.", "It's what I'll do; they'RE, WE'VE, 'tis, don'T",
		"'ree they'reading I'Rex", "12345 67 ½ ٣٤٥٦",
		"a\n\nb", "a \n \n  b", "a\r\n\tb", "  x", "x  ", "\n", " \n", "\n ", "!!!\n\n\n?", " !", "  !", "a  !b",
		"\u00a0\u00a0word", "\u3000知識ベース。",
		"Ça va? Où étiez-vous", "e\u0301te\u0301", "'", "''s", "'x", "\t\tindented()", "https://a.example/b?c=d&e=%20f",
		"🎉🎉 party", "ſ'ſ 'K", "\u2028x\u0085y",
	} {
		sameCount(t, text)
	}
}

// TestCountTokensAtRandom puts together what the tokenizer's expression tells apart.
func TestCountTokensAtRandom(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(3, 3))
	parts := []string{
		" ", "  ", "\n", "\r\n", "\t", "\u00a0", "a", "word", "Éa", "知", "1", "234", "½", "'s", "'LL",
		"'re", "'VE", "'r", "'", ".", "!?", "—", "🎉", "\u0301", "\u2028", "I'd",
	}
	for range 3000 {
		var b strings.Builder
		for range 1 + chance.IntN(12) {
			b.WriteString(parts[chance.IntN(len(parts))])
		}
		sameCount(t, b.String())
	}
}

func FuzzCountTokens(f *testing.F) {
	for _, seed := range []string{"It's 12345\n\n  of them!!", "'ree I'Rea", "\u00a0a\u2028'd", "知識 ½"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxRunChars { // a longer run is cut, and may be a token or two off
			return
		}
		text = strings.ReplaceAll(text, "\x7f", "") // its expression passes over DEL
		sameCount(t, strings.ToValidUTF8(text, ""))
	})
}
