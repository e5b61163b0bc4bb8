package scenario

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/test/harness"
)

// TestStoredFile: the bytes come back as they were, whole or in pieces, and are harmless where they
// are opened.
func TestStoredFile(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	content := `{"text": "` + strings.Repeat("0123456789", 2000) + `"}`
	body, contentType := form(t, part{name: "file", filename: "a.json", content: content},
		part{name: "name", content: `Grüße "2026" 50%.json`})
	source := env.Do(t, "POST", env.Tenant.In(uploadPath), body, harness.Header("Content-Type", contentType)).Must(t, 202)
	path := env.Tenant.In("/knowledge-base/sources/" + source.Text("id") + "/content")
	whole := env.Do(t, "GET", path, nil, harness.Header("Accept-Encoding", "gzip")).Must(t, 200)
	if string(whole.Body) != content {
		t.Errorf("got %d bytes", len(whole.Body))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Content-Length": "20012", "ETag": `"` + source.Text("sha256") + `"`, "Accept-Ranges": "bytes",
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Content-Encoding": "",
		"Content-Disposition": `attachment; filename="Gr__e _2026_ 50_.json"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%222026%22%2050%25.json`,
	} {
		if got := whole.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if head := env.Do(t, "HEAD", path, nil).Must(t, 200); len(head.Body) != 0 ||
		head.Header.Get("Content-Length") != "20012" || head.Header.Get("ETag") != whole.Header.Get("ETag") {
		t.Errorf("HEAD: %v, %d bytes", head.Header, len(head.Body))
	}
	for asked, want := range map[string]struct {
		status int
		body   string
		of     string
	}{
		"bytes=0-8":             {206, content[:9], "bytes 0-8/20012"},
		"bytes=-2":              {206, `"}`, "bytes 20010-20011/20012"},
		"bytes=20010-":          {206, `"}`, "bytes 20010-20011/20012"},
		"bytes=20010-99999":     {206, `"}`, "bytes 20010-20011/20012"},
		"bytes=20012-":          {200, content, ""},
		"bytes=5-2":             {200, content, ""},
		"bytes=0-1,5-6":         {200, content, ""},
		"bytes=a-":              {200, content, ""},
		"lines=0-1":             {200, content, ""},
		"bytes=-0":              {200, content, ""},
		"bytes=0-1" + long(300): {200, content, ""},
	} {
		got := env.Do(t, "GET", path, nil, harness.Header("Range", asked), harness.Header("Accept-Encoding", "gzip"))
		if got.Status != want.status || string(got.Body) != want.body || got.Header.Get("Content-Range") != want.of ||
			got.Header.Get("Content-Encoding") != "" {
			t.Errorf("Range %.30s: got %d, %d bytes, Content-Range %q", asked, got.Status, len(got.Body), got.Header.Get("Content-Range"))
		}
	}
	if same := env.Do(t, "GET", path, nil, harness.Header("If-None-Match",
		whole.Header.Get("ETag"))); same.Status != 304 || len(same.Body) != 0 {
		t.Errorf("If-None-Match: got %d", same.Status)
	}
	if other := env.Do(t, "GET", path, nil, harness.Header("If-Range", `"another"`),
		harness.Header("Range", "bytes=0-1")); other.Status != 200 {
		t.Errorf("If-Range of another: got %d", other.Status)
	}
	checkProblem(t, env.Do(t, "GET", path, nil, harness.Key(env.NewTenant(t, "").Read)), 404, "not-found")
}

// TestEqualFiles: equal bytes are stored once in a workspace, and again in another; they outlive
// the first of their sources.
func TestEqualFiles(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{})
	other := env.NewTenant(t, "")
	var ids []string
	for _, tenant := range []harness.Tenant{env.Tenant, env.Tenant, other} {
		body, contentType := form(t, part{name: "file", filename: "a.md", content: "# Hours\n\nOpen at nine."})
		got := env.Do(t, "POST", tenant.In(uploadPath), body, harness.Key(tenant.Admin), harness.Header("Content-Type", contentType)).Must(t, 202)
		ids = append(ids, got.Text("id"))
	}
	ready := func(n int) {
		t.Helper()
		harness.Await(t, harness.Patience, "the sources are ready", func() bool {
			return harness.Rows[int](t, env, "SELECT count(*) FROM sources WHERE status = 'ready'")[0] == n
		})
	}
	ready(3)
	if files := env.Files(t); len(files) != 2 {
		t.Errorf("stored as %v", files)
	}
	env.Do(t, "DELETE", env.Tenant.In("/knowledge-base/sources/"+ids[0]), nil).Must(t, 204)
	harness.Await(t, harness.Patience, "the worker has looked at the file", func() bool {
		return harness.Rows[int](t, env, "SELECT count(*) FROM stray_blobs")[0] == 0
	})
	if got := env.Do(t, "GET", env.Tenant.In("/knowledge-base/sources/"+ids[1]+"/content"), nil).Must(t,
		200); string(got.Body) != "# Hours\n\nOpen at nine." {
		t.Errorf("got %q", got.Body)
	}
	env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/"+ids[1]+"/reprocess"), `{}`).Must(t, 202)
	ready(2)
	env.Do(t, "DELETE", env.Tenant.In("/knowledge-base/sources/"+ids[1]), nil).Must(t, 204)
	harness.Await(t, harness.Patience, "the file is gone", func() bool { return len(env.Files(t)) == 1 })
	env.Do(t, "GET", other.In("/knowledge-base/sources/"+ids[2]+"/content"), nil, harness.Key(other.Read)).Must(t, 200)
	if left := harness.Rows[int](t, env, "SELECT count(*) FROM chunks WHERE source_id <> $1", ids[2])[0]; left != 0 {
		t.Errorf("%d chunks are left", left)
	}
}

