package kb_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// startShop serves two pages and their sitemap; what the first says can be changed.
func startShop(t *testing.T) (address string, days *atomic.Int64) {
	t.Helper()
	days = &atomic.Int64{}
	days.Store(30)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/returns", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<html><body><h1>Returns</h1><p>Books can be returned within %d days.</p></body></html>", days.Load())
	})
	mux.HandleFunc("/hours", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<html><body><h1>Hours</h1><p>The shop opens at nine.</p></body></html>")
	})
	mux.HandleFunc("/sitemap.xml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<urlset><url><loc>%s/returns</loc></url><url><loc>%[1]s/hours</loc></url></urlset>`, server.URL)
	})
	return server.URL, days
}

// The server fetches pages, again when it is asked, and all of a sitemap.
func TestKBWeb(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	shop, days := startShop(t)
	w.kb(t, "", "web", shop+"/returns", "--name", "Returns", "--every", "24h", "--tag", "faq").
		Wants(t, command.ExitDone, "✓ Returns", "1 chunk")
	w.kb(t, "", "show", "Returns").Wants(t, command.ExitDone, shop+"/returns", "every 24h", "faq")
	w.kb(t, "", "attach", "Returns").Wants(t, command.ExitDone, "attached")
	ask := func(want string, flags ...string) {
		t.Helper()
		w.kb(t, "", "query", append([]string{"Within how many days can books be returned?"}, flags...)...).Wants(t, command.ExitDone, want)
	}
	ask("within 30 days")
	days.Store(90)
	w.kb(t, "", "refresh", shop+"/returns").Wants(t, command.ExitDone, "✓ Returns")
	w.kb(t, "", "reprocess", "Returns").Wants(t, command.ExitDone) // waits until the new content is ready
	ask("within 90 days", "--tag", "faq")

	w.kb(t, "", "web", shop+"/returns").Wants(t, command.ExitFailed, "has a source of this URL")
	w.kb(t, "", "web", shop+"/sitemap.xml", "--sitemap").Wants(t, command.ExitDone, "1 page of 2", "1 were there already", "/hours")
	w.kb(t, "", "web", shop+"/none", "--name", "None").Wants(t, command.ExitFailed, "✗ None", "404 Not Found")
	w.kb(t, "", "show", "None").Wants(t, command.ExitDone, "404 Not Found", "parlance kb refresh")
	w.kb(t, "", "web", shop+"/a", shop+"/b", "--name", "x").Wants(t, command.ExitUsage, "single page")
	w.kb(t, "", "web", shop+"/a", "--every", "1m").Wants(t, command.ExitFailed, "15m")
	w.kb(t, "Text.", "add", "-", "--name", "Pasted.md").Wants(t, command.ExitDone)
	w.kb(t, "", "refresh", "Pasted.md").Wants(t, command.ExitFailed, "uploaded or pasted")
}

// Tags choose sources, and a passage can be switched off.
func TestKBTags(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	w.kb(t, returnsText, "add", "-", "--name", "Returns.md", "--attach", "default", "--tag", "draft,faq").Wants(t, command.ExitDone, "1 ready")
	ask := func(want string, flags ...string) {
		t.Helper()
		w.kb(t, "", "query", append([]string{"Within how many days can books be returned?"}, flags...)...).Wants(t, command.ExitDone, want)
	}
	ask("within 30 days", "--tag", "faq", "--any-tag", "draft,other")
	ask("Nothing", "--no-tag", "draft")
	ask("filtered out", "--no-tag", "draft", "--explain", "Returns.md")
	w.kb(t, "", "tag", "Returns.md", "--remove", "draft", "--add", "lang:en").Wants(t, command.ExitDone, "faq, lang:en")
	ask("within 30 days", "--no-tag", "draft")
	w.kb(t, "", "ls", "--tag", "lang:en").Wants(t, command.ExitDone, "Returns.md")
	w.kb(t, "", "tag", "Returns.md", "--add", "a b").Wants(t, command.ExitFailed, "is not a tag")
	w.kb(t, "", "tag", "Returns.md").Wants(t, command.ExitUsage, "--add or --remove")

	w.kb(t, "", "passage", "Returns.md", "0", "--off").Wants(t, command.ExitDone, "is off")
	w.kb(t, "", "show", "Returns.md").Wants(t, command.ExitDone, "#0", "off")
	ask("Nothing")
	w.kb(t, "", "passage", "Returns.md", "#0", "--on").Wants(t, command.ExitDone, "is on")
	ask("within 30 days")
	w.kb(t, "", "passage", "Returns.md", "99", "--off").Wants(t, command.ExitUsage, "no passage #99")
	w.kb(t, "", "passage", "Returns.md", "0").Wants(t, command.ExitUsage, "--off or --on")
}
