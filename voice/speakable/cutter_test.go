package speakable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/voice/speakable"
)

// spoken is what is compared of a piece: what it says and of which text.
type spoken struct{ Text, Of string }

func speakAll(language, answer string, deltas ...string) []spoken {
	c := speakable.NewCutter(speakable.Settings{Language: language})
	var pieces []speakable.Piece
	for _, delta := range deltas {
		pieces = append(pieces, c.Write(delta)...)
	}
	pieces = append(pieces, c.Flush()...)
	said := make([]spoken, 0, len(pieces))
	for _, p := range pieces {
		said = append(said, spoken{p.Text, answer[p.Start:p.End]})
	}
	return said
}

// answers are what models write to people who only hear it.
var answers = []struct{ language, text string }{
	{"en", "# Hello **World**\n\nThis is *great*, see [our page](https://example.com/x) or https://www.example.com/help/faq?x=1. " +
		"Mail ada@example.com!"},
	{"en", "Steps:\n1. Open the app\n2. Tap `Settings`\n   - Wi-Fi\n   - 2 * 3 = 6\n\nDone 🎉! [1] See e.g. Dr. Smith at 2:30 p.m. " +
		"We pay $3.50/month."},
	{"en-GB", "> A quotation\n> that goes on\n\n| Plan | Price |\n|:--|--:|\n| Basic | $5 |\n| Pro \\| Max | **$10** |\nAfter it.\n\n" +
		"```go\nx := 1\n```\nEnd."},
	{"en", "Hi!\n\n---\n\nTitle\n=====\n\n- [ ] One\n- [x] Two\n* * *\n![A cat](cat.png) <b>bold</b><br>next & so on &amp; &copy;\n" +
		"[1]: https://example.com\n[^1]: A note.\n"},
	{"de", "Der Termin ist am 27.11.2026 um 14:30 Uhr, z. B. in der Hauptstr. 5. Am 5. Mai kommen 5–7 Kunden usw. " +
		"Danach 5 % Rabatt.\n1. Mai ist frei."},
	{"fr", "Le 01/05/2026 à 14h30, p. ex. 3,50 €. « Bonjour ! » dit M. Dupont. C'est-à-dire : 1 200 € ; merci — au revoir."},
	{"en", "Of all that we sell in this shop, apples and pears and plums go first. 5 are cheap. " +
		"And (7) are not, \"etc.\" - 9 and more of 10 are."},
	{"ja", "こんにちは。今日は良い天気ですね、散歩に行きましょう！はい。東京は明日も晴れるでしょう。"},
	{"en", strings.Repeat("word ", 150) + "end. " + strings.Repeat("x", 700) + " " + strings.Repeat("clause, ", 90)},
	{"en", "~~gone~~ ~5 people, a_b_c, __init__, 5*3 and \\*literal\\* [link][ref] [broken](http://x 【4:0†source】 " +
		"`code with * and [1]` and ``two``\n***\n[ [ [("},
	{"en", "Line one of an address\nMain Street 5\n12345 Springfield\n\nA line that is certainly long enough to have been wrapped " +
		"by somebody\nand continues here. \"Stop!\" she said."},
	{"en", "Hello\r\n\r\nworld\u00a0wide \u200b1️⃣ 👩‍👩‍👧 ok...\n\n\n   \n#notaheading\n####### seven\n12345678901. x\n" +
		"1) one\n2) two\n7. seven"},
}

