package speakable_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/voice/speakable"
)

// TestHeard checks up to where an answer was heard. In an answer, the bar stands where the listener
// interrupted it.
func TestHeard(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ answer, heard string }{
		{"| We can do that for you tomorrow.", ""},
		{"We can| do that for you tomorrow.", "We can"},
		{"We can do that for you tomorrow.|", "We can do that for you tomorrow."},
		{"Some **bold** | words are here.", "some bold"},
		{"Some **bold| words** are here.", "some bold wo"},
		{"Write to |ada@example.com, please.", "Write to ada at example"},
		{"Write to ada@example.com| today.", "Write to ada at example dot com"},
		{"It costs |$3.50 now.", "It costs 3 dollars and"},
		{"See |[our page](https://example.com) today.", "See o"},
		{"See [our| page](https://example.com) today.", "See our"},
		{"See [our page](https://example.com)| today.", "See our page to"},
		{"Ends with a code [1].|", "Ends with a code"},
		{"A well-known| fact, e.g. this.", "A well-known fa"},
		{"A fact|, e.g. this.", "A fact, for"},
		{"今日|は良い。", "今日"},
	} {
		answer := strings.Replace(r.answer, "|", "", 1)
		want := strings.Index(r.answer, "|")
		c := speakable.NewCutter(speakable.Settings{Language: "en"})
		pieces := append(c.Write(answer), c.Flush()...)
		got := pieces[0].HeardText(r.heard)
		if strings.TrimSpace(answer[:got]) != strings.TrimSpace(answer[:want]) {
			t.Errorf("of %q was heard %q: got %q, want %q", pieces[0].Text, r.heard, answer[:got], answer[:want])
		}
	}
}

// TestHeardText checks that synthesizers may divide a text into words as they like.
func TestHeardText(t *testing.T) {
	t.Parallel()
	answer := "Yeah, I can do that by 5 p.m. on Monday."
	c := speakable.NewCutter(speakable.Settings{Language: "en"})
	piece := append(c.Write(answer), c.Flush()...)[0]
	for _, reported := range [][]string{
		{"Yeah,", " I", " can"}, {"Yeah", ", I", " can"}, {"yeah", "i", "can"}, {"Y", "e", "a", "h", ",", " ", "I", " ", "c", "a", "n", " "},
	} {
		if got := answer[:piece.HeardText(strings.Join(reported, ""))]; got != "Yeah, I can" {
			t.Errorf("%q: got %q", reported, got)
		}
	}
}

// TestHeardShare checks the estimate without times of words: by characters, digits counting as
// words.
func TestHeardShare(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		answer string
		share  float64
		want   string
	}{
		{"aaaa bbbb cccc dddd", 0, ""},
		{"aaaa bbbb cccc dddd", 0.2, ""},
		{"aaaa bbbb cccc dddd", 0.45, "aaaa bbbb"},
		{"aaaa bbbb cccc dddd", 0.7, "aaaa bbbb cccc"},
		{"aaaa bbbb cccc dddd", 1, "aaaa bbbb cccc dddd"},
		{"aaaa bbbb cccc dddd", 1.5, "aaaa bbbb cccc dddd"},
		{"The code 4711 is right", 0.3, "The code"},
		{"The code 4711 is right", 0.5, "The code"},
		{"The code 4711 is right", 0.75, "The code 4711"},
	} {
		c := speakable.NewCutter(speakable.Settings{Language: "en"})
		piece := append(c.Write(r.answer), c.Flush()...)[0]
		if got := r.answer[:piece.HeardShare(r.share)]; got != r.want {
			t.Errorf("%.2f of %q: got %q, want %q", r.share, piece.Text, got, r.want)
		}
	}
}
