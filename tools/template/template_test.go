package template

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"parlance.dev/parlance/platform/jsonvalue"
)

// FuzzRender puts a value into each part of a request and reads the request as a server would: the
// value arrives unchanged, and so does everything else.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"plain", "", "a/b", "../../admin", "..", "%2e%2e", "a?b=c#d", "x&y=z", "ü€😀", "a\r\nX-Admin: 1", "\x00", "{{x}}", "{id}",
		`"},"a":{"`, "\\", "a;b", "+", " ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		variables := func(name string) (string, bool) { return value, name == "x" }
		arguments := func(name string) (string, bool) { return value, name == "id" }
		checkPath(t, value, variables, arguments)
		checkQuery(t, value, variables, arguments)
		if header, problem := Header("X", "a {{x}} b", variables); problem == nil {
			if header != "a "+value+" b" || !httpguts.ValidHeaderFieldValue(header) {
				t.Errorf("header %q", header)
			}
		} else if httpguts.ValidHeaderFieldValue(value) {
			t.Errorf("header refused: %q", value)
		}
		rendered, problem := Value(map[string]any{"a": "<{{x}}>", "b": []any{"{{ x }}"}, "c": json.Number("1")}, variables)
		if problem != nil {
			t.Fatal(problem)
		}
		var read map[string]any
		if err := json.Unmarshal([]byte(jsonvalue.Compact(rendered)), &read); err != nil {
			t.Fatal(err)
		}
		valid := strings.ToValidUTF8(value, "") == value
		if len(read) != 3 || valid && (read["a"] != "<"+value+">" || read["b"].([]any)[0] != value) {
			t.Errorf("JSON %v, want %q", read, value)
		}
	})
}

func checkPath(t *testing.T, value string, variables, arguments Lookup) {
	t.Helper()
	path, problem := Path("/v1/{id}/k-{{x}}/end", variables, arguments)
	if problem != nil {
		return
	}
	target, err := url.Parse("https://example.com" + path + "?q=1")
	if err != nil {
		t.Fatalf("path %q: %v", path, err)
	}
	segments := strings.Split(target.EscapedPath(), "/")
	if len(segments) != 5 || target.Host != "example.com" || target.RawQuery != "q=1" || target.Fragment != "" || segments[4] != "end" {
		t.Fatalf("the path %q has other segments", path)
	}
	if strings.Contains(target.JoinPath().EscapedPath(), "..") && !strings.Contains(value, "..") {
		t.Errorf("path %q goes up", path)
	}
	if got := target.JoinPath().EscapedPath(); strings.Count(got, "/") != 4 {
		t.Errorf("the path %q becomes %q when it is cleaned", path, got)
	}
	id, err := url.PathUnescape(segments[2])
	prefixed, err2 := url.PathUnescape(segments[3])
	if err != nil || err2 != nil || id != value || prefixed != "k-"+value {
		t.Errorf("the server reads %q and %q, want %q", id, prefixed, value)
	}
}

func checkQuery(t *testing.T, value string, variables, arguments Lookup) {
	t.Helper()
	query, problem := Query("a={{x}}&b={id}&c=1", variables, arguments)
	if problem != nil {
		t.Fatal(problem)
	}
	target, err := url.Parse("https://example.com/?" + query)
	if err != nil {
		t.Fatalf("query %q: %v", query, err)
	}
	read, err := url.ParseQuery(target.RawQuery)
	if err != nil || len(read) != 3 || read.Get("a") != value || read.Get("b") != value || read.Get("c") != "1" || target.Fragment != "" {
		t.Errorf("query %q reads as %v, %v", query, read, err)
	}
}

// FuzzSplit looks for a template whose joined pieces differ from it.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"{{a}}{b}", "{{{a}}}", "{{ a }}", "{{a}", "{a}}", "{{}}", "{{1}}", "{{a-b}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		var joined strings.Builder
		for _, p := range split(template) {
			joined.WriteString(p.text)
		}
		if joined.String() != template {
			t.Errorf("%q became %q", template, joined.String())
		}
		rendered, problem := Text(template, func(name string) (string, bool) { return "{{" + name + "}}", true })
		if problem != nil || strings.ReplaceAll(rendered, " ", "") != strings.ReplaceAll(template, " ", "") {
			t.Errorf("%q rendered by its own names is %q", template, rendered)
		}
	})
}