// TestPieces checks where answers are cut. The slash is only for the eye: what follows it is the
// next piece, and all of them together are the answer.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ language, name, answer string }{
		{"en", "a first clause, then sentences", "You can cancel at any time, / and we refund the rest of it. / Shall I do that for you now?"},
		{"en", "a short first sentence has company", "Yes. You can cancel that today. / Shall I do it for you now?"},
		{"en", "a clause of less than 25 characters", "Well, of course you can cancel that today. / It takes one minute, or perhaps two."},
		{"en", "a colon", "There are three plans for you: / small, medium, and large ones for teams. / Which one is it?"},
		{"en", "a dash", "That depends on your contract – / usually it is one month, and not more."},
		{"en", "abbreviations", "Please ask Dr. J. Smith of Acme Inc. on e.g. U.S. terms, / i.e. the long ones, in May. / He knows them."},
		{"en", "initials", "The book that you are looking for is by Robert J. Smith and J. R. R. Jones, / which is a pity."},
		{"en", "numbers", "The total is 1,234.56 dollars for 3,000 units at 9:30 or 14:30, / version 2.0.1 of it. All right so far?"},
		{"en", "addresses", "Write to first.last@mail.example.com or see example.com/a,b;c:d now, / please. We answer within one day."},
		{"en", "an enumeration of digits", "The combination of it is 4, 7, 1, 1 and nothing else, / believe me. Is that clear to you?"},
		{"en", "p.m. within and at the end", "We open at 9 a.m. on Mondays and close at 5 p.m. / Then we are all at home in the evening."},
		{"en", "quotations", "She said \"Stop!\" and left the room at once. / \"Where is everybody today?\" he asked me later."},
		{"en", "an ellipsis", "Let me think about that for a moment... / The answer should be seven, I think."},
		{"en", "a question", "Do you have your order number? / I can look it up with your e-mail address, too."},
		{"de", "abbreviations", "Nehmen Sie z. B. den Vertrag von Dr. Abel bzw. den neuen, / d. h. den aus dem Mai. Haben Sie ihn da?"},
		{"de", "ordinals", "Ihr Termin ist am 5. Mai oder am 27. November um 9 Uhr, / wie immer. Passt Ihnen das so?"},
		{"de", "numbers", "Das macht zusammen 1.234,56 Euro bis zum 27.11.2026 inkl. Versand, / wie immer. Passt Ihnen das so?"},
		{"de", "usw. at the end", "Wir liefern Äpfel und Birnen und Nüsse usw. / Danach kommt die Rechnung zu Ihnen."},
		{"fr", "abbreviations", "Appelez p. ex. M. Dupont ou Mme Durand au bureau, / c.-à-d. à Paris. Ils sont là aujourd'hui."},
		{"es", "abbreviations", "Puede llamar, p. ej., al Sr. García de EE. UU. hoy. / Él está en casa esta tarde."},
		{"it", "abbreviations", "Può chiamare ad es. il sig. Rossi e il dott. Bianchi domani, / se vuole. Sono in ufficio alle nove."},
		{"pt", "abbreviations", "Pode ligar p. ex. para o Sr. Silva e a Dra. Costa amanhã, / se quiser. Eles chegam às nove horas."},
		{"nl", "abbreviations", "U kunt bijv. dhr. Jansen of mevr. de Vries bellen, / d.w.z. maandag. Zij zijn er vanaf negen uur."},
		{"ja", "scripts without spaces", "今日は良い天気ですね、散歩に行きましょう。それから昼ご飯を食べましょう。 / 東京は明日も晴れるでしょう。"},
		{"xx", "a language that is not known", "Lorem ipsum dolor sit amet elit, / sed do eiusmod. Ut enim ad minim veniam, quis nostrud."},
	} {
		t.Run(r.language+" "+r.name, func(t *testing.T) {
			t.Parallel()
			want := strings.Split(r.answer, " / ")
			answer := strings.ReplaceAll(r.answer, " / ", " ")
			var got []string
			for _, piece := range speakAll(r.language, answer, answer) {
				got = append(got, piece.Of)
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("pieces (-got +want):\n%s", diff)
			}
		})
	}
}

// TestEarly checks how much of an answer must have come before a piece is made of it: the clause
// and the next letter.
func TestEarly(t *testing.T) {
	t.Parallel()
	c := speakable.NewCutter(speakable.Settings{Language: "en"})
	if got := c.Write("You can cancel at any time,"); got != nil {
		t.Fatalf("got %q before anything follows the comma", got[0].Text)
	}
	if got := c.Write(" a"); len(got) != 1 || got[0].Text != "You can cancel at any time," {
		t.Fatalf("got %v, want the clause", got)
	}
	if got := c.Write("nd get your money back, if you like to.\n"); got != nil {
		t.Fatalf("got %q before it is known whether the paragraph goes on", got[0].Text)
	}
	if got := c.Write("\n"); len(got) != 1 || got[0].Text != "and get your money back, if you like to." {
		t.Fatalf("got %v, want the rest of the sentence", got)
	}
}

// TestLimits checks text without any punctuation, and settings.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("word ", 500), strings.Repeat("x", 2000), strings.Repeat("é", 2000), strings.Repeat("一", 2000),
		strings.Repeat("12 ", 900), strings.Repeat("e\u0301", 1000), strings.Repeat("a, ", 900), strings.Repeat(". ", 900) + "a",
	} {
		for _, settings := range []speakable.Settings{{Language: "de"}, {MinChars: 5, MaxChars: 40}} {
			c := speakable.NewCutter(settings)
			most := settings.MaxChars
			if most == 0 {
				most = 300
			}
			pieces := append(c.Write(text), c.Flush()...)
			checkPieces(t, text, pieces)
			var spoken strings.Builder
			for _, p := range pieces {
				spoken.WriteString(text[p.Start:p.End])
				if n := utf8.RuneCountInString(text[p.Start:p.End]); n > most {
					t.Errorf("a piece speaks %d characters of %.20q, at most %d are wanted", n, text, most)
				}
			}
			letters := func(text string) string {
				return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }), "")
			}
			if letters(spoken.String()) != letters(text) {
				t.Errorf("%d bytes of %.20q are spoken, of %d", spoken.Len(), text, len(text))
			}
		}
	}
}

