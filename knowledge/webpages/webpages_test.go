package webpages_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge"
)

// TestLife: a page is fetched, asked again when it is due and by hand, and a changed one takes the
// place of what it was.
func TestLife(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	site.serve("/hours", html("It opens at ten.", `"v1"`))
	source := f.add(knowledge.URLParams{URL: site.URL + "/hours#top", RefreshEvery: "24h", Tags: []string{"faq"}})
	if source.Status != knowledge.StatusQueued || source.Stage != knowledge.StageFetching || source.Kind != knowledge.KindFile ||
		source.Name != strings.TrimPrefix(site.URL, "http://")+"/hours" {
		t.Fatalf("created: %+v", source)
	}
	if _, _, err := f.knowledge.Open(t.Context(), f.ref, source.ID); fault.From(err).Reason != fault.KBSourceNotReady {
		t.Errorf("its bytes before they are there: %v", err)
	}
	source = f.run(source.ID)
	if source.Status != knowledge.StatusReady || !strings.HasSuffix(f.text(source.ID), "It opens at ten.") ||
		!source.FetchedAt.Equal(f.now.Truncate(time.Microsecond)) ||
		!source.FetchDueAt.Equal(source.FetchedAt.Add(24*time.Hour)) || source.MediaType != "text/html; charset=utf-8" {
		t.Fatalf("ready: %+v, %q", source, f.text(source.ID))
	}
	made := source.ReadyAt

	f.later(23 * time.Hour)
	if source = f.get(source.ID); source.Status != knowledge.StatusReady {
		t.Fatalf("before it is due: %s", source.Status)
	}
	f.later(2 * time.Hour)
	if source = f.get(source.ID); source.Status != knowledge.StatusQueued || source.Stage != knowledge.StageFetching {
		t.Fatalf("due: %s %s", source.Status, source.Stage)
	}
	source = f.run(source.ID)
	if site.last().Header.Get("If-None-Match") != `"v1"` || source.Status != knowledge.StatusReady || !source.ReadyAt.Equal(made) ||
		!source.FetchedAt.Equal(f.now.Truncate(time.Microsecond)) || source.Progress != 100 {
		t.Fatalf("unchanged: %+v", source)
	}

	site.serve("/hours", html("It opens at nine.", `"v2"`))
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(f.text(source.ID), "It opens at ten.") {
		t.Error("the old text is gone before the new one is there")
	}
	source = f.run(source.ID)
	if source.Status != knowledge.StatusReady || !strings.HasSuffix(f.text(source.ID), "It opens at nine.") ||
		source.ETag != `"v2"` || source.Previous.BlobKey == "" {
		t.Fatalf("changed: %+v, %q", source, f.text(source.ID))
	}
	if !slices.Equal(source.Tags, []string{"faq"}) {
		t.Errorf("tags: %v", source.Tags)
	}

	never := ""
	source, err := f.knowledge.Update(t.Context(), f.ref, source.ID, knowledge.UpdateParams{RefreshEvery: &never})
	if err != nil || !source.FetchDueAt.IsZero() {
		t.Errorf("no longer by itself: %+v, %v", source, err)
	}
	f.later(1000 * time.Hour)
	if got := f.get(source.ID); got.Status != knowledge.StatusReady {
		t.Errorf("fetched although it is not to be: %s", got.Status)
	}
}

// TestUnchangedBytes: a server without validators gives the same bytes; nothing is made anew.
func TestUnchangedBytes(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	site.serve("/", html("It opens at ten.", ""))
	source := f.run(f.add(knowledge.URLParams{URL: site.URL}).ID)
	made := source.ReadyAt
	f.now = f.now.Add(time.Hour)
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
		t.Fatal(err)
	}
	if source = f.run(source.ID); source.Status != knowledge.StatusReady || !source.ReadyAt.Equal(made) || source.Previous.BlobKey != "" {
		t.Errorf("got %+v", source)
	}
}

