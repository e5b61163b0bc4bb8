package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/test/harness"
)

// kbPlans has one plan with little room, and the one that the harness uses.
const kbPlans = `{
	"small": {"kb_storage_bytes": 40000, "kb_upload_bytes": 30000, "concurrent_sessions": 0, "tools": true, "mcp": true},
	"enterprise": {"kb_storage_bytes": 1000000000, "kb_upload_bytes": 100000000, "concurrent_sessions": 0, "tools": true, "mcp": true}}`

// kbWorld is a running service with an agent, and what commands find it by.
type kbWorld struct {
	env *harness.Env
	// dir is the data directory that names it.
	dir, agent string
}

// startKB starts a service; in is put between it and the commands unless it is nil.
func startKB(t *testing.T, plan string, in func(service http.Handler) http.Handler) kbWorld {
	t.Helper()
	return startKBWith(t, plan, in, map[string]string{})
}

func startKBWith(t *testing.T, plan string, in func(service http.Handler) http.Handler, settings map[string]string) kbWorld {
	t.Helper()
	settings["PARLANCE_PLANS_FILE"] = filepath.Join(t.TempDir(), "plans.json")
	writeFile(t, settings["PARLANCE_PLANS_FILE"], kbPlans)
	w := kbWorld{env: harness.Start(t, harness.Options{Plan: plan, Settings: settings}), dir: t.TempDir()}
	made := w.env.Do(t, http.MethodPost, w.env.Tenant.In("/agents"), `{"name": "Ada"}`, harness.Key(w.env.Tenant.Admin))
	if made.Status != http.StatusCreated {
		t.Fatalf("make an agent: %s", made.Body)
	}
	w.agent = made.Text("id")
	base := w.env.URL
	if in != nil {
		target, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		proxy := httputil.NewSingleHostReverseProxy(target)
		proxy.FlushInterval = -1
		srv := httptest.NewServer(in(proxy))
		t.Cleanup(srv.Close)
		base = srv.URL
	}
	writeFile(t, filepath.Join(w.dir, devEnvName), envBaseURL+"="+base+"/v1\n"+envAPIKey+"="+w.env.Tenant.Operator+"\n"+
		envWorkspace+"="+w.env.Tenant.WorkspaceID+"\n"+envAgent+"="+w.agent+"\n")
	return w
}

// kb runs `parlance kb`.
func (w kbWorld) kb(t *testing.T, input string, args ...string) ran {
	t.Helper()
	return execute(t, input, append([]string{"kb", args[0], "--data-dir", w.dir}, args[1:]...)...)
}

// names are the names of the workspace's sources.
func (w kbWorld) names(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, line := range jsonLines(t, w.kb(t, "", "ls", "--json").out) {
		names = append(names, line["name"].(string))
	}
	return names
}

// changed is when a source was last changed.
func (w kbWorld) changed(t *testing.T, name string) any {
	t.Helper()
	return jsonLines(t, w.kb(t, "", "show", name, "--json").out)[0]["updated_at"]
}

func jsonLines(t *testing.T, out string) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); {
		var line map[string]any
		if err := decoder.Decode(&line); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		lines = append(lines, line)
	}
	return lines
}

// writeTree writes files below a new folder.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		writeFile(t, filepath.Join(root, filepath.FromSlash(name)), content)
	}
	return root
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const returnsText = "# Returns\n\nBooks can be returned within 30 days, at the desk on the second floor.\n"

