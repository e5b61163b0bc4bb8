package scenario

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"parlance.dev/parlance/test/doctools"
	"parlance.dev/parlance/test/harness"
	"parlance.dev/parlance/test/pdfmake"
)

// TestParserCrash: a program that reads a document dies of a bad access, as one that is taken over
// might; that source fails with a reason, and nothing else does.
func TestParserCrash(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	worker := env.StartProcess(t, "worker")
	slow := pdfmake.New()
	slow.Page().Raw(strings.Repeat("0 0 m 9 9 l S ", 5_000_000)) // some seconds of reading
	crashed := uploadFile(t, env, env.Tenant, "crash.pdf", slow.Bytes())
	pid := 0
	harness.Await(t, harness.Patience, "the document is being read", func() (ok bool) {
		pid, ok = worker.Descendant("pdftohtml")
		return ok && syscall.Kill(pid, syscall.SIGSTOP) == nil // else it might be done before it is killed
	})
	others := []string{
		uploadFile(t, env, env.Tenant, "good.pdf", pagesOf(3, "Open at nine.")),
		uploadFile(t, env, env.Tenant, "good.txt", []byte("Open at ten.")),
	}
	for _, signal := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGCONT} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
	}
	harness.Await(t, 2*harness.Patience, "all have come to an end", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status IN ('queued', 'processing')")[0] == 0
	})
	if got := env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+crashed), nil).Must(t,
		200); got.Text("status") != "failed" || got.Text("error", "code") != "corrupt" || got.Text("error", "message") == "" {
		t.Errorf("the source whose parser crashed: %s", got.Body)
	}
	for _, id := range others {
		if got := env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200); got.Text("status") != "ready" {
			t.Errorf("a source beside it: %s", got.Body)
		}
	}
	if worker.Ended() {
		t.Error("the worker has ended")
	}
}

// TestKillDuringOCR: the worker dies in the middle of a scan. Another one goes on with it, reads no
// page again that had been read, and stores no passage twice.
func TestKillDuringOCR(t *testing.T) {
	t.Parallel()
	doctools.Need(t)
	c := newCrash(t)
	close(c.gate)
	const pages = 10
	first := c.StartProcess(t, "worker")
	id := uploadFile(t, c.Env, c.Tenant, "scan.pdf", scanOf(t, pages, 6, "The quick brown fox jumps over the lazy dog."))
	harness.Await(t, 2*harness.Patience, "some pages are read", func() bool { return c.count("SELECT count(*) FROM source_pages") >= 3 })
	first.Kill()
	read := harness.Rows[int](t, c.Env, "SELECT page FROM source_pages ORDER BY page")
	if len(read) == pages {
		t.Fatal("the scan is too short to show anything")
	}
	// What was read is marked, so that it is seen where it is used. A minute of silence is not waited
	// for.
	c.Exec(t, `UPDATE source_pages SET content =
		'{"blocks":[{"text":"Marked as page number ' || page || ' of those before the end."}],"confidence":90}'`)
	c.Exec(t, "UPDATE sources SET heartbeat_at = heartbeat_at - interval '2 minutes'")
	c.StartProcess(t, "worker")
	harness.Await(t, 4*harness.Patience, "the scan is ready",
		func() bool { return c.count("SELECT count(*) FROM sources WHERE status = 'ready'") == 1 })
	c.awaitSources(1)
	got := c.Do(t, "GET", c.Tenant.In("/knowledge-base/sources/"+id), nil).Must(t, 200)
	if got.At("page_count") != float64(pages) || got.At("ocr_page_count") != float64(pages) || len(got.List("warnings")) != 0 {
		t.Errorf("got %s", got.Body)
	}
	text := strings.Join(strings.Fields(strings.Join(harness.Rows[string](t, c.Env, "SELECT content FROM chunks ORDER BY index"), " ")), " ")
	for _, page := range read {
		if !strings.Contains(text, fmt.Sprintf("Marked as page number %d of", page)) {
			t.Errorf("page %d was read again", page)
		}
	}
	if !strings.Contains(text, "quick brown fox") {
		t.Error("no page was read after the kill")
	}
	t.Logf("killed after %d of %d pages", len(read), pages)
}
