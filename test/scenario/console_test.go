package scenario

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parlance.dev/parlance/console"
	"parlance.dev/parlance/test/harness"
)

// TestConsole reads the page as a browser does: without a key, by relative URLs from one file to
// the next.
func TestConsole(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	open := harness.Key("")
	got := env.Do(t, "GET", "/console/", nil, open).Must(t, 200)
	if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") ||
		!strings.Contains(string(got.Body), "<title>Parlance<") {
		t.Errorf("/console/ is %s: %.200s", kind, got.Body)
	}

	t.Run("every file is found from the page", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		followConsole(t, env, "/console/", seen)
		for _, name := range consoleFiles(t) {
			if path := "/console/" + strings.TrimSuffix(name, "index.html"); !seen[path] {
				t.Errorf("nothing leads to %s", path)
			}
		}
	})
	t.Run("a copy is asked about and kept", func(t *testing.T) {
		t.Parallel()
		for _, name := range consoleFiles(t) {
			path, control := "/console/"+strings.TrimSuffix(name, "index.html"), "no-cache"
			if strings.HasPrefix(name, "assets/") { // its name changes with its content
				control = "public, max-age=31536000, immutable"
			}
			first := env.Do(t, "GET", path, nil, open).Must(t, 200)
			if got := first.Header.Get("Cache-Control"); got != control {
				t.Errorf("%s: Cache-Control %q, want %q", path, got, control)
			}
			again := env.Do(t, "GET", path, nil, open, harness.Header("If-None-Match", first.Header.Get("ETag"))).Must(t, 304)
			if len(again.Body) > 0 || again.Header.Get("ETag") != first.Header.Get("ETag") {
				t.Errorf("%s: 304 with %q and %d bytes", path, again.Header.Get("ETag"), len(again.Body))
			}
			env.Do(t, "GET", path, nil, open, harness.Header("If-None-Match", `"another"`)).Must(t, 200)
		}
	})
	t.Run("what is not there", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{
			"/console/index.html", "/console/assets/", "/console/assets/none.js",
			"/console/embed.go", "/console/assets/../../embed.go", "/console//", "/console/assets",
		} {
			checkProblem(t, env.Do(t, "GET", path, nil, open), 404, "route-not-found")
		}
		checkProblem(t, env.Do(t, "POST", "/console/", "{}", open), 405, "method-not-allowed")
	})
	t.Run("the ways there", func(t *testing.T) {
		t.Parallel()
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		for from, status := range map[string]int{"/console": 308, "/": 302} {
			response, err := client.Get(env.URL + from)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close() // there is nothing in it
			if location := response.Header.Get("Location"); response.StatusCode != status || location != "console/" {
				t.Errorf("%s: %d to %q, want a relative way", from, response.StatusCode, location)
			}
		}
	})
}

// TestConsoleUnderAPrefix is the page behind a proxy that serves us under a path and leaves it on.
func TestConsoleUnderAPrefix(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{
		WithoutWorker: true,
		Settings:      map[string]string{"PARLANCE_PUBLIC_URL": "https://example.com/talk"},
	})
	seen := map[string]bool{}
	followConsole(t, env, "/talk/console/", seen)
	if len(seen) != len(consoleFiles(t)) {
		t.Errorf("under the prefix only %v was found", seen)
	}
}

// consoleFiles are the names of the console's files.
func consoleFiles(t *testing.T) (names []string) {
	t.Helper()
	err := fs.WalkDir(console.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 10 {
		t.Fatalf("the files of the console: %v, %v", names, err)
	}
	return names
}

// consoleOutside is what the page would load from elsewhere or from the root of the host, and
// what the policy refuses.
var consoleOutside = regexp.MustCompile(`(?:src|href)="(?:/|[a-z]+:)|<script>|<style|\son[a-z]+="|\sstyle="`)

// followConsole fetches a file without a key, checks its headers, and follows it to the files that
// it names.
func followConsole(t *testing.T, env *harness.Env, path string, seen map[string]bool) {
	t.Helper()
	if seen[path] {
		return
	}
	seen[path] = true
	got := env.Do(t, "GET", path, nil, harness.Key("")).Must(t, 200)
	policy := got.Header.Get("Content-Security-Policy")
	for _, rule := range []string{"default-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("%s: Content-Security-Policy without %s: %q", path, rule, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
		got.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%s: headers %v", path, got.Header)
	}
	if strings.HasSuffix(path, ".js") && !strings.HasPrefix(got.Header.Get("Content-Type"), "text/javascript") {
		t.Errorf("%s is %s", path, got.Header.Get("Content-Type"))
	}
	if found := consoleOutside.Find(got.Body); found != nil && strings.HasSuffix(path, "/") {
		t.Errorf("%s has %q: a prefix or the policy forbids it", path, found)
	}
	root := path[:strings.Index(path, "/console/")+len("/console/")]
	for _, name := range consoleFiles(t) {
		if base := name[strings.LastIndex(name, "/")+1:]; base != "index.html" && strings.Contains(string(got.Body), base) {
			followConsole(t, env, root+name, seen)
		}
	}
}