// The whole way: a folder goes in, once, and is asked.
func TestKBAddFolder(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	folder := writeTree(t, map[string]string{
		"returns.md":                 returnsText,
		"sub dir/Öffnungszeiten.txt": "The garage closes at midnight.",
		"shop/house.html":            "<title>x</title><h1>Dogs</h1><p>Dogs are welcome on a lead.</p>",
		".hidden.md":                 "secret", ".git/config.md": "secret", "node_modules/a/readme.md": "not ours", "~$report.docx": "lock", "main.go": "package x",
	})
	got := w.kb(t, "", "add", folder, "--attach", "default")
	got.wants(t, exitDone, "✓ returns.md", "✓ sub dir/Öffnungszeiten.txt", "✓ shop/house.html", "3 ready", "5 files and folders skipped",
		"2 hidden", "1 made by a tool", "1 left by an editor", "type not accepted: .go", "kb query --agent "+w.agent)
	if strings.Contains(got.out, "\x1b") {
		t.Errorf("escape sequences where there is no terminal:\n%q", got.out)
	}
	if names := w.names(t); len(names) != 3 {
		t.Errorf("sources %q, want three", names)
	}
	w.kb(t, "", "query", "Within how many days can books be returned?").wants(t, exitDone, " 1  0.", "returns.md: Returns", "within 30 days")
	w.kb(t, "", "add", folder).wants(t, exitDone, "= returns.md", "3 there already", "0 B sent")
	w.kb(t, "", "add", filepath.Join(folder, "returns.md"), "--again").wants(t, exitDone, "1 ready")
	if names := w.names(t); len(names) != 4 {
		t.Errorf("sources %q, want the same file again only with --again", names)
	}
}

func TestKBAddSaysWhatFailed(t *testing.T) {
	t.Parallel()
	w := startKB(t, "small", nil)
	folder := writeTree(t, map[string]string{
		"good.md": returnsText, "picture.md": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "empty.txt": "", "large.txt": strings.Repeat("many words ", 3000),
	})
	got := w.kb(t, "", "add", folder)
	got.wants(t, exitFailed, "✓ good.md", "✗ picture.md", "failed kb-unsupported-media-type", "its content is image/png", "failed empty",
		"failed quota-exceeded-kb-upload-size", "→ split the file, or change the plan", "1 ready, 3 failed", "3 of 4 failed")
	// What failed is tried again in its place: no second row of it.
	before := w.changed(t, "empty.txt")
	w.kb(t, "", "add", folder).wants(t, exitFailed, "1 there already, 3 failed")
	if before == w.changed(t, "empty.txt") {
		t.Error("empty.txt was not tried again")
	}
	if names := w.names(t); len(names) != 2 {
		t.Errorf("sources %q, want good.md and empty.txt", names)
	}
	w.kb(t, "", "show", "empty.txt").wants(t, exitDone, "failed empty", "The document holds no text.")

	full := writeTree(t, map[string]string{"a.txt": strings.Repeat("a word ", 4000), "b.txt": strings.Repeat("b word ", 4000)})
	w.kb(t, "", "add", full, "--parallel", "1").wants(t, exitFailed, "✓ a.txt", "failed quota-exceeded-kb-storage", "parlance kb rm")
	w.kb(t, "", "status").wants(t, exitDone, "of 40.0 kB", "the plan small", "1 failed")
}

func TestKBAddJSON(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	folder := writeTree(t, map[string]string{"good.md": returnsText, "broken.json": "{"})
	got := w.kb(t, "", "add", folder, "--json")
	got.wants(t, exitFailed)
	outcomes := map[string]any{}
	for _, line := range jsonLines(t, got.out) {
		outcomes[line["name"].(string)] = line["outcome"]
		failure, _ := line["error"].(map[string]any)
		if line["outcome"] == "failed" && failure["code"] != "corrupt" {
			t.Errorf("error %v, want the code corrupt", line["error"])
		}
	}
	if outcomes["good.md"] != "ready" || outcomes["broken.json"] != "failed" || len(outcomes) != 2 {
		t.Errorf("outcomes %v", outcomes)
	}
}

func TestKBAddStdin(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	w.kb(t, returnsText, "add", "-", "--name", "Piped.md").wants(t, exitDone, "✓ Piped.md")
	w.kb(t, returnsText, "add", "-", "--name", "Piped", "--type", "md", "--no-wait").wants(t, exitDone, "→ Piped", "1 being ingested")
	w.kb(t, "", "download", "Piped.md", "-o", "-").wants(t, exitDone, returnsText)
}

