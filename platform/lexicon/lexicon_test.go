package lexicon_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/lexicon"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, code, text string
		want             []string
	}{
		{"stop words and stems", "en", "The museums are opening; the museum's opened.", []string{"museum", "open", "museum", "open"}},
		{"typographic apostrophe", "en", "It’s the visitor’s ticket, isn’t it?", []string{"visitor", "ticket"}},
		{"numbers and names", "en", "Form 27-B costs 3.50 at example.com", []string{"form", "27", "b", "cost", "3.50", "example.com"}},
		{"compatible forms", "en", "ﬁle Ｔｏｋｙｏ", []string{"file", "tokyo"}},
		{"unknown language", "", "The opened gates", []string{"open", "gate"}},
		{"region", "en-GB", "the gates", []string{"gate"}},
		{"German", "de", "Die Häuser und das Haus", []string{"haus", "haus"}},
		{"French elision", "fr", "L’hôtel d'Émile qu'il a ouvert", []string{"hotel", "emil", "ouvert"}},
		{"Italian elision", "it", "dell'arte e le arti", []string{"arte", "arti"}},
		{"Spanish", "es", "las bibliotecas y la biblioteca", []string{"bibliotec", "bibliotec"}},
		{"Russian, and a name in it", "ru", "Музея и музеем для Opened Museums", []string{"музе", "музе", "open", "museum"}},
		{"accents left out", "fr", "café cafe", []string{"caf", "caf"}},
		{"Chinese", "zh", "博物馆开放。", []string{"博物", "物馆", "馆开", "开放"}},
		{"one character", "zh", "水", []string{"水"}},
		{"Japanese between Latin", "ja", "ABC東京タワー12", []string{"abc", "東京", "京タ", "タワ", "ワー", "12"}},
		{"Korean", "ko", "박물관 개장", []string{"박물", "물관", "개장"}},
		{"nothing", "en", " \x00 ?! the of — 🙂", []string{}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(lexicon.Analyse(row.text, row.code), row.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSameWord has an inflected question find an inflected passage in every language with a
// stemmer.
func TestSameWord(t *testing.T) {
	t.Parallel()
	for code, words := range map[string][2]string{
		"en": {"refunds", "refund"}, "de": {"Rechnungen", "Rechnung"}, "fr": {"factures", "facture"}, "es": {"facturas", "factura"},
		"it": {"biglietti", "biglietto"}, "pt": {"bilhetes", "bilhete"}, "nl": {"rekeningen", "rekening"}, "sv": {"räkningar", "räkning"},
		"no": {"regninger", "regning"}, "da": {"regninger", "regning"}, "fi": {"laskuissa", "laskut"}, "hu": {"jegyek", "jegy"},
		"ro": {"facturile", "facturi"}, "tr": {"biletler", "bilet"}, "ru": {"билеты", "билетов"},
	} {
		one, other := lexicon.Analyse(words[0], code), lexicon.Analyse(words[1], code)
		if len(one) != 1 || !cmp.Equal(one, other) {
			t.Errorf("%s: %s gives %v, %s gives %v", code, words[0], one, words[1], other)
		}
	}
}

func TestLongWord(t *testing.T) {
	t.Parallel()
	terms := lexicon.Analyse("x"+strings.Repeat("é", 5000), "en")
	if len(terms) != 1 || len(terms[0]) > 64 || !utf8.ValidString(terms[0]) {
		t.Errorf("got %d terms", len(terms))
	}
	terms = lexicon.Analyse("x"+strings.Repeat("ж", 500), "ru")
	if len(terms) != 1 || len(terms[0]) > 64 || !utf8.ValidString(terms[0]) {
		t.Errorf("got %q", terms)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"en": "Boats leave the harbour every hour in summer, and they are back before it is dark.",
		"de": "Die Boote verlassen den Hafen im Sommer jede Stunde und sind vor der Dunkelheit zurück.",
		"fr": "Les bateaux quittent le port toutes les heures en été et ils sont de retour avant la nuit.",
		"es": "Los barcos salen del puerto cada hora en verano y están de vuelta antes de que anochezca.",
		"it": "Le barche lasciano il porto ogni ora in estate e sono di ritorno prima che sia buio.",
		"pt": "Os barcos saem do porto a cada hora no verão e estão de volta antes que seja noite.",
		"nl": "De boten verlaten de haven in de zomer elk uur en zijn terug voordat het donker wordt.",
		"sv": "Båtarna lämnar hamnen varje timme på sommaren och är tillbaka innan det blir mörkt.",
		"no": "Båtene forlater havnen hver time om sommeren, og de er tilbake før det blir mørkt.",
		"da": "Bådene forlader havnen hver time om sommeren, og de er tilbage før det bliver mørkt, hvis vejret ikke er godt nok.",
		"fi": "Veneet lähtevät satamasta joka tunti kesällä ja ne ovat takaisin ennen kuin on pimeää.",
		"hu": "A hajók nyáron óránként indulnak a kikötőből, és még sötétedés előtt vissza is érnek.",
		"ro": "Bărcile pleacă din port în fiecare oră vara și sunt înapoi înainte de a se întuneca.",
		"tr": "Tekneler yazın her saat limandan ayrılır ve hava kararmadan önce geri döner, bu nedenle çok güvenli.",
		"ru": "Лодки летом выходят из гавани каждый час и возвращаются до того, как стемнеет.",
		"uk": "Човни влітку виходять із гавані щогодини і повертаються до темряви.",
		"zh": "船在夏天每小时离开港口，天黑之前回来。",
		"ja": "船は夏には毎時間港を出て、暗くなる前に戻ります。",
		"ko": "배는 여름에 매시간 항구를 떠나 어두워지기 전에 돌아옵니다.",
		"el": "Τα πλοία φεύγουν από το λιμάνι κάθε ώρα.",
		"":   "Widget 27, EUR 3.50; gadget 12, EUR 4.20",
	} {
		if got := lexicon.Detect(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"Режим работы":                          "ru",
		"Музей открыт с девяти часов.":          "ru",
		"Музеј је отворен.":                     "",
		"Kot śpi na kanapie i łowi myszy.":      "pl",
		"Łódź odpływa o siódmej, wróć później.": "pl",
		"Lech Wałęsa, Gdańsk, 1983":             "",
	} {
		if got := lexicon.Detect(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "  ", "12 34", "ok", strings.Repeat("\xff", 10000)} {
		if got := lexicon.Detect(text); got != "" {
			t.Errorf("%q: got %q, want nothing", text, got)
		}
	}
	long := strings.Repeat("Die Boote verlassen den Hafen im Sommer jede Stunde. ", 5000)
	if got := lexicon.Detect("Preface: the boats are in the harbour. " + long); got != "de" {
		t.Errorf("a long text with a foreign preface: got %q, want de", got)
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("The museum's hours", "en")
	f.Add("東京タワー \xff l'", "ja")
	f.Fuzz(func(t *testing.T, text, code string) {
		for _, term := range lexicon.Analyse(text, code) {
			if term == "" || len(term) > 64 || !utf8.ValidString(term) && utf8.ValidString(text) {
				t.Errorf("term %q of %q", term, text)
			}
		}
		lexicon.Detect(text)
	})
}

func BenchmarkTerms(b *testing.B) {
	text := strings.Repeat("The museum opens at nine in the morning and closes at five in the afternoon on weekdays. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		lexicon.New("en").Terms(text)
	}
}
