package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// directory is one with these files.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	smartDocuments = ".I 1\n.T\nwings .\n.A\nsomebody\n.W\nwings .\nlift of\x13 a\nwing .\n.I 2\n.T\nheat\n.W\nslabs\n.I 3\n.T\n\n.W\n\n"
	// The questions' own numbers have a hole, as Cranfield's.
	smartQuestions = ".I 001\n.W\nwhat lifts ?\n.I 004\n.W\nwhat is hot ?\n.I 7\n.W\nwhat is not judged ?\n"
)

func want() collection {
	return collection{
		documents: []document{{"1", "wings .", "wings .\nlift of a\nwing ."}, {"2", "heat", "slabs"}},
		questions: []question{
			{"1", "what lifts ?", map[string]float64{"1": 1}},
			{"2", "what is hot ?", map[string]float64{"2": 1}},
		},
	}
}

func TestLoadSMART(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"Cranfield": {
			"cran.all.1400": smartDocuments, "cran.qry": smartQuestions,
			"cranqrel": "1 1 2\n1 2 -1\n2 2 3\n2 9 1\n", "cranqrel.readme": "x",
		},
		"CISI": {
			"CISI.ALL": smartDocuments, "CISI.QRY": smartQuestions,
			"CISI.REL": "     1      1\t0\t0.000000\n     2      2\t0\t0.000000\n",
		},
		"CACM": {"cacm.all": smartDocuments, "query.text": smartQuestions, "qrels.text": "01 0001  0 0\n02 0002  0 0\n"},
	} {
		c, err := load(directory(t, files))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c, want(), cmp.AllowUnexported(collection{}, document{}, question{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLoadBEIR(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"corpus.jsonl": `{"_id":"d1","title":"Wings","text":"Lift."}` + "\n" +
			`{"_id":"d2","title":"","text":"Slabs."}` + "\n" + `{"_id":"d3","title":"","text":""}`,
		"queries.jsonl": `{"_id":"q1","text":"what lifts?"}` + "\n" + `{"_id":"q2","text":"nobody judged it"}`,
	}
	for _, name := range []string{"qrels.tsv", "qrels/test.tsv"} {
		files[name] = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq1\td3\t1\nq9\td1\t1\n"
		c, err := load(directory(t, files))
		delete(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.documents) != 2 || c.documents[0].whole() != "Wings\n\nLift." || len(c.questions) != 1 ||
			len(c.questions[0].gains) != 1 || c.questions[0].gains["d1"] != 2 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		files map[string]string
		says  string
	}{
		"Empty":     {nil, "cran.all.1400"},
		"NoQueries": {map[string]string{"cran.all.1400": smartDocuments}, "*.qry"},
		"NoSuch": {map[string]string{
			"cran.all.1400": smartDocuments, "cran.qry": smartQuestions,
			"cranqrel": "9 1 1\n",
		}, "line 1: there is no question"},
		"Outside": {
			map[string]string{"cran.all.1400": "hello\n", "cran.qry": smartQuestions, "cranqrel": "1 1 1\n"},
			"outside a record",
		},
		"Twice": {map[string]string{
			"cran.all.1400": smartDocuments + smartDocuments, "cran.qry": smartQuestions,
			"cranqrel": "1 1 1\n",
		}, `called "1"`},
		"Unjudged": {map[string]string{
			"cran.all.1400": smartDocuments, "cran.qry": smartQuestions,
			"cranqrel": "1 9 1\n",
		}, "no question with a relevant one"},
		"BadJSON": {map[string]string{"corpus.jsonl": "{", "queries.jsonl": "", "qrels.tsv": ""}, "corpus.jsonl"},
		"BadScore": {map[string]string{
			"corpus.jsonl":  `{"_id":"d","text":"x"}`,
			"queries.jsonl": `{"_id":"q","text":"x"}`, "qrels.tsv": "q\td\tmuch\n",
		}, "line 1"},
		"ShortScore": {map[string]string{
			"corpus.jsonl":  `{"_id":"d","text":"x"}`,
			"queries.jsonl": `{"_id":"q","text":"x"}`, "qrels.tsv": "q d\n",
		}, "line 1 is not"},
	} {
		if _, err := load(directory(t, row.files)); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, row.says)
		}
	}
}