// Lost answers and servers that ask for patience do not make a second source.
func TestKBAddTriesAgain(t *testing.T) {
	t.Parallel()
	trial := 0
	w := startKB(t, "", func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/sources/upload") {
				service.ServeHTTP(rw, r)
				return
			}
			switch trial++; trial { // one upload: not side by side
			case 1:
				rw.Header().Set("Retry-After", "1")
				rw.Header().Set("Content-Type", "application/problem+json")
				rw.WriteHeader(http.StatusTooManyRequests)
				_, _ = rw.Write([]byte(`{"code": "rate-limited", "detail": "Slow down."}`)) // the test would see it
			case 2:
				rw.WriteHeader(http.StatusServiceUnavailable)
			case 3: // accepted, and the answer is lost
				service.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			default:
				service.ServeHTTP(rw, r)
			}
		})
	})
	file := filepath.Join(writeTree(t, map[string]string{"returns.md": returnsText}), "returns.md")
	w.kb(t, "", "add", file).wants(t, exitDone, "too many uploads a minute", "the server is busy", "no connection", "1 ready")
	if trial != 4 {
		t.Errorf("%d trials, want 4", trial)
	}
	if names := w.names(t); len(names) != 1 {
		t.Errorf("sources %q, want one", names)
	}
}

func TestKBAddInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	w := startKB(t, "", func(service http.Handler) http.Handler {
		uploads := 0
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/sources/upload") {
				if uploads++; uploads == 2 { // with --parallel 1 they come one by one
					interrupt()
					_, _ = io.Copy(io.Discard, r.Body) // until the caller is gone
					<-r.Context().Done()
					return
				}
			}
			service.ServeHTTP(rw, r)
		})
	})
	folder := writeTree(t, map[string]string{"a.md": returnsText, "b.md": returnsText + "b", "c.md": returnsText + "c"})
	var out, errs bytes.Buffer
	code := Execute(ctx, IO{In: strings.NewReader(""), Out: &out, Err: &errs}, []string{"kb", "add", "--data-dir", w.dir, "--parallel", "1", folder})
	got := ran{code, out.String(), errs.String()}
	got.wants(t, exitFailed, "· b.md", "· c.md", "2 not sent", "interrupted: 2 of 3 were not sent. Run it again to go on")
	if !strings.Contains(got.out, "✓ a.md") && !strings.Contains(got.out, "→ a.md") {
		t.Errorf("what was accepted is not said:\n%s", got.out)
	}
	if names := w.names(t); len(names) != 1 || names[0] != "a.md" {
		t.Errorf("sources %q, want a.md", names)
	}
}

func TestKBUsage(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	program := filepath.Join(writeTree(t, map[string]string{"main.go": "package x", "a.md": "x", "b.md": "y"}), "main.go")
	for name, row := range map[string]struct {
		args []string
		says string
	}{
		"NoPath":         {[]string{"add"}, "PATH or URL is missing"},
		"NoFile":         {[]string{"add", "/no/such/file.md"}, "there is no file or folder /no/such/file.md"},
		"NoMatch":        {[]string{"add", "/no/such/*.md"}, "nothing matches"},
		"NotAccepted":    {[]string{"add", program}, "--type txt"},
		"NothingThere":   {[]string{"add", t.TempDir()}, "nothing to add"},
		"WrongType":      {[]string{"add", program, "--type", "exe"}, `--type "exe" is not accepted`},
		"NamesForMany":   {[]string{"add", filepath.Dir(program), "--name", "x"}, "--name is for one source, and there are 2"},
		"StdinNoName":    {[]string{"add", "-"}, "give --name"},
		"AttachNoWait":   {[]string{"add", program, "--attach", "default", "--no-wait"}, "leave --no-wait out"},
		"Parallel":       {[]string{"add", program, "--parallel", "0"}, "--parallel must be 1 to 16"},
		"WrongPattern":   {[]string{"add", program, "--exclude", "["}, "is not a pattern"},
		"WatchNoScreen":  {[]string{"ls", "--watch"}, "--watch is for terminals"},
		"NoQuestion":     {[]string{"query"}, "QUESTION is missing"},
		"WrongRanking":   {[]string{"query", "x", "--ranking", "best"}, "similarity or hybrid"},
		"NothingToRerun": {[]string{"reprocess"}, "name sources, or give --failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.kb(t, "", row.args...).wants(t, exitUsage, row.says)
		})
	}
	t.Run("NoWorkspace", func(t *testing.T) {
		t.Parallel()
		execute(t, "", "kb", "ls", "--data-dir", t.TempDir(), "--base-url", w.env.URL, "--api-key", "k").wants(t, exitUsage, "--workspace is missing")
	})
	t.Run("WrongKey", func(t *testing.T) {
		t.Parallel()
		w.kb(t, "", "add", program, "--type", "txt", "--api-key", "prl_wrong").wants(t, exitFailed, "Keys of a data directory that was deleted")
	})
	t.Run("ReadKey", func(t *testing.T) {
		t.Parallel()
		w.kb(t, "", "add", program, "--type", "txt", "--api-key", w.env.Tenant.Read).wants(t, exitFailed, "failed auth-scope")
	})
	t.Run("NoAgent", func(t *testing.T) {
		t.Parallel()
		w.kb(t, "", "add", program, "--type", "txt", "--attach", "agt_none").wants(t, exitFailed, "find the agent")
	})
}

