package kb_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// startSite serves pages as the web does.
func startSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	page := func(path, contentType, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.UserAgent(), "parlance-kb/") {
				http.Error(w, "who are you?", http.StatusForbidden)
				return
			}
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte(body)) // the test would see it
		})
	}
	page("/returns", "text/html; charset=iso-8859-1",
		"<html><head><title>B\xfccher\n  zur\xfcck</title></head><body><h1>R\xfcckgabe</h1><p>Dreissig Tage.</p></body></html>")
	page("/plain", "text/plain", "The garage closes at midnight.")
	page("/notes.md", "application/octet-stream", returnsText)
	page("/film", "video/mp4", "film")
	mux.Handle("/moved", http.RedirectHandler("/returns", http.StatusMovedPermanently))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestKBAddPages(t *testing.T) {
	t.Parallel()
	w, site := start(t, clitest.Options{}), startSite(t)
	secret := strings.Replace(site, "http://", "http://ada:hunter2@", 1)
	got := w.kb(t, "", "add", secret+"/moved#top", site+"/plain", site+"/notes.md", "--attach", "default")
	got.Wants(t, command.ExitDone, "3 ready", fmt.Sprintf("Bücher zurück (%s/moved)", site), site+"/plain", site+"/notes.md")
	if strings.Contains(got.Out+got.Err, "hunter2") {
		t.Errorf("the password of the address is shown:\n%s", got.Out)
	}
	w.kb(t, "", "query", "Rückgabe Tage").Wants(t, command.ExitDone, "Bücher zurück", "Dreissig Tage.")
	w.kb(t, "", "add", secret+"/moved").Wants(t, command.ExitDone, "1 there already")

	got = w.kb(t, "", "add", site+"/film", site+"/gone", site+"/loop", "http://127.0.0.1:1/x", "--name", "")
	got.Wants(t, command.ExitFailed, "4 failed", `"video/mp4", which is not accepted`, "answers 404 Not Found",
		"redirected more than 5 times", "connection refused")
	w.kb(t, "", "add", site+"/returns", "--name", "Rückgabe").Wants(t, command.ExitDone, "✓ Rückgabe")
}