// TestFailures: what cannot be fetched fails the source at once and says why, what may pass is
// tried again, and a source that answers goes on.
func TestFailures(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	other := newSite(t)
	other.serve("/", html("moved", ""))
	site.serve("/gone", status(http.StatusGone))
	site.serve("/zip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		_, _ = w.Write([]byte("PK\x03\x04"))
	})
	site.serve("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for range 100 {
			_, _ = w.Write(bytes.Repeat([]byte("word "), 100))
		}
	})
	site.serve("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	site.serve("/inside", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	site.serve("/file", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	site.serve("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/", http.StatusMovedPermanently)
	})
	for path, says := range map[string]string{
		"/none": "404 Not Found", "/gone": "410 Gone", "/zip": `"application/zip"`, "/large": "uploads of up to 4096 bytes",
		"/loop": "more than 5 times", "/inside": "not public", "/file": "not http or https",
	} {
		source := f.run(f.add(knowledge.URLParams{URL: site.URL + path}).ID)
		if source.Status != knowledge.StatusFailed || source.ErrorCode != knowledge.CodeFetchFailed ||
			!strings.Contains(source.ErrorMessage, says) || source.FetchError != source.ErrorMessage || !source.FetchDueAt.IsZero() {
			t.Errorf("%s: %+v, want failed because %q", path, source, says)
		}
	}
	if source := f.run(f.add(knowledge.URLParams{URL: site.URL + "/moved"}).ID); source.Status != knowledge.StatusReady {
		t.Errorf("redirected: %+v", source)
	}

	site.serve("/busy", status(http.StatusServiceUnavailable, "Retry-After", "120"))
	busy := f.run(f.add(knowledge.URLParams{URL: site.URL + "/busy", RefreshEvery: "1h"}).ID)
	if busy.Status != knowledge.StatusQueued || busy.DueAt.Sub(f.now) < 119*time.Second || busy.ErrorCode != "retrying" {
		t.Fatalf("busy: %+v", busy)
	}
	for busy.Status == knowledge.StatusQueued {
		f.now = busy.DueAt
		busy = f.run(busy.ID)
	}
	if busy.Status != knowledge.StatusFailed || busy.Attempt != 5 || !strings.Contains(busy.FetchError, "503") || busy.FetchDueAt.IsZero() {
		t.Fatalf("given up for now: %+v", busy)
	}
	site.serve("/busy", html("It opens at ten.", `"v1"`))
	f.later(2 * time.Hour)
	if busy = f.run(busy.ID); busy.Status != knowledge.StatusReady || busy.FetchError != "" || busy.ErrorCode != "" {
		t.Fatalf("there again: %+v", busy)
	}
	site.serve("/busy", status(http.StatusNotFound))
	f.later(2 * time.Hour)
	if busy = f.run(busy.ID); busy.Status != knowledge.StatusReady || !strings.Contains(busy.FetchError, "404") || f.text(busy.ID) == "" {
		t.Errorf("gone while it answers: %+v", busy)
	}
}

