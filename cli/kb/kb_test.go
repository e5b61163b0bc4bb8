package kb_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/cli"
	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/test/clitest"
)

// world is a running service on which the tests run `parlance kb`.
type world struct{ clitest.Service }

func start(t *testing.T, o clitest.Options) world {
	t.Helper()
	return world{clitest.Start(t, o)}
}

// kb runs `parlance kb`.
func (w world) kb(t *testing.T, input, sub string, args ...string) clitest.Result {
	t.Helper()
	return w.Run(t, input, "kb", sub, args...)
}

// names returns the names of the workspace's sources.
func (w world) names(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, line := range w.kb(t, "", "ls", "--json").JSONLines(t) {
		names = append(names, line["name"].(string))
	}
	return names
}

// changed returns when a source was last changed.
func (w world) changed(t *testing.T, name string) any {
	t.Helper()
	return w.kb(t, "", "show", name, "--json").JSONLines(t)[0]["updated_at"]
}

const returnsText = "# Returns\n\nBooks can be returned within 30 days, at the desk on the second floor.\n"

// A folder is added once, and queried.
func TestKBAddFolder(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	folder := clitest.WriteTree(t, map[string]string{
		"returns.md":                 returnsText,
		"sub dir/Öffnungszeiten.txt": "The garage closes at midnight.",
		"shop/house.html":            "<title>x</title><h1>Dogs</h1><p>Dogs are welcome on a lead.</p>",
		".hidden.md":                 "secret", ".git/config.md": "secret", "node_modules/a/readme.md": "not ours",
		"~$report.docx": "lock", "main.go": "package x",
	})
	got := w.kb(t, "", "add", folder, "--attach", "default")
	got.Wants(t, command.ExitDone, "✓ returns.md", "✓ sub dir/Öffnungszeiten.txt", "✓ shop/house.html", "3 ready",
		"5 files and folders skipped",
		"2 hidden", "1 made by a tool", "1 left by an editor", "type not accepted: .go", "kb query --agent "+w.Agent)
	if strings.Contains(got.Out, "\x1b") {
		t.Errorf("escape sequences where there is no terminal:\n%q", got.Out)
	}
	if names := w.names(t); len(names) != 3 {
		t.Errorf("sources %q, want three", names)
	}
	w.kb(t, "", "query", "Within how many days can books be returned?").Wants(t, command.ExitDone, " 1  0.",
		"returns.md: Returns", "within 30 days")
	w.kb(t, "", "add", folder).Wants(t, command.ExitDone, "= returns.md", "3 there already", "0 B sent")
	w.kb(t, "", "add", filepath.Join(folder, "returns.md"), "--again").Wants(t, command.ExitDone, "1 ready")
	if names := w.names(t); len(names) != 4 {
		t.Errorf("sources %q, want the same file again only with --again", names)
	}
}

func TestKBAddSaysWhatFailed(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{Plan: "small"})
	folder := clitest.WriteTree(t, map[string]string{
		"good.md": returnsText, "picture.md": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "empty.txt": "",
		"large.txt": strings.Repeat("many words ", 3000),
	})
	got := w.kb(t, "", "add", folder)
	got.Wants(t, command.ExitFailed, "✓ good.md", "✗ picture.md", "failed kb-unsupported-media-type",
		"its content is image/png", "failed empty",
		"failed quota-exceeded-kb-upload-size", "→ split the file, or change the plan", "1 ready, 3 failed", "3 of 4 failed")
	// A failed source is tried again and not added a second time.
	before := w.changed(t, "empty.txt")
	w.kb(t, "", "add", folder).Wants(t, command.ExitFailed, "1 there already, 3 failed")
	if before == w.changed(t, "empty.txt") {
		t.Error("empty.txt was not tried again")
	}
	if names := w.names(t); len(names) != 2 {
		t.Errorf("sources %q, want good.md and empty.txt", names)
	}
	w.kb(t, "", "show", "empty.txt").Wants(t, command.ExitDone, "failed empty", "The document holds no text.")

	full := clitest.WriteTree(t, map[string]string{"a.txt": strings.Repeat("a word ", 4000), "b.txt": strings.Repeat("b word ", 4000)})
	w.kb(t, "", "add", full, "--parallel", "1").Wants(t, command.ExitFailed, "✓ a.txt", "failed quota-exceeded-kb-storage", "parlance kb rm")
	w.kb(t, "", "status").Wants(t, command.ExitDone, "of 40.0 kB", "the plan small", "1 failed")
}

