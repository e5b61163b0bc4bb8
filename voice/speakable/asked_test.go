package speakable_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"parlance.dev/parlance/voice/speakable"
)

var kinds = map[string]speakable.Kind{
	"none": speakable.None, "number": speakable.Number, "count": speakable.Count, "phone": speakable.Phone,
	"email": speakable.Email, "date": speakable.Date, "birth": speakable.Date, "spelling": speakable.Spelling,
}

// rows reads a file with fields that are separated by tabs.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all [][]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

// TestAskedFor checks the last sentences of agents in each language.
func TestAskedFor(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de"} {
		questions := rows(t, "asked_"+language+".txt")
		wrong := 0
		for _, q := range questions {
			if got := speakable.AskedFor(q[1], language); got.Kind != kinds[q[0]] {
				wrong++
				t.Logf("%s %q: got %v, want %s", language, q[1], got, q[0])
			}
		}
		t.Logf("%s: %d of %d right", language, len(questions)-wrong, len(questions))
		if wrong*100 > 2*len(questions) {
			t.Errorf("%s: %d of %d questions are misunderstood, at most 2 %% may be", language, wrong, len(questions))
		}
	}
}

// TestAskedForDetails checks how long a value is and whether it has a year.
func TestAskedForDetails(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		language, text string
		want           speakable.Value
	}{
		{"en", "Please say your six-digit code.", speakable.Value{Kind: speakable.Number, Digits: 6}},
		{"en", "What are the last four digits of your card?", speakable.Value{Kind: speakable.Number, Digits: 4}},
		{"en", "What's the 8-digit number?", speakable.Value{Kind: speakable.Number, Digits: 8}},
		{"en-US", "And your zip code?", speakable.Value{Kind: speakable.Number, Digits: 5}},
		{"en", "What's your order number?", speakable.Value{Kind: speakable.Number}},
		{"en", "What's your date of birth?", speakable.Value{Kind: speakable.Date, Year: true}},
		{"en", "Which day would you like?", speakable.Value{Kind: speakable.Date}},
		{"de", "Nennen Sie mir bitte die letzten vier Ziffern.", speakable.Value{Kind: speakable.Number, Digits: 4}},
		{"de-AT", "Wie lautet Ihre achtstellige Kundennummer?", speakable.Value{Kind: speakable.Number, Digits: 8}},
		{"de", "Wie ist die Postleitzahl?", speakable.Value{Kind: speakable.Number, Digits: 5}},
		{"de", "Wann sind Sie geboren?", speakable.Value{Kind: speakable.Date, Year: true}},
		{"en", "I have sent you a code. What does it say?", speakable.Value{Kind: speakable.Number}},
		{"de", "Ich habe Ihnen einen Code geschickt. Wie lautet er?", speakable.Value{Kind: speakable.Number}},
		{"pl", "Jaki jest numer zamówienia?", speakable.Value{}},
		{"en", "", speakable.Value{}},
	} {
		if got := speakable.AskedFor(r.text, r.language); got != r.want {
			t.Errorf("%s %q: got %+v, want %+v", r.language, r.text, got, r.want)
		}
	}
}

// FuzzAsked checks that no text makes either function fail, and that nothing is never whole.
func FuzzAsked(f *testing.F) {
	f.Add("What's your order number?", "four seven one one", uint8(1))
	f.Add("Wie ist Ihre E-Mail-Adresse?", "ada ät example punkt d e", uint8(4))
	f.Fuzz(func(t *testing.T, question, answer string, kind uint8) {
		for _, language := range []string{"en", "de", "fr"} {
			value := speakable.AskedFor(question, language)
			speakable.Whole(answer, value, language)
			value.Kind = speakable.Kind(kind % 7)
			speakable.Whole(answer, value, language)
			if value.Kind != speakable.None && language != "fr" && speakable.Whole("", value, language) {
				t.Errorf("nothing is a whole value of kind %d", value.Kind)
			}
		}
	})
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "de"} {
		answers := rows(t, "whole_"+language+".txt")
		wrong := 0
		for _, a := range answers {
			name, digits, _ := strings.Cut(a[0], ":")
			value := speakable.Value{Kind: kinds[name], Year: name == "birth"}
			value.Digits, _ = strconv.Atoi(digits)
			if got := speakable.Whole(a[2], value, language); got != (a[1] == "yes") {
				wrong++
				t.Errorf("%s %s %q: got %t", language, a[0], a[2], got)
			}
		}
		t.Logf("%s: %d of %d right", language, len(answers)-wrong, len(answers))
	}
}
