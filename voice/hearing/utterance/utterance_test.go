package utterance_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/voice/hearing/utterance"
)

func TestAcknowledgement(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		language, text string
		want           bool
	}{
		{"en", "Uh-huh.", true},
		{"en", "Yeah, okay.", true},
		{"en-GB", "That's right, I see.", true},
		{"en", "Okay, but what about Sunday?", false},
		{"en", "", false},
		{"en", "...", false},
		{"de", "Ja, genau.", true},
		{"de", "ja ja", true},
		{"de", "Ja, aber nicht heute", false},
		{"fr", "D’accord, très bien", true},
		{"es", "sí, vale", true},
		{"it", "Va bene, grazie", true},
		{"pt-BR", "tá bom", true},
		{"nl", "Ja, ik snap het", true},
		{"nl", "Nee, ik snap het niet", false},
		{"xx", "uh huh", true},
	} {
		if got := utterance.For(row.language).Acknowledgement(row.text); got != row.want {
			t.Errorf("%s %q: got %t, want %t", row.language, row.text, got, row.want)
		}
	}
}

func TestBeginsAcknowledgement(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		language, text string
		want           bool
	}{
		{"en", "okay, that's", true},
		{"en", "okay", true},
		{"en", "okay that is", false},
		{"en", "", false},
		{"de", "alles", true},
		{"de", "alles gut", false},
		{"es", "de", true},
	} {
		if got := utterance.For(row.language).BeginsAcknowledgement(row.text); got != row.want {
			t.Errorf("%s %q: got %t, want %t", row.language, row.text, got, row.want)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		language, text string
		want           bool
	}{
		{"en", "Stop!", true},
		{"en", "okay, wait a second", true},
		{"en", "No, that's wrong", true},
		{"en", "no problem", false},
		{"en", "I could not stop laughing", false},
		{"de", "Moment mal", true},
		{"de", "ja, halt", true},
		{"fr", "Attendez", true},
		{"es", "Espera", true},
		{"it", "aspetti", true},
		{"pt", "Espere um minuto", true},
		{"nl", "Wacht even", true},
	} {
		if got := utterance.For(row.language).Stop(row.text); got != row.want {
			t.Errorf("%s %q: got %t, want %t", row.language, row.text, got, row.want)
		}
	}
}

func TestEnding(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		language, text string
		asked          utterance.Value
		digits         int
		want           utterance.Ending
	}{
		{"en", "What are your opening hours?", utterance.None, 0, utterance.Finished},
		{"en", `He said "go."`, utterance.None, 0, utterance.Finished},
		{"en", "I want to book a room", utterance.None, 0, utterance.Open},
		{"en", "I want to book a", utterance.None, 0, utterance.Unfinished},
		{"en", "I want to book a room and", utterance.None, 0, utterance.Unfinished},
		// A full stop that the transcriber put where the speaker only paused.
		{"en", "I want to book a room with.", utterance.None, 0, utterance.Unfinished},
		{"en", "On Monday,", utterance.None, 0, utterance.Unfinished},
		{"en", "My number is five five five", utterance.None, 0, utterance.Unfinished},
		{"en", "We need two", utterance.None, 0, utterance.Open},
		{"en", "", utterance.None, 0, utterance.Open},
		{"de", "Ich möchte einen Tisch für", utterance.None, 0, utterance.Unfinished},
		{"fr", "Je voudrais une table pour", utterance.None, 0, utterance.Unfinished},
		{"es", "Quiero una mesa para", utterance.None, 0, utterance.Unfinished},
		{"it", "Vorrei un tavolo per", utterance.None, 0, utterance.Unfinished},
		{"pt", "Quero uma mesa para", utterance.None, 0, utterance.Unfinished},
		{"nl", "Ik wil een tafel voor", utterance.None, 0, utterance.Unfinished},

		{"en", "555 123.", utterance.Digits, 0, utterance.Partial},
		{"en", "555 123 4567", utterance.Digits, 0, utterance.Finished},
		{"en", "555 123 4", utterance.Digits, 0, utterance.Unfinished},
		{"en", "four two one seven", utterance.Digits, 4, utterance.Finished},
		{"en", "four two twenty-three", utterance.Digits, 4, utterance.Finished},
		{"en", "four two one", utterance.Digits, 4, utterance.Partial},
		{"en", "I do not know it.", utterance.Digits, 0, utterance.Finished},
		{"en", "for four people", utterance.Number, 0, utterance.Finished},
		{"en", "four or", utterance.Number, 0, utterance.Partial},
		{"en", "john dot smith", utterance.Email, 0, utterance.Partial},
		{"en", "john dot smith at example.", utterance.Email, 0, utterance.Partial},
		{"en", "john dot smith at example dot com", utterance.Email, 0, utterance.Finished},
		{"en", "john.smith@example.com", utterance.Email, 0, utterance.Finished},
		{"en", "I don't have one.", utterance.Email, 0, utterance.Finished},
		{"en", "The third of May", utterance.Date, 0, utterance.Partial},
		{"en", "May 3", utterance.Date, 0, utterance.Unfinished},
		{"en", "May 3 2026", utterance.Date, 0, utterance.Finished},
		{"en", "tomorrow", utterance.Date, 0, utterance.Finished},
		{"en", "S M", utterance.Spelling, 0, utterance.Partial},
		{"en", "S M I T H", utterance.Spelling, 0, utterance.Unfinished},
		{"de", "null eins sieben", utterance.Digits, 0, utterance.Partial},
		{"de", "anna punkt meier at example punkt de", utterance.Email, 0, utterance.Finished},
	} {
		got := utterance.For(row.language).Ending(row.text, row.asked, row.digits)
		if got != row.want {
			t.Errorf("%s %q after %d: got %d, want %d", row.language, row.text, row.asked, got, row.want)
		}
	}
}

