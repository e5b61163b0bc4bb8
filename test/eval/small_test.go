package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/test/figures"
	"parlance.dev/parlance/test/pgtest"
)

const (
	topics      = 12
	topicTexts  = 8
	topicWords  = 10
	textWords   = 6
	fillerWords = 25
)

// made are words that no language has and no stemmer changes much.
func made(random *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		for range 3 {
			words[i] += string("bdfgklmprtvz"[random.IntN(12)]) + string("aou"[random.IntN(3)])
		}
		words[i] += "k"
	}
	return words
}

// small is a collection of texts on topics: each text has some words of its topic, and many that
// all topics share. A question has three words of a topic, and the topic's texts answer it, also
// those that have none of the three. With paraphrase the questions use words of the topic that no
// text has.
func small(paraphrase bool) (c collection, topicOf map[string]int) {
	random := rand.New(rand.NewPCG(11, 3))
	filler := made(random, 40)
	topicOf = map[string]int{}
	for topic := range topics {
		words, others := made(random, topicWords), made(random, 3)
		for _, word := range append(words, others...) {
			topicOf[word] = topic
		}
		gains := map[string]float64{}
		for i := range topicTexts {
			var text []string
			for _, at := range random.Perm(topicWords)[:textWords] {
				text = append(text, words[at])
			}
			for range fillerWords {
				text = append(text, filler[random.IntN(len(filler))])
			}
			random.Shuffle(len(text), func(a, b int) { text[a], text[b] = text[b], text[a] })
			id := fmt.Sprintf("t%d-%d", topic, i)
			gains[id] = 1
			c.documents = append(c.documents, document{id: id, text: strings.Join(text, " ") + "."})
		}
		asked := words[:3]
		if paraphrase {
			asked = others
		}
		c.questions = append(c.questions, question{fmt.Sprint(topic), strings.Join(append([]string{filler[topic]},
			asked...), " ") + "?", gains})
	}
	return c, topicOf
}

func measureSmall(t *testing.T, embedder embedding.Embedder, c collection) outcome {
	t.Helper()
	b, err := newBase(t.Context(), pgtest.Open(t), t.TempDir(), embedder)
	if err != nil {
		t.Fatal(err)
	}
	o, err := run(t.Context(), b, c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestSmallCollection is the whole way with the built-in embedder. What it asserts are relations:
// all rankings find what has the question's words, and hybrid ranking, which is made of the other
// two, is no worse than similarity and not far behind BM25, which nothing beats where every word
// is equally telling.
func TestSmallCollection(t *testing.T) {
	t.Parallel()
	c, _ := small(false)
	o := measureSmall(t, hashing.New(), c)
	if o.model != hashing.ModelName || o.questions != topics || o.documents != topics*topicTexts {
		t.Errorf("measured %d questions, %d documents with %q", o.questions, o.documents, o.model)
	}
	bm25, similarity, hybrid := mean(o.bm25), mean(o.similarity), mean(o.hybrid)
	t.Logf("bm25 %+v, similarity %+v, hybrid %+v", bm25, similarity, hybrid)
	chance := float64(topicTexts) / float64(topics*topicTexts)
	for name, f := range map[string]figuresOf{"bm25": bm25, "similarity": similarity, "hybrid": hybrid} {
		if f.ndcg10 < 4*chance || f.rr < 0.5 {
			t.Errorf("%s is little better than chance: %+v", name, f)
		}
	}
	if hybrid.ndcg10 < similarity.ndcg10 || hybrid.ndcg10 < 0.9*bm25.ndcg10 {
		t.Errorf("hybrid has %.3f, similarity %.3f, BM25 %.3f", hybrid.ndcg10, similarity.ndcg10, bm25.ndcg10)
	}
	lines := rows(o)
	if len(lines) != 4 || lines[1].Ratio == nil || lines[1].Target == nil || !strings.Contains(lines[3].Note, "paired bootstrap") {
		t.Errorf("the rows are %v", lines)
	}
	// A ranking that is significantly worse must not look like one that is better.
	worse := o
	worse.hybrid, worse.bm25 = make([]figuresOf, topics), o.hybrid
	if line := rows(worse)[3]; line.Held() || !strings.Contains(line.Note, "not better") {
		t.Errorf("a worse ranking is written down as %v", line)
	}
	dir := t.TempDir()
	for range 2 { // a second run takes the first one's place
		if err := figures.Write(dir, figures.PartRetrieval+" small", lines); err != nil {
			t.Fatal(err)
		}
	}
}
