package cli

import (
	"strings"
	"testing"

	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/fake/rerank"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// Scores of each order that was joined are shown, and what became of the reranking.
func TestKBQueryScores(t *testing.T) {
	t.Parallel()
	server := rerank.Start(t)
	w := startKBWith(t, "", nil, map[string]string{
		"PARLANCE_RERANK_BASE_URL": server.URL, "PARLANCE_RERANK_API_KEY": rerank.APIKey, "PARLANCE_RERANK_NAME": rerank.Model,
	})
	root := writeTree(t, map[string]string{
		"harbour.md": "Boats moor at the jetty of the harbour. The harbour opens at six.\n",
		"cellar.md":  "Near the harbour, old boats lie in the cellar; the cellar is dry.\n",
		"roses.md":   "Roses are cut in March, long before boats leave the harbour.\n",
	})
	w.kb(t, "", "add", root, "--attach", "default").wants(t, exitDone, "3 ready")
	plain := w.kb(t, "", "query", "harbour boats cellar")
	plain.wants(t, exitDone, " 1  0.")
	if strings.Contains(plain.out, "place") {
		t.Errorf("one order has no places to show:\n%s", plain.out)
	}
	ranked := w.kb(t, "", "query", "harbour boats cellar", "--ranking", "hybrid", "--rerank", "--top-k", "2", "--explain", "roses.md")
	ranked.wants(t, exitDone, "cellar.md", "rerank 2.000", "similarity 0.", "place ", "words ", "fused 0.0", "roses.md: crowded out", "its best: similarity 0.")
	if first, _, _ := strings.Cut(ranked.out, "harbour.md"); !strings.Contains(first, "cellar.md") {
		t.Errorf("the server would have the cellar first:\n%s", ranked.out)
	}
	server.Fail(500)
	w.kb(t, "", "query", "harbour boats cellar", "--rerank").wants(t, exitDone, "reranking server failed")
	without := startKB(t, "", nil)
	without.kb(t, "", "add", root, "--attach", "default").wants(t, exitDone, "3 ready")
	without.kb(t, "", "query", "harbour boats cellar", "--rerank").wants(t, exitDone, "no reranking server (PARLANCE_RERANK_BASE_URL)")
}

// A PDF is read by OCR from the start, other files as ever, and nothing is ingested twice.
func TestKBAddForceOCR(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	w := startKB(t, "", nil)
	scan := pdfmake.New()
	scan.Page().Text(pdfmake.Regular, 20, 60, 80, "The garden opens in March and closes when the first snow falls.").
		Text(pdfmake.Regular, 20, 60, 120, "Visitors may bring their dogs.")
	root := writeTree(t, map[string]string{"scan.pdf": string(scan.Bytes()), "returns.md": returnsText})
	w.kb(t, "", "add", root, "--force-ocr", "--no-wait", "--json").wants(t, exitDone, `"outcome":"accepted"`)
	harness.Await(t, 2*harness.Patience, "both are ready", func() bool {
		return harness.Rows[int](t, w.env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == 2
	})
	if got := harness.Rows[string](t, w.env, "SELECT name || ' ' || ocr_page_count || ' ' || attempt FROM sources ORDER BY name"); strings.Join(got, ", ") != "returns.md 0 1, scan.pdf 1 1" {
		t.Errorf("pages by OCR, and runs: %v", got)
	}
	if n := harness.Rows[int](t, w.env, "SELECT count(*) FROM events WHERE type = 'kb.source_ingested'")[0]; n != 2 {
		t.Errorf("%d ingestions of two files", n)
	}
}