// events reads a stream of Server-Sent Events line by line.
func openEvents(t *testing.T, env *harness.Env, path string, with ...harness.With) (lines chan string, hangUp func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := env.NewRequest(t, "GET", path, nil, append(with, harness.Header("Accept", "text/event-stream"))...)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	lines = make(chan string)
	go func() {
		defer close(lines)
		defer func() { _ = answer.Body.Close() }()
		scanner := bufio.NewScanner(answer.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(cancel)
	return lines, cancel
}

// until reads lines up to one that holds text.
func until(t *testing.T, lines chan string, text string) {
	t.Helper()
	timeout := time.After(harness.Patience)
	for {
		select {
		case line, more := <-lines:
			if !more {
				t.Fatalf("the stream ended before %q", text)
			}
			if strings.Contains(line, text) {
				return
			}
		case <-timeout:
			t.Fatalf("no %q", text)
		}
	}
}

// ends fails unless the stream says nothing more and ends.
func ends(t *testing.T, lines chan string) {
	t.Helper()
	timeout := time.After(harness.Patience)
	for {
		select {
		case line, more := <-lines:
			if !more {
				return
			}
			if line != "" && !strings.HasPrefix(line, ":") {
				t.Errorf("after the end came %q", line)
			}
		case <-timeout:
			t.Fatal("the stream does not end")
		}
	}
}

// TestWatchedSource: who watches a source sees it wait, be worked on and end, over events and over
// streams of messages, and is told when it is deleted.
func TestWatchedSource(t *testing.T) {
	t.Parallel()
	c := newCrash(t)
	inline := func(name string) string {
		return c.Do(t, "POST", c.Tenant.In("/knowledge-base/sources/inline"), map[string]any{
			"name":    name,
			"content": "# " + name + "\n\nOpen at nine.",
		}).Must(t, 202).Text("id")
	}
	path := func(id string) string { return c.Tenant.In("/knowledge-base/sources/" + id) }
	watched, gone := inline("watched"), inline("gone")
	lines, _ := openEvents(t, c.Env, path(watched)+"/events", harness.Header("Last-Event-ID", "whatever"))
	until(t, lines, "event: source.updated")
	until(t, lines, `"status":"queued"`)
	until(t, lines, ": keep-alive") // nobody works yet, and proxies hear of it all the same
	idle, hangUp := openEvents(t, c.Env, path(watched)+"/events")
	until(t, idle, `"status":"queued"`)
	hangUp()

	deleted, _ := openEvents(t, c.Env, path(gone)+"/events")
	until(t, deleted, `"status":"queued"`)
	c.Do(t, "DELETE", path(gone), nil).Must(t, 204)
	until(t, deleted, "event: error")
	until(t, deleted, `"code":"not-found"`)
	ends(t, deleted)

	worker := c.StartProcess(t, "worker")
	until(t, lines, `"status":"processing","stage":"embedding"`) // it waits for the embedder
	again := c.Do(t, "POST", path(watched)+"/reprocess", `{}`).Must(t, 202)
	if again.Text("status") != "processing" {
		t.Errorf("a source at work is reprocessed: %s", again.Body)
	}
	doomed := inline("doomed")
	watching, giveUp := context.WithTimeout(t.Context(), harness.Patience)
	defer giveUp()
	stream, err := c.Clients(t, harness.Protocols()[3], c.Tenant.Read).Knowledge.WatchSource(watching,
		&parlancev1.WatchSourceRequest{WorkspaceId: c.Tenant.WorkspaceID, SourceId: doomed})
	if err != nil {
		t.Fatal(err)
	}
	for stream.Receive() && stream.Msg().GetSource().GetStage() != "embedding" { // a run is in the middle of it
	}
	c.Do(t, "DELETE", path(doomed), nil).Must(t, 204)
	for stream.Receive() { // up to its end
	}
	if connect.CodeOf(stream.Err()) != connect.CodeNotFound {
		t.Errorf("the stream about a deleted source ended with %v", stream.Err())
	}
	close(c.gate)
	until(t, lines, `"status":"ready"`)
	ends(t, lines)
	harness.Await(t, harness.Patience, "nothing of what was deleted is left", func() bool {
		return c.count("SELECT count(*) FROM sources") == 1 && c.count("SELECT count(DISTINCT source_id) FROM chunks") == 1 &&
			c.count("SELECT count(*) FROM stray_blobs") == 0 && len(c.Files(t)) == 1
	})
	whole, _ := openEvents(t, c.Env, path(watched)+"/events") // once it is over, it is said once
	until(t, whole, `"status":"ready"`)
	ends(t, whole)
	worker.Terminate()
}