func TestAsked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		language, text string
		want           utterance.Value
	}{
		{"en", "Sure. What is your phone number?", utterance.Digits},
		{"en", "I have your phone number. Anything else?", utterance.None},
		{"en", "Could you spell your e-mail address?", utterance.Spelling},
		{"en", "And your e-mail, please.", utterance.Email},
		{"en", "The date is fine. Which room?", utterance.None},
		{"en", "For which room? Which day is best?", utterance.Date},
		{"en", "How many people?", utterance.Number},
		{"de", "Wie lautet Ihre Telefonnummer?", utterance.Digits},
		{"fr", "Quelle est votre date de naissance ?", utterance.Date},
		{"es", "¿Cuál es su correo?", utterance.Email},
		{"it", "Quanti siete?", utterance.Number},
		{"pt", "Pode soletrar o nome?", utterance.Spelling},
		{"nl", "Wat is uw postcode?", utterance.Digits},
	} {
		if got := utterance.For(row.language).Asked(row.text); got != row.want {
			t.Errorf("%s %q: got %d, want %d", row.language, row.text, got, row.want)
		}
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	const said = "We are open from nine to five on weekdays, and on Saturdays until noon."
	for _, row := range []struct {
		heard string
		want  bool
	}{
		{"open from nine", true},
		{"from line to five on weekdays", true}, // one word misheard
		{"What about Sundays?", false},
		{"weekdays five open", false}, // the words, in another order
		{"open", false},
		{"", false},
	} {
		if got := utterance.Echo(row.heard, said); got != row.want {
			t.Errorf("%q: got %t, want %t", row.heard, got, row.want)
		}
	}
}

// FuzzText checks that every text is judged, and that letter case makes no difference.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "Yes.", "john@example.com", "S-M-I-T-H", "twenty-three 4,5", "’", "…", "ÄÖÜ ß"} {
		f.Add("en", text)
	}
	f.Add("de", "Ja, genau.")
	f.Fuzz(func(t *testing.T, language, text string) {
		rules := utterance.For(language)
		for value := utterance.None; value <= utterance.Spelling; value++ {
			rules.Ending(text, value, 4)
		}
		rules.Stop(text)
		rules.Asked(text)
		lower := strings.ToLower(text)
		if rules.Acknowledgement(text) != rules.Acknowledgement(lower) {
			t.Errorf("%q and %q are judged differently", text, lower)
		}
		if words := utterance.Words(text); len(words) > 1 && !utterance.Echo(text, text) {
			t.Errorf("%q is no echo of itself", text)
		}
	})
}
