package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/test/fake/openaiembed"
	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/test/pgtest"
)

// model is one whose makers ask for prefixes before questions and passages.
const model = "nomic-embed-text-v1.5"

// neural starts a server of embeddings whose scripted vectors know which words belong together, and
// returns it with the options that name it.
func neural(t *testing.T, topicOf map[string]int) (*openaiembed.Server, options) {
	t.Helper()
	server := openaiembed.Start(t)
	server.Serve(model)
	server.Script(func(text string) []float64 {
		vector := make([]float64, openaiembed.Dimension)
		vector[openaiembed.Dimension-1] = 0.5 // what all texts share
		for word := range strings.FieldsSeq(strings.Trim(text, ".?")) {
			if topic, ok := topicOf[strings.Trim(word, ".?")]; ok {
				vector[topic]++
			}
		}
		return vector
	})
	return server, options{url: server.URL, model: model}
}

// TestNeuralInterface is the whole way with a server of embeddings: it finds what shares no word
// with the question, which the built-in embedder and BM25 do not.
func TestNeuralInterface(t *testing.T) {
	t.Parallel()
	c, topicOf := small(true)
	_, o := neural(t, topicOf)
	embedder, err := o.embedder()
	if err != nil {
		t.Fatal(err)
	}
	with, without := measureSmall(t, embedder, c), measureSmall(t, hashing.New(), c)
	t.Logf("bm25 %+v; built in: similarity %+v; neural: similarity %+v, hybrid %+v", mean(with.bm25),
		mean(without.similarity), mean(with.similarity), mean(with.hybrid))
	if !strings.HasPrefix(with.model, model) {
		t.Errorf("measured with %q", with.model)
	}
	if d := compared(with.similarity, with.bm25); d.mean <= 0 || d.p >= significant {
		t.Errorf("similarity by the server beside BM25: %+v", d)
	}
	if got, lexical := mean(with.similarity).ndcg10, mean(without.similarity).ndcg10; got < 0.95 || lexical > 0.6 {
		t.Errorf("the server's vectors have %.3f, the built-in ones %.3f", got, lexical)
	}
	if d := compared(with.hybrid, with.bm25); d.mean <= 0 || d.p >= significant {
		t.Errorf("hybrid beside BM25: %+v", d)
	}
}

// TestNeuralRun is what `go run ./test/eval -embedding-url` does on a collection of files, from the
// reading of the files to the figures: each document and each question goes over the wire, with the
// prefix of its kind, and the figures are printed and written down.
func TestNeuralRun(t *testing.T) {
	t.Parallel()
	made, topicOf := small(true)
	server, o := neural(t, topicOf)
	o.collection, o.out = filepath.Join(t.TempDir(), "paraphrases"), t.TempDir()
	writeBEIR(t, o.collection, made)
	c, err := load(o.collection)
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := o.report(t.Context(), &printed, pgtest.New(t).URL, t.TempDir(), c); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", printed.String())

	sent := map[string]bool{}
	for _, text := range server.Texts() {
		if !strings.HasPrefix(text, "search_document: ") && !strings.HasPrefix(text, "search_query: ") {
			t.Errorf("sent without a prefix: %q", text)
		}
		sent[text] = true
	}
	for _, d := range made.documents {
		if !sent["search_document: "+d.text] {
			t.Errorf("document %s was not embedded", d.id)
		}
	}
	for _, q := range made.questions {
		if !sent["search_query: "+q.text] {
			t.Errorf("question %s was not embedded", q.id)
		}
	}
	values := written(t, o.out, figures.PartRetrieval+" paraphrases")
	if lexical, ok := values["nDCG@10 of BM25"]; !ok || lexical > 0.6 {
		t.Errorf("BM25 has %.3f (%t) of questions that share no word with their answers", lexical, ok)
	}
	for _, name := range []string{"nDCG@10 of similarity ranking", "nDCG@10 of hybrid ranking"} {
		if values[name] < 0.9 {
			t.Errorf("%s is %.3f", name, values[name])
		}
		if !strings.Contains(printed.String(), name) {
			t.Errorf("%s is not printed", name)
		}
	}
	if !strings.Contains(printed.String(), model) {
		t.Error("the model is not printed")
	}
}

// writeBEIR writes a collection in the form of BEIR.
func writeBEIR(t *testing.T, dir string, c collection) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var corpus, queries bytes.Buffer
	add := func(to *bytes.Buffer, id, text string) {
		if err := json.NewEncoder(to).Encode(map[string]string{"_id": id, "text": text}); err != nil {
			t.Fatal(err)
		}
	}
	judged := "query-id\tcorpus-id\tscore\n"
	for _, d := range c.documents {
		add(&corpus, d.id, d.text)
	}
	for _, q := range c.questions {
		add(&queries, q.id, q.text)
		for id := range q.gains {
			judged += q.id + "\t" + id + "\t1\n"
		}
	}
	for name, content := range map[string]string{
		"corpus.jsonl": corpus.String(), "queries.jsonl": queries.String(), "qrels.tsv": judged,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// written reads the figures of a part from benchmarks.json.
func written(t *testing.T, dir, part string) map[string]float64 {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "benchmarks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []figures.Row }
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, row := range file.Rows {
		if row.Part == part {
			values[row.Name] = row.Value
		}
	}
	return values
}