// The commands on what is there.
func TestKBSources(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	w.kb(t, "", "ls").wants(t, exitDone, "The knowledge base is empty")
	w.kb(t, "", "query", "anything").wants(t, exitDone, "Nothing is attached to "+w.agent)
	folder := writeTree(t, map[string]string{"returns.md": returnsText, "cat.md": "# Marzipan\n\nThe \u202etac\u202c sleeps all day."})
	w.kb(t, "", "add", folder).wants(t, exitDone, "An agent sees them when they are attached")
	w.kb(t, "", "attach", "returns.md").wants(t, exitDone, "1 source is attached to "+w.agent)
	w.kb(t, "", "query", "returned books", "--explain", "cat.md").wants(t, exitDone, "returns.md: Returns", "cat.md: not attached")
	w.kb(t, "", "ls", "--status", "ready").wants(t, exitDone, "STATUS", "returns.md", "Markdown", "cat.md")
	w.kb(t, "", "ls", "--status", "failed").wants(t, exitDone, "No source is failed.")
	w.kb(t, "", "reprocess", "returns.md").wants(t, exitDone, "✓ returns.md")
	w.kb(t, "", "reprocess", "returns.md", "--force-ocr").wants(t, exitFailed, "Only a PDF can be read by OCR")
	w.kb(t, "", "reprocess", "--failed").wants(t, exitDone, "No source failed.")
	shown := w.kb(t, "", "show", "cat.md", "--all")
	shown.wants(t, exitDone, "#0  Marzipan", "The tac sleeps")
	if strings.Contains(shown.out, "\u202e") {
		t.Errorf("a document reaches the terminal's controls: %q", shown.out)
	}
	w.kb(t, "", "detach", "returns.md").wants(t, exitDone, "1 source is hidden")
	w.kb(t, "", "rm", "cat.md").wants(t, exitDone, "deleted cat.md (src_")
	w.kb(t, "", "show", "cat.md").wants(t, exitFailed, `there is no source "cat.md"`)
	w.kb(t, "", "add", filepath.Join(folder, "returns.md"), "--again").wants(t, exitDone)
	w.kb(t, "", "rm", "returns.md").wants(t, exitUsage, `2 sources are named "returns.md"; say which: src_`)
	if names := w.names(t); len(names) != 2 {
		t.Errorf("sources %q: a name that two have deletes none", names)
	}
}

func TestKBDownload(t *testing.T) {
	t.Parallel()
	w := startKB(t, "", nil)
	w.kb(t, returnsText, "add", "-", "--name", "../../over the edge?.md").wants(t, exitDone)
	into := t.TempDir()
	w.kb(t, "", "download", "../../over the edge?.md", "-o", into).wants(t, exitDone, "over the edge_.md")
	if got := readFile(t, filepath.Join(into, "over the edge_.md")); got != returnsText {
		t.Errorf("downloaded %q", got)
	}
	w.kb(t, "", "download", "../../over the edge?.md", "-o", into).wants(t, exitFailed, "exists: give --force")
	w.kb(t, "", "download", "../../over the edge?.md", "-o", into, "--force").wants(t, exitDone)
	if left, err := filepath.Glob(filepath.Join(into, ".parlance-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
