package pii_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"parlance.dev/parlance/platform/pii"
)

// TestText: each kind is replaced when it is switched on, and nothing else is.
func TestText(t *testing.T) {
	t.Parallel()
	const text = "Card 4242 4242 4242 4242, mail anna@example.com, phone 0171 1234567, IBAN DE89 3704 0044 0532 0130 00."
	for _, c := range []struct {
		name  string
		kinds []pii.Kind
		tag   string
		want  string
	}{
		{"None", nil, "de", text},
		{"Unknown", []pii.Kind{"name"}, "de", text},
		{"Card", []pii.Kind{pii.Card}, "de", strings.Replace(text, "4242 4242 4242 4242", "[card]", 1)},
		{"Email", []pii.Kind{pii.Email}, "de", strings.Replace(text, "anna@example.com", "[email]", 1)},
		{"Phone", []pii.Kind{pii.Phone}, "de", strings.Replace(text, "0171 1234567", "[phone]", 1)},
		{"PhoneOfNoCountry", []pii.Kind{pii.Phone}, "", text},
		{"PhoneOfAnotherCountry", []pii.Kind{pii.Phone}, "de-US", text},
		{"IBAN", []pii.Kind{pii.IBAN}, "de", strings.Replace(text, "DE89 3704 0044 0532 0130 00", "[iban]", 1)},
		{"All", pii.Kinds, "de-DE", "Card [card], mail [email], phone [phone], IBAN [iban]."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := pii.New(c.kinds, c.tag).Text(text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestGroups: numbers in the ways in which people write them.
func TestGroups(t *testing.T) {
	t.Parallel()
	r := pii.New(pii.Kinds, "de")
	for _, iban := range []string{
		"ＤＥ８９３７０４００４４０５３２０１３０００", "ＤＥ８９ ３７０４ ００４４ ０５３２ ０１３０ ００", "DE89.3704.0044.0532.0130.00", "DE 89 3704 0044 0532 0130 00",
		"DE89\n3704 0044 0532 0130 00", "GB29.NWBK.6016.1331.9268.19",
	} {
		if got := r.Text("Konto " + iban + "!"); got != "Konto [iban]!" {
			t.Errorf("%q became %q", iban, got)
		}
	}
	for _, card := range []string{"4242\n4242\n4242\n4242", "4242\t4242\t4242\t4242"} {
		if got := r.Text("Karte " + card + "!"); got != "Karte [card]!" {
			t.Errorf("%q became %q", card, got)
		}
	}
}

// TestDocument: JSON stays JSON, the name of a member says what its value is, numbers are read too,
// and JSON in which nothing is found is not written anew.
func TestDocument(t *testing.T) {
	t.Parallel()
	r := pii.New(pii.Kinds, "en")
	for given, want := range map[string]string{
		`{"card": 4242424242424242, "n": 1.50}`:              `{"card":"[card]","n":1.50}`,
		`{"phone_number":"4155552671","order":"4155552671"}`: `{"order":"4155552671","phone_number":"[phone]"}`,
		`["a", {"mail":"\u0061nna\u0040example.com"}]`:       `["a",{"mail":"[email]"}]`,
		`{"anna@example.com":1,"bob@example.com":2}`:         `{"[email]":1,"[email]_":2}`,
		`{ "n" : 4242424242424243 }`:                         `{ "n" : 4242424242424243 }`,
		"call anna@example.com":                              "call [email]",
		`{"a": anna@example.com`:                             `{"a": [email]`,
	} {
		if got := r.Document(given); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

// FuzzFind: matches are in order, do not overlap, lie on the borders of characters, and nothing is
// found in what has been redacted. JSON stays JSON.
func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"4242 4242 4242 4242", "x@y.de", "+49 30 901820", "DE89370400440532013000", "٤١١١ ١١١١ ١١١١ ١١١١", `{"a":4242424242424242}`,
		"0171/1234567 27.11.2024", "((((+1 (202) 555-0143", "a@b.c@d.ef", "\xff\xfe4242", "𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐",
	} {
		f.Add(text, "de")
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		r := pii.New(pii.Kinds, tag)
		last := 0
		for _, m := range r.Find(text) {
			if m.From < last || m.To <= m.From || m.To > len(text) {
				t.Fatalf("%+v after %d in %q", m, last, text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[m.From:m.To]) {
				t.Fatalf("%+v cuts a character of %q", m, text)
			}
			last = m.To
		}
		if again := r.Find(r.Text(text)); len(again) > 0 {
			t.Fatalf("%+v is left of %q", again, text)
		}
		if clean := r.Document(text); json.Valid([]byte(text)) && !json.Valid([]byte(clean)) {
			t.Fatalf("%q became %q, which is no JSON", text, clean)
		}
	})
}

// TestManyNumbers: a long text of what looks like telephone numbers takes no time to speak of, and
// what is not checked any more is redacted.
func TestManyNumbers(t *testing.T) {
	t.Parallel()
	clean := pii.New(pii.Kinds, "de").Text(strings.Repeat("0171 1234567, ", 20_000))
	if strings.Contains(clean, "0171") {
		t.Error("a number is left")
	}
	if clean := pii.New(pii.Kinds, "de").Text(strings.Repeat("00 ", 200_000)); len(clean) == 0 {
		t.Error("nothing is left")
	}
}

func BenchmarkText(b *testing.B) {
	r := pii.New(pii.Kinds, "de")
	text := strings.Repeat("Guten Tag, ich rufe wegen der Bestellung 2024-0012345 vom 27.11.2024 an, meine Nummer ist 0171 1234567. ", 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Text(text)
	}
}
