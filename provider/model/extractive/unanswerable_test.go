package extractive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
)

// TestDeclinesUnanswerable asks all that the documents of examples/knowledge do not answer, of all
// of these documents, so that declining is the responder's own doing. .ci/knowledge asks the same
// in a session.
func TestDeclinesUnanswerable(t *testing.T) {
	t.Parallel()
	const examples = "../../../examples/knowledge/"
	files, err := filepath.Glob(examples + "texts/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var passages []model.Passage
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for section := range strings.SplitSeq(string(content), "\n#") {
			passages = append(passages, model.Passage{Source: filepath.Base(file), Text: section})
		}
	}
	for _, text := range lines(t, examples+"unanswerable.txt") {
		if result, _ := ask(t, question(text, passages...)); !strings.HasPrefix(result.Text, "I have no passage about that") ||
			len(result.Citations) != 0 {
			t.Errorf("%q: got %q, want it declined", text, result.Text)
		}
	}
	for _, row := range lines(t, examples+"questions.csv")[1:] {
		text, source, _ := strings.Cut(row, ",")
		source = strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		if result, _ := ask(t, question(text, passages...)); !strings.Contains(result.Text, "From “"+source+".") {
			t.Errorf("%q: got %q, want it answered from %s", text, result.Text, source)
		}
	}
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}