func TestKBAddJSON(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	folder := clitest.WriteTree(t, map[string]string{"good.md": returnsText, "broken.json": "{"})
	got := w.kb(t, "", "add", folder, "--json")
	got.Wants(t, command.ExitFailed)
	outcomes := map[string]any{}
	for _, line := range got.JSONLines(t) {
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
	w := start(t, clitest.Options{})
	w.kb(t, returnsText, "add", "-", "--name", "Piped.md").Wants(t, command.ExitDone, "✓ Piped.md")
	w.kb(t, returnsText, "add", "-", "--name", "Piped", "--type", "md", "--no-wait").Wants(t, command.ExitDone, "→ Piped", "1 being ingested")
	w.kb(t, "", "download", "Piped.md", "-o", "-").Wants(t, command.ExitDone, returnsText)
}

// Lost answers and requests to wait do not make a second source.
func TestKBAddTriesAgain(t *testing.T) {
	t.Parallel()
	trial := 0
	w := start(t, clitest.Options{Between: func(service http.Handler) http.Handler {
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
	}})
	file := filepath.Join(clitest.WriteTree(t, map[string]string{"returns.md": returnsText}), "returns.md")
	w.kb(t, "", "add", file).Wants(t, command.ExitDone, "too many uploads a minute", "the server is busy", "no connection", "1 ready")
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
	w := start(t, clitest.Options{Between: func(service http.Handler) http.Handler {
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
	}})
	folder := clitest.WriteTree(t, map[string]string{"a.md": returnsText, "b.md": returnsText + "b", "c.md": returnsText + "c"})
	var out, errs bytes.Buffer
	code := cli.Execute(ctx, cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs},
		[]string{"kb", "add", "--data-dir", w.DataDir, "--parallel", "1", folder})
	got := clitest.Result{Code: code, Out: out.String(), Err: errs.String()}
	got.Wants(t, command.ExitFailed, "· b.md", "· c.md", "2 not sent", "interrupted: 2 of 3 were not sent. Run it again to go on")
	if !strings.Contains(got.Out, "✓ a.md") && !strings.Contains(got.Out, "→ a.md") {
		t.Errorf("what was accepted is not said:\n%s", got.Out)
	}
	if names := w.names(t); len(names) != 1 || names[0] != "a.md" {
		t.Errorf("sources %q, want a.md", names)
	}
}

func TestKBUsage(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	program := filepath.Join(clitest.WriteTree(t, map[string]string{"main.go": "package x", "a.md": "x", "b.md": "y"}), "main.go")
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
			w.kb(t, "", row.args[0], row.args[1:]...).Wants(t, command.ExitUsage, row.says)
		})
	}
	t.Run("NoWorkspace", func(t *testing.T) {
		t.Parallel()
		clitest.Execute(t, "", "kb", "ls", "--data-dir", t.TempDir(), "--base-url", w.Env.URL, "--api-key", "k").Wants(t,
			command.ExitUsage, "--workspace is missing")
	})
	t.Run("WrongKey", func(t *testing.T) {
		t.Parallel()
		w.kb(t, "", "add", program, "--type", "txt", "--api-key", "prl_wrong").Wants(t, command.ExitFailed,
			"Keys of a data directory that was deleted")
	})
	t.Run("ReadKey", func(t *testing.T) {
		t.Parallel()
		w.kb(t, "", "add", program, "--type", "txt", "--api-key", w.Env.Tenant.Read).Wants(t, command.ExitFailed, "failed auth-scope")
	})
	t.Run("NoAgent", func(t *testing.T) {
		t.Parallel()
		w.kb(t, "", "add", program, "--type", "txt", "--attach", "agt_none").Wants(t, command.ExitFailed, "find the agent")
	})
}