// TestReprocess: a source without content is fetched; while a fetch waits it is not lost.
func TestReprocess(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	source := f.run(f.add(knowledge.URLParams{URL: site.URL + "/late"}).ID)
	site.serve("/late", html("It opens at ten.", `"v1"`))
	if source.Status != knowledge.StatusFailed {
		t.Fatalf("got %+v", source)
	}
	if _, err := f.knowledge.Reprocess(t.Context(), f.ref, source.ID, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if source = f.run(source.ID); source.Status != knowledge.StatusReady {
		t.Fatalf("reprocessed: %+v", source)
	}
	made := source.ReadyAt
	f.now = f.now.Add(time.Minute)
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.knowledge.Reprocess(t.Context(), f.ref, source.ID, knowledge.ReprocessParams{}); err != nil {
		t.Fatal(err)
	}
	if source = f.run(source.ID); !source.ReadyAt.After(made) {
		t.Error("the reprocessing was lost to the fetch")
	}
	asked := len(site.asked)
	f.later(time.Minute)
	if source = f.run(source.ID); len(site.asked) != asked+1 || source.Status != knowledge.StatusReady {
		t.Error("the fetch was lost to the reprocessing")
	}
}

// TestRefused: URLs that are none or not public, intervals out of bounds, a URL that is there.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	for _, bad := range []knowledge.URLParams{
		{URL: "ftp://example.com/"},
		{URL: "example.com"},
		{URL: "http://"},
		{URL: "http://10.0.0.1/"},
		{URL: "http://[::1]/"},
		{URL: "http://0x0a000001/"},
		{URL: "http://example.com/%zz"},
		{URL: "http://me:secret@example.com/"},
		{URL: "https://example.com/" + strings.Repeat("a", 2100)},
		{URL: "https://example.com/", RefreshEvery: "1m"},
		{URL: "https://example.com/", RefreshEvery: "31d"},
		{URL: "https://example.com/", RefreshEvery: "soon"},
		{URL: "https://example.com/", Tags: []string{"a b"}},
		{URL: "https://example.com/", Name: "a\x00"},
	} {
		if _, err := f.CreateSource(t.Context(), f.ref, bad); !fault.IsReason(err, fault.InvalidRequest) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	first := f.add(knowledge.URLParams{URL: "https://example.com"})
	_, err := f.CreateSource(t.Context(), f.ref, knowledge.URLParams{URL: "https://example.com/#again"})
	if !fault.IsReason(err, fault.KBURLTaken) || !strings.Contains(err.Error(), string(first.ID)) {
		t.Errorf("a second time: %v", err)
	}
	pasted, err := f.knowledge.CreateInline(t.Context(), f.ref, "pasted", "text")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, pasted.ID); !fault.IsReason(err, fault.KBNoURL) {
		t.Errorf("refresh of pasted text: %v", err)
	}
	every := "1h"
	_, err = f.knowledge.Update(t.Context(), f.ref, pasted.ID, knowledge.UpdateParams{RefreshEvery: &every})
	if !fault.IsReason(err, fault.KBNoURL) {
		t.Errorf("refresh_every of pasted text: %v", err)
	}
}

// put replaces the content of a source by a person's.
func (f *fixture) put(id knowledge.SourceID, text string) {
	f.t.Helper()
	if _, err := f.knowledge.Update(f.t.Context(), f.ref, id, knowledge.UpdateParams{Content: &text}); err != nil {
		f.t.Fatal(err)
	}
}

// TestPutMeanwhile: what a person puts into a source while it is fetched, or while its next try
// waits, stays; and a fetch that is asked for afterwards is not answered with "not modified".
func TestPutMeanwhile(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	source := f.add(knowledge.URLParams{URL: site.URL + "/slow"})
	page := html("It opens at ten.", `"v1"`)
	site.serve("/slow", func(w http.ResponseWriter, r *http.Request) {
		f.put(source.ID, "By hand.")
		page(w, r)
	})
	if source = f.run(source.ID); source.Status != knowledge.StatusReady || f.text(source.ID) != "By hand." || !source.FetchDueAt.IsZero() {
		t.Fatalf("while it was fetched: %+v, %q", source, f.text(source.ID))
	}
	f.later(time.Hour)
	if source = f.get(source.ID); source.Status != knowledge.StatusReady {
		t.Errorf("fetched again by itself: %+v", source)
	}

	site.serve("/busy", status(http.StatusServiceUnavailable))
	busy := f.run(f.add(knowledge.URLParams{URL: site.URL + "/busy"}).ID)
	f.put(busy.ID, "By hand.")
	site.serve("/busy", page)
	f.later(time.Hour)
	if busy = f.run(busy.ID); f.text(busy.ID) != "By hand." {
		t.Errorf("while a try waited: %q", f.text(busy.ID))
	}

	site.serve("/tagged", page)
	tagged := f.run(f.add(knowledge.URLParams{URL: site.URL + "/tagged"}).ID)
	f.put(tagged.ID, "By hand.")
	f.run(tagged.ID)
	if _, err := f.knowledge.Refresh(t.Context(), f.ref, tagged.ID); err != nil {
		t.Fatal(err)
	}
	if tagged = f.run(tagged.ID); !strings.HasSuffix(f.text(tagged.ID), "It opens at ten.") {
		t.Errorf("refreshed: %q", f.text(tagged.ID))
	}
}

