package extractive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
)

// TestNames asks of small documents what they say, and what they only seem to: of another lamp,
// room, country or number than theirs. All passages are handed over, so that declining is the
// responder's own doing.
func TestNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/texts/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var passages []model.Passage
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for section := range strings.SplitSeq(strings.TrimPrefix(string(content), "# "), "\n# ") {
			heading, text, _ := strings.Cut(section, "\n")
			passages = append(passages, model.Passage{Source: filepath.Base(file), Heading: heading, Text: strings.TrimSpace(text)})
		}
	}
	answered, declined := 0, 0
	answerable, unanswerable := lines(t, "testdata/answerable.txt"), lines(t, "testdata/unanswerable.txt")
	for _, row := range answerable {
		text, want, _ := strings.Cut(row, "|")
		if result, _ := ask(t, question(text, passages...)); strings.Contains(result.Text, want) {
			answered++
		} else {
			t.Errorf("%q: got %q, want it to quote %q", text, result.Text, want)
		}
	}
	for _, text := range unanswerable {
		if result, _ := ask(t, question(text, passages...)); strings.HasPrefix(result.Text, "I have no passage about that") &&
			len(result.Citations) == 0 {
			declined++
		} else {
			t.Errorf("%q: got %q, want it declined", text, result.Text)
		}
	}
	t.Logf("%d of %d are answered, %d of %d declined", answered, len(answerable), declined, len(unanswerable))
}

// TestCourtesies are answered in kind.
func TestCourtesies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"thanks!": "You are welcome.", "Ok, thank you very much": "You are welcome.", "bye": "Goodbye!", "Thanks, goodbye": "Goodbye!",
		"Hi": "Hello!", "thanks, and what about that?": "Hello!", "???": "Hello!", "2+2": "I have no passage",
	} {
		if result, _ := ask(t, question(text, shop...)); !strings.HasPrefix(result.Text, want) {
			t.Errorf("%q: got %q, want %q", text, result.Text, want)
		}
	}
}