// The commands for existing sources.
func TestKBSources(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	w.kb(t, "", "ls").Wants(t, command.ExitDone, "The knowledge base is empty")
	w.kb(t, "", "query", "anything").Wants(t, command.ExitDone, "Nothing is attached to "+w.Agent)
	folder := clitest.WriteTree(t, map[string]string{"returns.md": returnsText, "cat.md": "# Marzipan\n\nThe \u202etac\u202c sleeps all day."})
	w.kb(t, "", "add", folder).Wants(t, command.ExitDone, "An agent sees them when they are attached")
	w.kb(t, "", "attach", "returns.md").Wants(t, command.ExitDone, "1 source is attached to "+w.Agent)
	w.kb(t, "", "query", "returned books", "--explain", "cat.md").Wants(t, command.ExitDone, "returns.md: Returns", "cat.md: not attached")
	w.kb(t, "", "ls", "--status", "ready").Wants(t, command.ExitDone, "STATUS", "returns.md", "Markdown", "cat.md")
	if lines := w.kb(t, "", "ls", "--query", "CAT", "--json").JSONLines(t); len(lines) != 1 || lines[0]["name"] != "cat.md" {
		t.Errorf("found %v", lines)
	}
	if lines := w.kb(t, "", "ls", "--order-by", "name desc", "--json").JSONLines(t); len(lines) != 2 || lines[0]["name"] != "returns.md" {
		t.Errorf("by name, from the end: %v", lines)
	}
	w.kb(t, "", "ls", "--query", "dog").Wants(t, command.ExitDone, "no such source")
	w.kb(t, "", "ls", "--status", "failed").Wants(t, command.ExitDone, "No source is failed.")
	w.kb(t, "", "reprocess", "returns.md").Wants(t, command.ExitDone, "✓ returns.md")
	w.kb(t, "", "reprocess", "returns.md", "--force-ocr").Wants(t, command.ExitFailed, "Only a PDF can be read by OCR")
	w.kb(t, "", "reprocess", "--failed").Wants(t, command.ExitDone, "No source failed.")
	shown := w.kb(t, "", "show", "cat.md", "--all")
	shown.Wants(t, command.ExitDone, "#0  Marzipan", "The tac sleeps")
	if strings.Contains(shown.Out, "\u202e") {
		t.Errorf("a document reaches the terminal's controls: %q", shown.Out)
	}
	w.kb(t, "", "detach", "returns.md").Wants(t, command.ExitDone, "1 source is hidden")
	w.kb(t, "", "rm", "cat.md").Wants(t, command.ExitDone, "deleted cat.md (src_")
	w.kb(t, "", "show", "cat.md").Wants(t, command.ExitFailed, `there is no source "cat.md"`)
	w.kb(t, "", "add", filepath.Join(folder, "returns.md"), "--again").Wants(t, command.ExitDone)
	w.kb(t, "", "rm", "returns.md").Wants(t, command.ExitUsage, `2 sources are named "returns.md"; say which: src_`)
	if names := w.names(t); len(names) != 2 {
		t.Errorf("sources %q: a name that two have deletes none", names)
	}
}

func TestKBDownload(t *testing.T) {
	t.Parallel()
	w := start(t, clitest.Options{})
	w.kb(t, returnsText, "add", "-", "--name", "../../over the edge?.md").Wants(t, command.ExitDone)
	into := t.TempDir()
	w.kb(t, "", "download", "../../over the edge?.md", "-o", into).Wants(t, command.ExitDone, "over the edge_.md")
	if got := clitest.ReadFile(t, filepath.Join(into, "over the edge_.md")); got != returnsText {
		t.Errorf("downloaded %q", got)
	}
	w.kb(t, "", "download", "../../over the edge?.md", "-o", into).Wants(t, command.ExitFailed, "exists: give --force")
	w.kb(t, "", "download", "../../over the edge?.md", "-o", into, "--force").Wants(t, command.ExitDone)
	if left, err := filepath.Glob(filepath.Join(into, ".parlance-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
