package hashing_test

import (
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/embeddingtest"
	"parlance.dev/parlance/provider/embedding/hashing"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	embeddingtest.Run(t, hashing.New())
	t.Run("First", func(t *testing.T) { embeddingtest.Run(t, hashing.First()) })
}

var passages = []string{
	"Refunds are paid within 30 days of purchase. Send the order number to the billing team and the refund goes back to the card that " +
		"was charged.",
	"Our office opens at nine in the morning and closes at six in the evening, Monday to Friday. The opening hours on Saturday are ten " +
		"to two.",
	"To reset your password, open the sign-in page and choose Forgot password. A reset link arrives by email and works for one hour.",
	"Parcels ship from the Rotterdam warehouse. Standard shipping takes three to five working days; express shipping arrives the next day.",
	"The espresso machine needs descaling every two months. Fill the tank with descaler, run the cleaning programme and rinse twice.",
	"Webhooks are signed with HMAC-SHA256. Compare the signature header with your own computation over the raw body before you trust the " +
		"event.",
	"The warranty covers manufacturing defects for two years. Damage by water or by opening the case voids the warranty.",
	"Employees accrue vacation at two days a month. Vacation requests go to the line manager at least two weeks ahead.",
	"Photosynthesis turns light, water and carbon dioxide into sugar and oxygen inside the chloroplasts of plant cells.",
	"The Treaty of Westphalia ended the Thirty Years' War in 1648 and shaped the European system of sovereign states.",
	"Dogs are welcome in the hotel for a fee of fifteen euros a night. Pets may not enter the restaurant.",
	"The API allows 600 requests a minute. When the rate limit is reached the answer is 429 with a Retry-After header.",
}

func TestKeywordQuestions(t *testing.T) {
	t.Parallel()
	questions := []struct {
		q    string
		want int
	}{
		{"How do I get a refund for my order?", 0},
		{"What are your opening hours on Saturday?", 1},
		{"I forgot my password, how can I reset it?", 2},
		{"How long does express shipping take?", 3},
		{"descaling the espresso machine", 4},
		{"How are webhooks signed?", 5},
		{"Does the warranty cover water damage?", 6},
		{"How many vacation days do employees get?", 7},
		{"What is photosynthesis?", 8},
		{"When was the Treaty of Westphalia?", 9},
		{"Are dogs welcome at the hotel?", 10},
		{"what is the API rate limit", 11},
		{"refnuds and order nubmer billing", 0},
	}
	floor := hashing.New().Model().DefaultFloor
	vectors := embed(t, passages)
	for _, question := range questions {
		q := embed(t, []string{question.q})[0]
		best, bestScore := -1, -1.0
		for i, vector := range vectors {
			if score := embeddingtest.Cosine(q, vector); score > bestScore {
				best, bestScore = i, score
			}
		}
		if best != question.want || bestScore < floor {
			t.Errorf("%q finds passage %d with %.3f, want %d above %.2f", question.q, best, bestScore, question.want, floor)
		}
	}
}

func TestUnrelatedStayUnderTheFloor(t *testing.T) {
	t.Parallel()
	floor := hashing.New().Model().DefaultFloor
	vectors := embed(t, passages)
	for _, q := range []string{
		"Who won the football championship?", "What is the capital of Mongolia?", "best recipe for lasagne",
		"How tall is Mount Everest?", "translate hello into Finnish", "Wie spät ist es?", "今日の天気は?",
	} {
		vector := embed(t, []string{q})[0]
		for i, passage := range vectors {
			if score := embeddingtest.Cosine(vector, passage); score >= floor {
				t.Errorf("%q scores %.3f with passage %d", q, score, i)
			}
		}
	}
}

// TestLongPassage holds the floor on a chunk of full size, where the answer is one of many lines.
func TestLongPassage(t *testing.T) {
	t.Parallel()
	chunk := embed(t, []string{"Returns and refunds\n\n" + strings.Join(passages[:7], " ")})[0]
	for _, q := range []string{"How do I get a refund for my order?", "Does the warranty cover water damage?"} {
		if score := embeddingtest.Cosine(embed(t, []string{q})[0], chunk); score < 0.15 {
			t.Errorf("%q scores only %.3f", q, score)
		}
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	alike := [][2]string{{"REFUNDS", "refund"}, {"running shoes", "run shoe"}, {"Größe ändern", "größe ändern"}, {"知識ベース", "知識ベースを検索"}}
	for _, pair := range alike {
		v := embed(t, pair[:])
		if score := embeddingtest.Cosine(v[0], v[1]); score < 0.4 {
			t.Errorf("%q and %q score %.3f", pair[0], pair[1], score)
		}
	}
}

// TestVectorsAreFrozen fails when any vector changes; then its model's name must change with it.
func TestVectorsAreFrozen(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*hashing.Embedder{
		"parlance-lexical-hash-512 570.0022": hashing.First(), "parlance-lexical-hash-512-v2 618.3801": hashing.New(),
	} {
		vectors, err := e.Embed(t.Context(), []string{strings.Join(passages, " ")}, embedding.Document)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for i, x := range vectors[0] {
			sum += float64(x) * float64(i+1)
		}
		if got := fmt.Sprintf("%s %.4f", e.Model().Name, sum); got != want {
			t.Errorf("got the checksum %s, want %s", got, want)
		}
	}
}

// TestCommonWordsWeighLess has two questions that share a common word, and two that share a rare
// one: more alike are those of the rare one, also in a language whose words have no stop list here.
func TestCommonWordsWeighLess(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ common, rare [2]string }{
		{[2]string{"system turbine", "system invoice"}, [2]string{"turbine system", "turbine method"}},
		{[2]string{"welche Rechnung", "welche Heizung"}, [2]string{"welche Rechnung", "jede Rechnung"}},
	} {
		common, rare := embed(t, row.common[:]), embed(t, row.rare[:])
		if c, r := embeddingtest.Cosine(common[0], common[1]), embeddingtest.Cosine(rare[0], rare[1]); c >= r-0.2 {
			t.Errorf("%q score %.3f, %q only %.3f", row.common, c, row.rare, r)
		}
	}
}

func embed(t *testing.T, texts []string) [][]float32 {
	t.Helper()
	vectors, err := hashing.New().Embed(t.Context(), texts, embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func BenchmarkEmbed(b *testing.B) {
	text := strings.Join(passages, " ")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := hashing.New().Embed(b.Context(), []string{text}, embedding.Document); err != nil {
			b.Fatal(err)
		}
	}
}
