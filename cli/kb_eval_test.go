package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func TestKBEval(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	folder := writeTree(t, map[string]string{
		"returns.md": returnsText, "garage.md": "# Garage\n\nThe garage closes at midnight.", "dogs.md": "# Dogs\n\nDogs are welcome on a lead.",
	})
	w.kb(t, "", "add", folder, "--attach", "default").wants(t, exitDone, "3 ready")
	questions := "q,sources\nWithin how many days can books be returned?,returns.md\nWhen does the garage close?,\"garage.md; dogs.md\"\n"
	first := w.kb(t, questions, "eval", "-", "--name", "before")
	first.wants(t, exitDone, "similarity", "hybrid", "2 of 2", "100.0 %", "1.000", "Stored as evl_")
	id := regexp.MustCompile(`evl_\w+`).FindString(first.out)

	w.kb(t, "", "detach", "garage.md").wants(t, exitDone)
	w.kb(t, questions, "eval", "-", "--compare-to", id, "--misses", "--top-k", "1").wants(t, exitDone,
		"1 of 2", "50.0 %", "hit rate -50.0 %", "↓ When does the garage close?: place 1 → not found", "✗  When does the garage close?")
	w.kb(t, `{"q": "dogs", "sources": ["no such.md"]}`, "eval", "-").wants(t, exitFailed, "evaluate: ", "no such.md")
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	writeFile(t, file, `{"q": "dogs on a lead", "sources": ["dogs.md"]}`)
	got := w.kb(t, "", "eval", file, "--json")
	got.wants(t, exitDone)
	if line := jsonLines(t, got.out)[0]; line["question_count"] != 1.0 {
		t.Errorf("question_count %v, want 1", line["question_count"])
	}
}

func TestParseQuestions(t *testing.T) {
	t.Parallel()
	want := []*parlancev1.EvaluationQuestion{
		{Q: "One, two?", SourceNames: []string{"a.md", "b.md"}}, {Q: "Three?", SourceIds: []string{"src_1"}},
	}
	for name, content := range map[string]string{
		"CSV":     "Question,Sources\n\"One, two?\",a.md; b.md\nThree?,src_1\n",
		"BOM":     "\ufeffq,sources\r\n\"One, two?\",a.md;b.md\r\nThree?,src_1\r\n",
		"Array":   `[{"q": "One, two?", "sources": ["a.md", "b.md"]}, {"q": "Three?", "source_ids": ["src_1"]}]`,
		"Object":  `{"questions": [{"q": "One, two?", "source_names": ["a.md", "b.md"]}, {"q": "Three?", "sources": ["src_1"]}]}`,
		"AnyLine": "{\"q\": \"One, two?\", \"sources\": [\"a.md\", \"b.md\"]}\n{\"q\": \"Three?\", \"sources\": [\"src_1\"]}\n",
	} {
		got, err := parseQuestions([]byte(content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for content, says := range map[string]string{
		"":                             "holds no questions",
		"[]":                           "holds no questions",
		"a,b\n1,2":                     "titles of the columns",
		"q,sources\nx":                 "line 2",
		"q,sources\nx,":                "names no source",
		`[{"q": "x", "source": "y"}]`:  "source",
		`[{"q": "", "sources": ["y"]}`: "no JSON",
		`{"sources": ["y"]}`:           `no "q"`,
	} {
		if _, err := parseQuestions([]byte(content)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", content, err, says)
		}
	}
}
