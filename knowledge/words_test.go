package knowledge_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge"
	"parlance.dev/parlance/platform/lexicon"
	"parlance.dev/parlance/provider/embedding"
	"parlance.dev/parlance/provider/embedding/hashing"
	"parlance.dev/parlance/workspaces"
)

// plainBM25 is the formula written down once more, over whole texts, to check the index against.
func plainBM25(texts []string, question string) []float64 {
	documents := make([][]string, len(texts))
	total := 0
	for i, text := range texts {
		documents[i] = lexicon.Analyse(text, "en")
		total += len(documents[i])
	}
	scores := make([]float64, len(texts))
	for _, word := range lexicon.Analyse(question, "en") {
		df := 0
		for _, d := range documents {
			if slices.Contains(d, word) {
				df++
			}
		}
		for i, d := range documents {
			tf := 0.0
			for _, other := range d {
				if other == word {
					tf++
				}
			}
			norm := 1 - 0.75 + 0.75*float64(len(d))*float64(len(texts))/float64(total)
			scores[i] += math.Log(1+(float64(len(texts)-df)+0.5)/(float64(df)+0.5)) * tf * 2.2 / (tf + 1.2*norm)
		}
	}
	return scores
}

// cosinesOf are the similarities of the built-in embedder.
func cosinesOf(t *testing.T, texts []string, question string) []float64 {
	t.Helper()
	vectors, err := hashing.New().Embed(t.Context(), append([]string{question}, texts...), embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	cosines := make([]float64, len(texts))
	for i := range texts {
		for j, x := range vectors[i+1] {
			cosines[i] += float64(x) * float64(vectors[0][j])
		}
	}
	return cosines
}

var catalogue = []string{
	"The river boat leaves the harbour at nine, and the boat comes back at noon.",
	"Boats may be hired by the hour. The harbour master keeps the keys of the boats, the boat sheds and the harbour gate.",
	"The museum shows a model of the harbour as it was.",
	"The cellar sells red and white wine by the bottle.",
	"Refunds are paid within fourteen days to the card that was charged.",
	"Dogs are welcome in the garden but not in the museum or the cellar.",
}

// TestBM25 compares scores and places with the plain formula, over one source of several chunks'
// worth of texts each on their own.
func TestBM25(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	ids := map[knowledge.SourceID]int{}
	titled := make([]string, len(catalogue)) // names are searched too
	for i, text := range catalogue {
		titled[i] = fmt.Sprint("source ", i, "\n", text)
		id := f.ready(f.ref, fmt.Sprint("source ", i), text)
		ids[id] = i
		f.attach(f.ref, agent, knowledge.UsageAuto, id)
	}
	// Another agent's source must not change how rare a word is.
	other := f.ready(f.ref, "other", strings.Repeat("The harbour boat museum cellar. ", 50))
	f.attach(f.ref, f.agent(f.ref), knowledge.UsageAuto, other)
	for _, question := range []string{"When does the harbour boat leave?", "boat boat museum", "the wine cellar", "who is it"} {
		want, cosines := plainBM25(titled, question), cosinesOf(t, catalogue, question)
		found := f.ask(agent, knowledge.QueryParams{Question: question, Ranking: knowledge.RankHybrid, TopK: 50})
		if len(found) != len(catalogue) {
			t.Fatalf("%s: found %d", question, len(found))
		}
		var places []int
		for _, one := range found {
			i := ids[one.SourceID]
			if math.Abs(one.Scores.WordScore-want[i]) > 1e-9 {
				t.Errorf("%s: source %d scores %v, want %v", question, i, one.Scores.WordScore, want[i])
			}
			if (one.Scores.WordPlace > 0) != (want[i] > 0) {
				t.Errorf("%s: source %d has the place %d with the score %v", question, i, one.Scores.WordPlace, want[i])
			}
			if one.Scores.WordPlace > 0 {
				places = append(places, one.Scores.WordPlace)
			}
			fused := 0.0
			if most := slices.Max(want); most > 0 { // else stop words only: there was nothing to fuse
				fused = want[i]/most + 0.3*(cosines[i]-slices.Min(cosines))/(slices.Max(cosines)-slices.Min(cosines))
			}
			if math.Abs(one.Scores.Fused-fused) > 1e-6 {
				t.Errorf("%s: source %d is fused to %v, want %v", question, i, one.Scores.Fused, fused)
			}
		}
		if !slices.IsSortedFunc(found, func(a, b knowledge.Found) int { return cmp.Compare(b.Scores.Fused, a.Scores.Fused) }) {
			t.Errorf("%s: not in the order of the fused score", question)
		}
		slices.Sort(places)
		for i, place := range places {
			if place != i+1 {
				t.Errorf("%s: places by words are %v", question, places)
			}
		}
	}
}

// TestLongSource spreads many words over many pages and chunks, and finds the one chunk of each.
func TestLongSource(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	var text strings.Builder
	for section := range 60 {
		fmt.Fprintf(&text, "## Part %d\n\n", section)
		for line := range 30 {
			fmt.Fprintf(&text, "Word%03dx%02d stands beside the common river. ", section, line)
		}
		text.WriteString("\n\n")
	}
	id := f.ready(f.ref, "long", text.String())
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	if pages := f.count("SELECT page_count FROM source_words"); pages < 10 {
		t.Fatalf("%d pages: the test wants many", pages)
	}
	for _, word := range []string{"word000x00", "word017x29", "word059x11"} {
		found := f.ask(agent, knowledge.QueryParams{Question: word + " river", Ranking: knowledge.RankHybrid, TopK: 5})
		best := slices.IndexFunc(found, func(f knowledge.Found) bool { return f.Scores.WordPlace == 1 })
		if best < 0 || !strings.Contains(strings.ToLower(found[best].Content), word) {
			t.Errorf("%s: first by words is not its chunk", word)
		}
	}
}

// TestLanguages asks sources of two languages in each: inflections meet by the source's language.
func TestLanguages(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	german := f.ready(f.ref, "german",
		"Die Rechnungen werden am Ende des Monats per Post an die Kunden geschickt und sind sofort fällig.\n")
	english := f.ready(f.ref, "english", "The invoices are sent to the customers by mail at the end of the month and are due at once.\n")
	f.attach(f.ref, agent, knowledge.UsageAuto, german, english)
	for id, want := range map[knowledge.SourceID]string{german: "de", english: "en"} {
		if got := f.get(f.ref, id).Language; got != want {
			t.Errorf("language: got %q, want %q", got, want)
		}
	}
	for question, want := range map[string]knowledge.SourceID{"Wann kommt die Rechnung?": german, "What is an invoice?": english} {
		found := f.ask(agent, knowledge.QueryParams{Question: question, Ranking: knowledge.RankHybrid})
		if len(found) == 0 || found[0].SourceID != want || found[0].Scores.WordPlace != 1 || found[0].Scores.WordScore == 0 {
			t.Errorf("%s: got %+v", question, found)
		}
	}
}

// TestWordsFollowTheirSource through a new set of chunks, an upgrade, and deletion.
func TestWordsFollowTheirSource(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	id := f.ready(f.ref, "museum", hours)
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	score := func() float64 {
		t.Helper()
		found := f.ask(agent, knowledge.QueryParams{Question: "museum", Ranking: knowledge.RankHybrid})
		if len(found) != 1 {
			t.Fatalf("got %v", found)
		}
		return found[0].Scores.WordScore
	}
	first := score()
	if _, err := f.Reprocess(t.Context(), f.ref, id, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Ingest(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := score(); got != first || first == 0 || f.count("SELECT count(*) FROM source_words") != 1 {
		t.Errorf("after a second run: score %v, want %v; one set of words", got, first)
	}
	for name, damage := range map[string]string{
		"ingested by the version before": "DELETE FROM source_words",
		"an older analyser":              "UPDATE source_words SET version = 0",
	} {
		if _, err := f.db.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		if got := score(); got != 0 {
			t.Errorf("%s: score %v, want 0 until it is indexed", name, got)
		}
		for range 2 {
			if err := f.Maintain(t.Context(), f.clock.now()); err != nil {
				t.Fatal(err)
			}
		}
		if got := score(); got != first {
			t.Errorf("%s: score %v after Tend, want %v", name, got, first)
		}
	}
	if err := f.Delete(t.Context(), f.ref, id); err != nil {
		t.Fatal(err)
	}
	if n := f.count("SELECT (SELECT count(*) FROM source_words) + (SELECT count(*) FROM source_postings)"); n != 0 {
		t.Errorf("%d rows are left of a deleted source", n)
	}
}

// TestRareElsewhere: what neighbours have does not change a score, theirs being the same words.
func TestRareElsewhere(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	for i, text := range catalogue {
		f.attach(f.ref, agent, knowledge.UsageAuto, f.ready(f.ref, fmt.Sprint(i), text))
	}
	question := knowledge.QueryParams{Question: "harbour boat", Ranking: knowledge.RankHybrid, TopK: 50}
	before := f.ask(agent, question)
	stranger, err := f.workspaces.CreateTenant(t.Context(), "stranger", "large")
	if err != nil {
		t.Fatal(err)
	}
	foreign := workspaces.Ref{TenantID: stranger.Tenant.ID, ID: stranger.Workspace.ID}
	theirs := f.agent(foreign)
	for i := range 5 {
		f.attach(foreign, theirs, knowledge.UsageAuto, f.ready(foreign, fmt.Sprint(i), catalogue[0]))
	}
	if diff := gocmp.Diff(f.ask(agent, question), before, gocmp.Comparer(func(a,
		b knowledge.Found,
	) bool {
		return a.ID == b.ID && a.Scores == b.Scores
	})); diff != "" {
		t.Error(diff)
	}
}

// TestStopWordsOfTheQuestion: the stop words of an English question are rare in a Spanish text, and
// still say nothing.
func TestStopWordsOfTheQuestion(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	const spanish = "El manual de la casa dice: what is the how do you, y nada más para los vecinos de la calle."
	for i, text := range append([]string{spanish}, catalogue...) {
		f.attach(f.ref, agent, knowledge.UsageAuto, f.ready(f.ref, fmt.Sprint("source ", i), text))
	}
	const question = "What is the colour of the wine, and how do you sell it?"
	found := f.ask(agent, knowledge.QueryParams{Question: question, Ranking: knowledge.RankHybrid})
	if !strings.Contains(found[0].Content, "white wine") {
		t.Errorf("the best is %q", found[0].Content)
	}
	for _, one := range found {
		if strings.Contains(one.Content, "manual") && one.Scores.WordScore != 0 {
			t.Errorf("stop words give %v", one.Scores.WordScore)
		}
	}
}

// TestWordsUnderTheFloor: a passage that holds what was asked for stays in a turn though most of it
// is about something else; one that holds a word of it by chance does not.
func TestWordsUnderTheFloor(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	var long strings.Builder
	for i := range 150 {
		fmt.Fprintf(&long, "Item%d lies in box%d near door%d. ", i, i*7, i*13)
	}
	id := f.ready(f.ref, "stock", "The Verbena licence is MPL. "+long.String())
	f.attach(f.ref, agent, knowledge.UsageAuto, id)
	for question, want := range map[string]bool{"Verbena licence?": true, "Which licence has the moon of Saturn?": false} {
		passages, trace, err := f.Search(f.ref, agent, nil).Retrieve(t.Context(), question,
			knowledge.RetrieveParams{TopK: 3, Ranking: knowledge.RankHybrid})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(passages, func(p knowledge.Passage) bool { return strings.Contains(p.Content, "Verbena") })
		if found != want || len(trace.Considered) == 0 || trace.Considered[0].Similarity >= trace.Floor {
			t.Errorf("%s: found is %v; considered %+v", question, found, trace.Considered)
		}
	}
}

// TestNamesAndCodes finds sources by their names, and codes however they are written.
func TestNamesAndCodes(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	names := map[knowledge.SourceID]string{}
	for name, text := range map[string]string{
		"Verbena_house.rules.md": "Please be quiet after ten in the evening.",
		"Lavender.md":            "Please be quiet after nine in the evening.",
		"filters.txt":            "The XJ-2000/B takes the filter FS-20.",
		"radio.txt":              "The MK600 has no filter. In 2000 it was new.",
	} {
		id := f.ready(f.ref, name, text)
		names[id] = name
		f.attach(f.ref, agent, knowledge.UsageAuto, id)
	}
	for question, want := range map[string]string{
		"Verbena": "Verbena_house.rules.md", "lavender, evening?": "Lavender.md", "house rules": "Verbena_house.rules.md",
		"XJ2000": "filters.txt", "xj2000b": "filters.txt", "XJ-2000": "filters.txt", "MK-600": "radio.txt",
		"XJ\u20102000/B": "filters.txt", "X\u200fJ\u00ad2000": "filters.txt", "\u202eLav\u200bender": "Lavender.md",
	} {
		found := f.ask(agent, knowledge.QueryParams{Question: question, Ranking: knowledge.RankHybrid, TopK: 4})
		if len(found) == 0 || names[found[0].SourceID] != want || found[0].Scores.WordPlace != 1 {
			t.Errorf("%q: found %+v, want %s", question, found, want)
		}
	}
}
