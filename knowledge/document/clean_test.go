package document

import "testing"

// TestCleanText drops what means nothing to a reader and keeps all else.
func TestCleanText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a word\n\tand 知識": "a word\n\tand 知識",
		"a\x00b\x7fc\u0085d\ufeffe\rf\vg": "abcdefg",
		"\u00a0é\u200b\uff5e":             "\u00a0é\u200b\uff5e",
		"cut \xff off \xc2":               "cut \ufffd off \ufffd",
	} {
		if got := cleanText(text); got != want {
			t.Errorf("clean %q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "a b": "a b", " a \t\u00a0 b\n": "a b", "  ": "", "知\u3000識": "知 識"} {
		if got := squeezed(text); got != want {
			t.Errorf("squeeze %q: got %q, want %q", text, got, want)
		}
	}
}