// TestUnreadableForAWhile: a page that could not be read once and is as it was again is ready.
func TestUnreadableForAWhile(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	site.serve("/", html("It opens at ten.", ""))
	source := f.run(f.add(knowledge.URLParams{URL: site.URL}).ID)
	refresh := func() knowledge.Source {
		t.Helper()
		if _, err := f.knowledge.Refresh(t.Context(), f.ref, source.ID); err != nil {
			t.Fatal(err)
		}
		return f.run(source.ID)
	}
	site.serve("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("ETag", `"empty"`)
		_, _ = w.Write([]byte("<script>1</script>"))
	})
	if broken := refresh(); broken.Status != knowledge.StatusFailed || broken.ErrorCode != "empty" {
		t.Fatalf("unreadable: %+v", broken)
	}
	site.serve("/", status(http.StatusNotModified))
	if broken := refresh(); broken.Status != knowledge.StatusFailed || broken.ErrorCode != "empty" {
		t.Errorf("still unreadable: %+v", broken)
	}
	site.serve("/", html("It opens at ten.", ""))
	if again := refresh(); again.Status != knowledge.StatusReady || again.ErrorCode != "" || again.ErrorMessage != "" {
		t.Errorf("readable again: %+v", again)
	}
}

// TestRefreshEndedMeanwhile: what is changed while a page is fetched counts.
func TestRefreshEndedMeanwhile(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	source := f.add(knowledge.URLParams{URL: site.URL + "/", RefreshEvery: "15m"})
	site.serve("/", func(w http.ResponseWriter, r *http.Request) {
		never := ""
		if _, err := f.knowledge.Update(t.Context(), f.ref, source.ID, knowledge.UpdateParams{RefreshEvery: &never}); err != nil {
			t.Error(err)
		}
		html("It opens at ten.", "")(w, r)
	})
	if source = f.run(source.ID); source.Status != knowledge.StatusReady || !source.FetchDueAt.IsZero() {
		t.Errorf("got %+v", source)
	}
}

// TestSpellings: one URL in several spellings is one source; a host of other letters is ASCII.
func TestSpellings(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.add(knowledge.URLParams{URL: "https://example.com"})
	for _, same := range []string{"https://EXAMPLE.com/", "https://example.com:443/", "https://example.com/?", "https://example.com/#a"} {
		if _, err := f.CreateSource(t.Context(), f.ref, knowledge.URLParams{URL: same}); !fault.IsReason(err, fault.KBURLTaken) {
			t.Errorf("%s: %v", same, err)
		}
	}
	if got := f.add(knowledge.URLParams{URL: "http://Bücher.example:8080/a"}); got.URL != "http://xn--bcher-kva.example:8080/a" {
		t.Errorf("got %s", got.URL)
	}
}

// TestWithoutType reads a page whose server does not say what it is, and says why a page that was
// answered by "not modified" without being asked is none.
func TestWithoutType(t *testing.T) {
	t.Parallel()
	f, site := setUp(t), newSite(t)
	site.serve("/untyped", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = w.Write([]byte("<!doctype html><html><body><p>It opens at ten.</p></body></html>"))
	})
	if source := f.run(f.add(knowledge.URLParams{URL: site.URL + "/untyped"}).ID); f.text(source.ID) != "It opens at ten." {
		t.Errorf("got %+v", source)
	}
	site.serve("/304", status(http.StatusNotModified))
	if source := f.run(f.add(knowledge.URLParams{URL: site.URL + "/304"}).ID); !strings.Contains(source.ErrorMessage, "304 Not Modified") {
		t.Errorf("got %+v", source)
	}
}
