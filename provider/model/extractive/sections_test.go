package extractive_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
)

// faq has questions in the forms that people write them in.
const faq = `LARCHFIELD DENTAL PRACTICE
Answers for patients

We are at 22 Orchard Lane.

Q: Are you taking new patients?
A: Yes, with a waiting time of six weeks. Please complete the form online.

Q: How do I cancel an appointment?
A: Use the link in the reminder. We ask for 24 hours' notice. Late cancellations are charged.

7. What counts as an emergency?

Swelling of the face, or a tooth that has been knocked out.

**Where can I park?**
Behind the house.

## Fees

Treatment | Fee | Length
--- | --- | ---
Routine check-up | 39 | 20 minutes
Porcelain crown | 740 | two visits

Opening hours

Monday to Friday:

- mornings from 8 to 12
- afternoons from 14 to 18
`

// TestSections asks what stands under questions and headings, and in a table.
func TestSections(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Are you taking new patients?":   "(Are you taking new patients?): “Yes, with a waiting time of six weeks.",
		"How do I cancel an appointment": "“Use the link in the reminder. We ask for 24 hours' notice.",
		"What counts as an emergency?":   "(What counts as an emergency?): “Swelling of the face, or a tooth that has been knocked out.”",
		"Where can I park?":              "“Behind the house.”",
		"How much is a porcelain crown?": "(Fees): “Treatment: Porcelain crown, Fee: 740, Length: two visits”",
		"What are your opening hours?":   "(Opening hours): “Monday to Friday: mornings from 8 to 12",
	} {
		result, _ := ask(t, question(text, model.Passage{Source: "faq.txt", Text: faq}))
		if !strings.Contains(result.Text, want) {
			t.Errorf("%q: got %q, want %q", text, result.Text, want)
		}
	}
}

// TestLanguages: questions are answered from documents in their language, and declined in it.
func TestLanguages(t *testing.T) {
	t.Parallel()
	guide := model.Passage{
		Source: "guide.md", Heading: "Anleitung",
		Text: "Wie oft muss der Filter gereinigt werden?\n\nDer Luftfilter soll alle zwei Monate gereinigt werden. " +
			"Nehmen Sie dazu lauwarmes Wasser.",
	}
	result, _ := ask(t, question("Wie oft soll ich den Luftfilter reinigen?", guide))
	if !strings.Contains(result.Text, "alle zwei Monate") || len(result.Citations) != 1 {
		t.Errorf("in German: %q", result.Text)
	}
	for text, want := range map[string]string{
		"Kann ich das Gerät mit meinem Telefon steuern?":             "Dazu habe ich keinen Abschnitt",
		"Quelle caution faut-il verser pour réserver une chambre ?":  "Je n'ai aucun passage",
		"¿Puedo gestionar el inventario de mi almacén con esto?":     "No tengo ningún pasaje",
		"Posso pagare con la carta di credito nel vostro negozio?":   "Non ho alcun passaggio",
		"Kan ik met mijn pas ook in het buitenland geld opnemen?":    "Daarover heb ik geen passage",
		"Как часто нужно менять фильтр в этом приборе?":              "В моей базе знаний",
		"Is there a swimming pool, and when may children go into it": "I have no passage about that",
	} {
		if result, _ := ask(t, question(text, guide)); !strings.HasPrefix(result.Text, want) || len(result.Citations) != 0 {
			t.Errorf("%q: got %q, want %q", text, result.Text, want)
		}
	}
	for text, want := range map[string]string{
		"Merci beaucoup !": "Je vous en prie", "Hallo, guten Tag": "Guten Tag!", "¡Muchas gracias!": "De nada",
		"Hi there, how are you?": "Hello!", "cool, got it": "You are welcome", "that was helpful, thank you": "You are welcome",
		"bye, have a nice day": "Goodbye!", "спасибо большое": "Пожалуйста", "Tack så mycket": "Varsågod",
	} {
		if result, _ := ask(t, question(text, guide)); !strings.HasPrefix(result.Text, want) {
			t.Errorf("%q: got %q, want %q", text, result.Text, want)
		}
	}
}
