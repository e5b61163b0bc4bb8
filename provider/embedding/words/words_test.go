package words_test

import (
	"testing"

	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/embeddingtest"
	"parlance.dev/parlance/provider/embedding/words"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	embeddingtest.Run(t, words.New())
}

var passages = []string{
	"Refunds are paid within 30 days of purchase. Send the order number to the billing team and the refund goes back to the card " +
		"that was charged.",
	"Our office opens at nine in the morning and closes at six in the evening, Monday to Friday. The opening hours on Saturday are " +
		"ten to two.",
	"To reset your password, open the sign-in page and choose Forgot password. A reset link arrives by email and works for one hour.",
	"Parcels ship from the Rotterdam warehouse. Standard shipping takes three to five working days; express shipping arrives the " +
		"next day.",
	"The espresso machine needs descaling every two months. Fill the tank with descaler, run the cleaning programme and rinse twice.",
	"Webhooks are signed with HMAC-SHA256. Compare the signature header with your own computation over the raw body before you " +
		"trust the event.",
	"The warranty covers manufacturing defects for two years. Damage by water or by opening the case voids the warranty.",
	"Employees accrue vacation at two days a month. Vacation requests go to the line manager at least two weeks ahead.",
}

// TestMeaning asks in other words than the passages have.
func TestMeaning(t *testing.T) {
	t.Parallel()
	vectors := embed(t, passages...)
	for question, want := range map[string]int{
		"How do I get my money back?": 0, "When are you open at the weekend?": 1, "I cannot log in any more": 2,
		"cleaning the coffee maker": 4, "Is something broken by rain covered by the guarantee?": 6, "How many days off does staff get?": 7,
		"refnuds and order nubmer": 0, // the words' parts count too
	} {
		best, similarity := -1, -1.0
		for i, vector := range vectors {
			if s := embeddingtest.Cosine(embed(t, question)[0], vector); s > similarity {
				best, similarity = i, s
			}
		}
		if best != want || similarity < words.New().Model().DefaultFloor {
			t.Errorf("%q finds passage %d with %.3f, want %d", question, best, similarity, want)
		}
	}
}

// TestUnrelated: what has nothing to do with a passage stays under the floor.
func TestUnrelated(t *testing.T) {
	t.Parallel()
	floor := words.New().Model().DefaultFloor
	vectors := embed(t, passages...)
	for _, question := range []string{
		"Who won the football championship?", "What is the capital of Mongolia?", "How tall is Mount Everest?",
		"translate hello into Finnish", "Wie spät ist es?", "今日の天気は?",
	} {
		for i, vector := range vectors {
			if similarity := embeddingtest.Cosine(embed(t, question)[0], vector); similarity >= floor {
				t.Errorf("%q scores %.3f with passage %d", question, similarity, i)
			}
		}
	}
}

// TestOtherLanguages: a text without a known word has its words and their parts alone, and equal
// ones are equal.
func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	vectors := embed(t, "知識ベース", "知識ベース", "知識ベースを検索")
	if equal := embeddingtest.Cosine(vectors[0], vectors[1]); equal < 0.999 {
		t.Errorf("equal texts score %.3f", equal)
	}
	if alike := embeddingtest.Cosine(vectors[0], vectors[2]); alike < 0.4 {
		t.Errorf("texts with the same words score %.3f", alike)
	}
	for _, x := range vectors[0][512:] {
		if x != 0 {
			t.Fatalf("the second part of a Japanese text is %v", vectors[0][512:])
		}
	}
}

func embed(t *testing.T, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := words.New().Embed(t.Context(), texts, embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func BenchmarkEmbed(b *testing.B) {
	e := words.New()
	for _, text := range []string{"How do I get my money back?", passages[0] + passages[1] + passages[2] + passages[3]} {
		b.Run(text[:7], func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Embed(b.Context(), []string{text}, embedding.Document); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