// TestFlush checks an answer that pauses, while a tool is called, and goes on.
func TestFlush(t *testing.T) {
	t.Parallel()
	c := speakable.NewCutter(speakable.Settings{Language: "en"})
	pieces := append(c.Write("One mom"), c.Write("ent")...)
	pieces = append(pieces, c.Flush()...)
	pieces = append(pieces, c.Write("- It is here")...)
	pieces = append(pieces, c.Flush()...)
	if len(pieces) != 2 || pieces[0].Text != "One moment." || pieces[1].Text != "It is here." || pieces[1].Start != 12 {
		t.Errorf("got %+v", pieces)
	}
	if got := c.Flush(); got != nil {
		t.Errorf("got %+v of nothing", got)
	}
}

// TestDeltas checks that pieces do not depend on how an answer is divided.
func TestDeltas(t *testing.T) {
	t.Parallel()
	for _, a := range answers {
		whole := speakAll(a.language, a.text, a.text)
		for _, size := range []int{1, 2, 3, 5, 7, 11, 13, 29, 64} {
			if diff := cmp.Diff(speakAll(a.language, a.text, deltas(a.text, size)...), whole); diff != "" {
				t.Errorf("%q in deltas of %d characters (-got +want):\n%s", a.text, size, diff)
			}
		}
	}
}

// deltas divides a text into parts of as many characters.
func deltas(text string, size int) []string {
	var parts []string
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(size, len(runes))
		parts, runes = append(parts, string(runes[:n])), runes[n:]
	}
	return parts
}

// FuzzDeltas checks the same for texts that nobody has thought of, and what holds of every piece.
func FuzzDeltas(f *testing.F) {
	for i, a := range answers {
		f.Add(a.text, uint8(i+1), uint8(i))
	}
	languages := []string{"en", "de", "fr", "es", "it", "pt", "nl", "en-GB", "ja", ""}
	f.Fuzz(func(t *testing.T, text string, size, language uint8) {
		if !utf8.ValidString(text) || size == 0 {
			return
		}
		tag := languages[int(language)%len(languages)]
		c := speakable.NewCutter(speakable.Settings{Language: tag})
		pieces := append(c.Write(text), c.Flush()...)
		checkPieces(t, text, pieces)
		whole := speakAll(tag, text, text)
		if diff := cmp.Diff(speakAll(tag, text, deltas(text, int(size))...), whole); diff != "" {
			t.Errorf("%s %q in deltas of %d characters (-got +want):\n%s", tag, text, size, diff)
		}
	})
}

// checkPieces checks what holds of all pieces of every answer.
func checkPieces(t *testing.T, answer string, pieces []speakable.Piece) {
	t.Helper()
	end := 0
	for _, p := range pieces {
		if p.Start < end || p.End <= p.Start || p.End > len(answer) {
			t.Fatalf("piece %q speaks bytes %d to %d of %d, the one before it ends at %d", p.Text, p.Start, p.End, len(answer), end)
		}
		end = p.End
		if !utf8.ValidString(p.Text) || !utf8.ValidString(answer[p.Start:p.End]) || strings.TrimSpace(p.Text) != p.Text || p.Text == "" {
			t.Fatalf("piece %q speaks %q", p.Text, answer[p.Start:p.End])
		}
		if n := utf8.RuneCountInString(p.Text); n > 6*300 {
			t.Fatalf("piece of %d characters: %q", n, p.Text)
		}
		heard := p.Start
		for share := 0.0; share <= 1; share += 1.0 / 16 {
			at := p.HeardShare(share)
			if at < heard || at > p.End || !utf8.ValidString(answer[p.Start:at]) {
				t.Fatalf("after %.2f of %q byte %d was heard, after less of it %d", share, p.Text, at, heard)
			}
			heard = at
		}
		if heard != p.End || p.HeardText(p.Text) != p.End || p.HeardShare(0) != p.Start {
			t.Fatalf("all of %q: got %d and %d, want %d", p.Text, heard, p.HeardText(p.Text), p.End)
		}
	}
}
