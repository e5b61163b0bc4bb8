package kb_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/fake/rerank"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// The scores of each merged ranking are shown, and the result of the reranking.
func TestKBQueryScores(t *testing.T) {
	t.Parallel()
	server := rerank.Start(t)
	w := start(t, clitest.Options{Settings: map[string]string{
		"PARLANCE_RERANK_BASE_URL": server.URL, "PARLANCE_RERANK_API_KEY": rerank.APIKey, "PARLANCE_RERANK_NAME": rerank.Model,
	}})
	root := clitest.WriteTree(t, map[string]string{
		"harbour.md": "Boats moor at the jetty of the harbour. The harbour opens at six.\n",
		"cellar.md":  "Near the harbour, old boats lie in the cellar; the cellar is dry.\n",
		"roses.md":   "Roses are cut in March, long before boats leave the harbour.\n",
	})
	w.kb(t, "", "add", root, "--attach", "default").Wants(t, command.ExitDone, "3 ready")
	w.kb(t, "", "query", "harbour boats cellar").Wants(t, command.ExitDone, " 1  0.", "words ",
		"hybrid ranking, embedding model parlance-static-words-612")
	plain := w.kb(t, "", "query", "harbour boats cellar", "--ranking", "similarity")
	plain.Wants(t, command.ExitDone, " 1  0.", "similarity ranking, embedding model parlance-static-words-612")
	if strings.Contains(plain.Out, "place") {
		t.Errorf("one order has no places to show:\n%s", plain.Out)
	}
	ranked := w.kb(t, "", "query", "harbour boats cellar", "--rerank", "--top-k", "2", "--explain", "roses.md")
	ranked.Wants(t, command.ExitDone, "cellar.md", "rerank 2.000", "similarity 0.", "place ", "words ", "fused 1.",
		"roses.md: crowded out", "its best: similarity 0.")
	if first, _, _ := strings.Cut(ranked.Out, "harbour.md"); !strings.Contains(first, "cellar.md") {
		t.Errorf("the server would have the cellar first:\n%s", ranked.Out)
	}
	server.Fail(500)
	w.kb(t, "", "query", "harbour boats cellar", "--rerank").Wants(t, command.ExitDone, "reranking server failed")
	without := start(t, clitest.Options{})
	without.kb(t, "", "add", root, "--attach", "default").Wants(t, command.ExitDone, "3 ready")
	without.kb(t, "", "query", "harbour boats cellar", "--rerank").Wants(t, command.ExitDone, "no reranking server (PARLANCE_RERANK_BASE_URL)")
}

// Only PDFs are read by OCR, and nothing is ingested twice.
func TestKBAddForceOCR(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	w := start(t, clitest.Options{})
	scan := pdfmake.New()
	scan.Page().Text(pdfmake.Regular, 20, 60, 80, "The garden opens in March and closes when the first snow falls.").
		Text(pdfmake.Regular, 20, 60, 120, "Visitors may bring their dogs.")
	root := clitest.WriteTree(t, map[string]string{"scan.pdf": string(scan.Bytes()), "returns.md": returnsText})
	w.kb(t, "", "add", root, "--force-ocr", "--no-wait", "--json").Wants(t, command.ExitDone, `"outcome":"accepted"`)
	harness.Await(t, 2*harness.Patience, "both are ready", func() bool {
		return harness.Rows[int](t, w.Env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == 2
	})
	if got := harness.Rows[string](t, w.Env,
		"SELECT name || ' ' || ocr_page_count || ' ' || attempt FROM sources ORDER BY name"); strings.Join(got,
		", ") != "returns.md 0 1, scan.pdf 1 1" {
		t.Errorf("pages by OCR, and runs: %v", got)
	}
	if n := harness.Rows[int](t, w.Env, "SELECT count(*) FROM events WHERE type = 'kb.source_ingested'")[0]; n != 2 {
		t.Errorf("%d ingestions of two files", n)
	}
}
