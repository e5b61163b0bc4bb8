package tools

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// FuzzRender puts any value into each place of a request and reads the place as a server would:
// the value is there, whole, and nothing else has changed.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"plain", "", "a/b", "../../admin", "..", "%2e%2e", "a?b=c#d", "x&y=z", "ü€😀", "a\r\nX-Admin: 1", "\x00", "{{x}}", "{id}", `"},"a":{"`, "\\", "a;b", "+", " ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		variables := func(name string) (string, bool) { return value, name == "x" }
		arguments := func(name string) (string, bool) { return value, name == "id" }
		checkPath(t, value, variables, arguments)
		checkQuery(t, value, variables, arguments)
		if header, problem := renderHeader("X", "a {{x}} b", variables); problem == nil {
			if header != "a "+value+" b" || !httpguts.ValidHeaderFieldValue(header) {
				t.Errorf("header %q", header)
			}
		} else if httpguts.ValidHeaderFieldValue(value) {
			t.Errorf("header refused: %q", value)
		}
		rendered, problem := renderValue(map[string]any{"a": "<{{x}}>", "b": []any{"{{ x }}"}, "c": json.Number("1")}, variables)
		if problem != nil {
			t.Fatal(problem)
		}
		var read map[string]any
		if err := json.Unmarshal([]byte(compactJSON(rendered)), &read); err != nil {
			t.Fatal(err)
		}
		if clean := strings.ToValidUTF8(value, "\uFFFD"); len(read) != 3 || strings.ToValidUTF8(value, "") == value && (read["a"] != "<"+clean+">" || read["b"].([]any)[0] != clean) {
			t.Errorf("JSON %v, want %q", read, value)
		}
	})
}

func checkPath(t *testing.T, value string, variables, arguments lookup) {
	t.Helper()
	path, problem := renderPath("/v1/{id}/k-{{x}}/end", variables, arguments)
	if problem != nil {
		return
	}
	target, err := url.Parse("https://example.com" + path + "?q=1")
	if err != nil {
		t.Fatalf("path %q: %v", path, err)
	}
	segments := strings.Split(target.EscapedPath(), "/")
	if len(segments) != 5 || target.Host != "example.com" || target.RawQuery != "q=1" || target.Fragment != "" || segments[4] != "end" {
		t.Fatalf("the path %q escapes its place", path)
	}
	if strings.Contains(target.JoinPath().EscapedPath(), "..") && !strings.Contains(value, "..") {
		t.Errorf("path %q walks up", path)
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

func checkQuery(t *testing.T, value string, variables, arguments lookup) {
	t.Helper()
	query, problem := renderQuery("a={{x}}&b={id}&c=1", variables, arguments)
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

// FuzzSplit looks for a template whose pieces are not the template.
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
		rendered, problem := renderText(template, func(name string) (string, bool) { return "{{" + name + "}}", true })
		if problem != nil || strings.ReplaceAll(rendered, " ", "") != strings.ReplaceAll(template, " ", "") {
			t.Errorf("%q rendered by its own names is %q", template, rendered)
		}
	})
}

// FuzzRedact looks for a secret that an echo in JSON, a URL or plain text brings through.
func FuzzRedact(f *testing.F) {
	f.Add("hunter2")
	f.Add(`a"b/c\d&<>`)
	f.Fuzz(func(t *testing.T, secret string) {
		if len(secret) < 4 || strings.Contains(redactedWord, secret) || strings.ToValidUTF8(secret, "") != secret || strings.Contains(secret, "\x00") {
			return
		}
		r := newRedactor([]string{secret})
		encoded, _ := json.Marshal(secret)
		for _, echo := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), string(encoded), compactJSON(secret)} {
			if clean := r.text("<" + echo + ">"); !strings.Contains(clean, redactedWord) {
				t.Errorf("%q brings %q through: %q", echo, secret, clean)
			}
		}
	})
}

// FuzzUnescape redacts any text: what is taken out lies within it, in order, and what remains does
// not hold the secret in any escapes that are read.
func FuzzUnescape(f *testing.F) {
	for _, seed := range []string{`%68unter2`, `\u0068unter2 h\nunter2`, "&#104;unter2", `%5cu0068unter2`, "hunt\r\ner2&amp", "%", `\`, "&", `\ud83d\ude00`, "&#x110000;", `\u00`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := newRedactor([]string{"hunter2"})
		view, at := text, positions(len(text), nil)
		for range maxUnescaped {
			view, at = unescape(view, at)
			if len(at) != len(view)+1 || at[len(view)] != len(text) {
				t.Fatalf("%q has %d places, the last %d", view, len(at), at[len(at)-1])
			}
		}
		clean := r.text(text)
		for range maxUnescaped {
			if strings.Contains(clean, "hunter2") {
				t.Fatalf("%q became %q", text, clean)
			}
			clean, _ = unescape(clean, nil)
		}
	})
}
