package kb

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

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
