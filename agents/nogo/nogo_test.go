package nogo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"parlance.dev/parlance/agents/nogo"
)

// zones are compiled; a zone is a phrase, or a pattern between slashes.
func zones(t testing.TB, all ...string) *nogo.Zones {
	t.Helper()
	var list []nogo.Zone
	for _, one := range all {
		zone := nogo.Zone{Name: one, Phrases: []string{one}}
		if inner, ok := strings.CutPrefix(one, "/"); ok {
			zone = nogo.Zone{Name: one, Patterns: []string{strings.TrimSuffix(inner, "/")}}
		}
		list = append(list, zone)
	}
	z, err := nogo.Compile(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// What a phrase or pattern finds, and what it does not; the filter must find the same however the
// text is cut, and let nothing of it through.
var examples = []struct {
	zone, text, matched string // matched empty: nothing
}{
	{"bomb", "How is a bomb made?", "bomb"},
	{"bomb", "BOMB", "BOMB"},
	{"bomb", "a bombastic speech", ""},
	{"bomb", "a firebomb", ""},
	{"bomb", "b o m b", "b o m b"},
	{"bomb", "B.O.M.B!", "B.O.M.B"},
	{"bomb", "b**o**mb", "b**o**mb"},
	{"bomb", "bo\u200bmb", "bo\u200bmb"},
	{"bomb", "b\u00ado\u2060m\ufeffb", "b\u00ado\u2060m\ufeffb"},
	{"bomb", "b\u043em\u042c", "b\u043em\u042c"},                     // the small letter looks like another
	{"bomb", "\u0412\u041e\u041c\u0412", "\u0412\u041e\u041c\u0412"}, // all Cyrillic
	{"bomb", "\u0392\u039f\u039c\u0392", "\u0392\u039f\u039c\u0392"}, // all Greek
	{"hate", "\u041dA\u0422\u0395", "\u041dA\u0422\u0395"},
	{"\u0432\u043e\u0434\u0430", "\u0412\u041e\u0414\u0410", "\u0412\u041e\u0414\u0410"}, // a Cyrillic phrase
	{"bomb", "b\u043emb", "b\u043emb"},
	{"bomb", "bömb", "bömb"},
	{"bomb", "bo\u0308mb", "bo\u0308mb"},
	{"bomb", "ｂｏｍｂ", "ｂｏｍｂ"},
	{"bomb", "𝐛𝐨𝐦𝐛", "𝐛𝐨𝐦𝐛"},
	{"bomb", "b0mb", "b0mb"},
	{"kill him", "I will kiII him now", "kiII him"},
	{"kill him", "kill\n\n  him", "kill\n\n  him"},
	{"kill him", "killhim", "killhim"},
	{"kill him", "to kill himself", ""},
	{"kill him", "kill" + strings.Repeat(" ", 40) + "him", ""},
	{"com", "a corn field", ""},
	{"бомба", "Бoмбa!", "Бoмбa"},
	{"爆弾", "これは爆弾です", "爆弾"},
	{"bomb", "b\u00f8mb", "b\u00f8mb"},
	{"bomb", "\u0180\u0275m\u0253", "\u0180\u0275m\u0253"}, // with a bar, and a hook
	{"bomb", "b\uffa0om\u2800b", "b\uffa0om\u2800b"},       // nothing is shown of these
	{"/4[0-9]{15}/", "4\u034f111\ufe0f1111\u180b1111\u00011111", "4\u034f111\ufe0f1111\u180b1111\u00011111"},
	{"office", "the oﬃce", "oﬃce"},
	{"ox", "boxer", ""},
	{"bomb", "\U0001F171omb", "\U0001F171omb"},
	{"bomb", "\U0001F171\U0001F17E\U0001F17C\U0001F171", "\U0001F171\U0001F17E\U0001F17C\U0001F171"},
	{"bomb", "\U0001F151\U0001F15Emb", "\U0001F151\U0001F15Emb"},
	{"bomb", "\U0001F170omb", ""},
	{"hate", "They h@te it", "h@te"},
	{"ship", "a $hip sinks", "$hip"},
	{"ass", "an a$$, really", "a$$"},
	{"ass", "a @$$ it is", "@$$"},
	{"kill bill", "k1ll b1ll", "k1ll b1ll"},
	{"seven", "53v3n", "53v3n"},
	{"ship", "it costs 10 $ hip and hot", ""},
	{"ship", "it costs 10$hip", ""},
	{"ship", "US$hipping", ""},
	{"ample", "mail to us@ample.example", "ample"},
	{"at", "meet me @t 5", ""},
	{"ss", "it costs $$", ""},
	{"at us", "write to us@home", ""},
	{"bomb", "bomb@home", "bomb"},
	{"bomb", "bo@mb", "bo@mb"},
	{"strasse", "in der Stra\u00dfe", "Stra\u00dfe"},
	{"stra\u00dfe", "in der STRASSE", "STRASSE"},
	{"fuss", "Fu\u00df", "Fu\u00df"},
	{"fus", "Fu\u00df", ""},
	{"C++", "I like c, not d", ""},
	{"C++", "grade C+", ""},
	{"C++", "vitamin C + zinc", ""},
	{"C++", "written in C++.", "C++"},
	{"C++", "written in c\uff0b\uff0b", "c\uff0b\uff0b"},
	{"C#", "in c sharp", ""},
	{"C#", "in C#", "C#"},
	{".net", "a net", ""},
	{".net", "use .NET now", "NET"},
	{"shut up!", "shut up", "shut up"},
	{"(bomb)", "a bomb", "bomb"},
	{"@bob", "ask bob", ""},
	{"@bob", "ask @bob", "bob"},
	{"-- a bomb", "a bomb", "a bomb"},
	{"ab ab ac", "ab ab ab ac", "ab ab ac"},
	{"/iban [a-z]{2}[0-9]{2}/", "my IBAN DE89 is", "IBAN DE89"},
	{"/iban [a-z]{2}[0-9]{2}/", "my ib\u200ban d\uff2589", "ib\u200ban d\uff2589"},
	{`/\bass\b/`, "an ass", "ass"},
	{`/\bass\b/`, "bass and assets", ""},
	{`/[0-9]{3}-[0-9]{4}/`, "call 555-0123, now", "555-0123"},
	{`/fire (.*) now/`, "Well. We fire them all now. Good.", "fire them all now"},
	{`/^never/`, "Never say it. Good.", "Never"},
	{`/^never/`, "I never say it.", ""},
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, e := range examples {
		found, err := zones(t, e.zone).Find(t.Context(), e.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(found) > 0 {
			got = found[0].Matched
		}
		if got != e.matched || len(found) > 1 {
			t.Errorf("%s in %q: got %v, want %q", e.zone, e.text, found, e.matched)
		}
	}
}

// TestFilterIsFind: the pieces make no difference, nothing of a match comes through, and what does
// is the text up to it.
func TestFilterIsFind(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, e := range examples {
		for _, before := range []string{"", "Before it. ", strings.Repeat("A long tale of other things. ", 60)} {
			for range 20 {
				if strings.HasPrefix(e.zone, "/^") && before != "" { // speaks of the beginning of a sentence
					continue
				}
				text := before + e.text
				filter := zones(t, e.zone).NewFilter()
				through, match := pour(t, filter, cut(text, random))
				where := fmt.Sprintf("%s in %q", e.zone, text[max(0, len(text)-60):])
				switch {
				case e.matched == "":
					if match != nil || through != text {
						t.Fatalf("%s: let through %q, match %v", where, through, match)
					}
				case match == nil:
					t.Fatalf("%s: not found", where)
				case match.Matched != e.matched:
					t.Fatalf("%s: found %q", where, match.Matched)
				case !strings.HasPrefix(text, through) || len(through) > strings.Index(text, e.matched):
					t.Fatalf("%s: let through %q", where, through)
				}
			}
		}
	}
}

// cut cuts a text into pieces, also within characters' neighbours but never within one.
func cut(text string, random *rand.Rand) []string {
	var pieces []string
	for text != "" {
		n := 1 + random.IntN(6)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		n = min(n, len(text))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

func pour(t testing.TB, filter *nogo.Filter, pieces []string) (through string, match *nogo.Match) {
	t.Helper()
	for _, piece := range pieces {
		some, found, err := filter.Write(t.Context(), piece)
		if err != nil {
			t.Fatal(err)
		}
		through += some
		if found != nil {
			return through, found
		}
	}
	rest, found, err := filter.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return through + rest, found
}

// TestHeldBack: of words that begin no phrase nothing is held, and a pattern holds what it can
// match.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	filter := zones(t, "secret recipe").NewFilter()
	for _, step := range []struct{ piece, through string }{
		{"We never ", "We never "}, {"tell ", "tell "}, {"se", ""}, {"ven ", "seven "}, {"secret", ""}, {" ", ""}, {"plans", "secret plans"},
	} {
		got, match, err := filter.Write(t.Context(), step.piece)
		if got != step.through || match != nil || err != nil {
			t.Errorf("after %q: %q, %v, %v; want %q", step.piece, got, match, err, step.through)
		}
	}
	filter = zones(t, "/[0-9]{4}/").NewFilter()
	_, match, err := filter.Write(t.Context(), "There are a good many things to say here")
	if match != nil || err != nil || filter.Held() > 4+24 {
		t.Errorf("%d bytes are held, %v, %v", filter.Held(), match, err)
	}
}

// TestExamples: sentences are compared when they have ended, and an error lets nothing through.
func TestExamples(t *testing.T) {
	t.Parallel()
	var asked []string
	var broken error
	like := func(_ context.Context, sentences []string) ([][]float64, error) {
		var similarities [][]float64
		for _, sentence := range sentences {
			asked = append(asked, strings.TrimSpace(sentence))
			if strings.Contains(sentence, "stocks") {
				similarities = append(similarities, []float64{0.4, 0.6})
			} else {
				similarities = append(similarities, []float64{0.4, 0.59})
			}
		}
		return similarities, broken
	}
	z, err := nogo.Compile([]nogo.Zone{
		{Name: "other", Phrases: []string{"zebra"}},
		{Name: "advice", Examples: []string{"Sell bonds.", "Buy shares."}, MinSimilarity: 0.6},
	}, like)
	if err != nil {
		t.Fatal(err)
	}
	filter := z.NewFilter()
	through, match := pour(t, filter, []string{"It is la", "te. You should", " buy stocks. ", "Now."})
	want := nogo.Match{Zone: 1, By: nogo.BySimilarity, Matched: "You should buy stocks. ", Similarity: 0.6}
	if through != "It is late. " || match == nil || *match != want {
		t.Errorf("let through %q, match %v", through, match)
	}
	if strings.Join(asked, "|") != "It is late.|You should buy stocks." {
		t.Errorf("asked about %q", asked)
	}
	if found, err := z.Find(t.Context(), "It is late. You should buy stocks."); err != nil || len(found) != 1 || found[0].Similarity != 0.6 {
		t.Errorf("found %v, %v", found, err)
	}
	broken = errors.New("no embedder")
	filter = z.NewFilter()
	if through, _, err := filter.Write(t.Context(), "It is late. You go."); through != "" || !errors.Is(err, broken) {
		t.Errorf("let through %q, %v", through, err)
	}
	broken = nil
	if found, err := z.Find(t.Context(), "A zebra. Buy stocks!"); err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, zone := range []nogo.Zone{
		{Phrases: []string{"!!!"}}, {Phrases: []string{""}}, {Patterns: []string{"("}}, {Patterns: []string{"a*"}}, {Patterns: []string{`(a)\1`}},
	} {
		if _, err := nogo.Compile([]nogo.Zone{zone}, nil); err == nil {
			t.Errorf("%+v is accepted", zone)
		}
	}
}

// FuzzFilter: whatever the text and the pieces, the filter says what Find says of phrases and
// bounded patterns, and lets no match through.
func FuzzFilter(f *testing.F) {
	f.Add("a b o m b, 555-0123", uint64(1))
	f.Add("a$$ @$$, C++ c+ .net n3t", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		text = strings.ToValidUTF8(text, "?")
		z := zones(t, "bomb", "kill him", "爆弾", "C++", ".net", "ass", "/[0-9]{3}-[0-9]{4}/", `/\bass\b/`)
		found, err := z.Find(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		through, match := pour(t, z.NewFilter(), cut(text, rand.New(rand.NewPCG(seed, 0))))
		if (match != nil) != (len(found) > 0) {
			t.Fatalf("the filter says %v, Find says %v", match, found)
		}
		if match == nil && through != text || !strings.HasPrefix(text, through) {
			t.Fatalf("let through %q", through)
		}
		if match != nil && !strings.Contains(text[len(through):], match.Matched) {
			t.Fatalf("let through %q, a part of %q", through, match.Matched)
		}
	})
}

// BenchmarkFilter is an answer of 500 characters through 200 phrases and patterns.
func BenchmarkFilter(b *testing.B) {
	var list []nogo.Zone
	for i := range 200 {
		zone := nogo.Zone{Name: fmt.Sprint(i)}
		if i%2 == 0 {
			zone.Phrases = []string{fmt.Sprintf("%c%s thing", 'a'+i%26, "word")}
		} else {
			zone.Patterns = []string{fmt.Sprintf(`\b(code|key) %d[a-z]{2}[0-9]{4}`, i)}
		}
		list = append(list, zone)
	}
	z, err := nogo.Compile(list, nil)
	if err != nil {
		b.Fatal(err)
	}
	pieces := cut(strings.Repeat("The quick brown fox jumps over the lazy dog, and so on. ", 9), rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		pour(b, z.NewFilter(), pieces)
	}
}

// TestFilterAfter: what began in a text that was let through is found when it goes on, and only
// then.
func TestFilterAfter(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ zone, before, text, through, matched string }{
		{"how to make explosives", "I say how to make ", "explosives yes", "", "how to make explosives"},
		{"how to make explosives", "I say how to make ", "a cake", "a cake", ""},
		{"/[0-9]{3}-[0-9]{4}/", "It is 555", "-0123, see", "", "555-0123"},
		{"bomb", strings.Repeat("word ", 1000) + "bo", "mb", "", "bomb"},
	} {
		f := zones(t, row.zone).NewFilterAfter(row.before)
		through, match, err := f.Write(t.Context(), row.text)
		rest, last, closed := f.Close(t.Context())
		if match == nil {
			match = last
		}
		if err != nil || closed != nil || through+rest != row.through || (match == nil) != (row.matched == "") ||
			match != nil && match.Matched != row.matched {
			t.Errorf("%q and %q: %q comes through, found %+v (%v, %v)", row.before, row.text, through+rest, match, err, closed)
		}
	}
}
