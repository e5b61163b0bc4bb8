package tools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// fuzzed is a tool with something from outside in every place of its request.
func fuzzed(method string) Config {
	config := Config{
		Method: method, WebhookURL: "https://example.com/v1/{id}/k-{{x}}/end?a={{x}}&b={id}&fixed=1", AllowDynamicVars: true,
		PathParams: []string{"id"}, QueryParams: []string{"asked"},
		Headers:              map[string]string{"X-Fixed": "1", "X-Var": "v {{x}} w"},
		HardcodedQueryParams: map[string]string{"own": "<{{ x }}>"},
	}
	if hasBody(method) {
		config.HardcodedBodyParams = json.RawMessage(`{"own":{"x":"<{{x}}>","list":["{{x}}",1]},"fixed":1}`)
	}
	return config
}

// FuzzRequest puts a variable, an argument and an argument's name from outside into every place of a
// request, writes that as it goes over the wire and reads it as a server does: there is one request,
// with the segments, parameters, headers and members that the operator gave it, and no other.
func FuzzRequest(f *testing.F) {
	for i, seed := range []string{
		"plain", "", "a/b", "..", "../../admin", "..%2f..", "%2e%2e", "%00", "a?b=c#d", "x&y=z", "a=b", "ü€😀", "\u202e", "a\r\nX-Admin: 1", "a\r\n\r\nGET / HTTP/1.1\r\nHost: evil\r\n\r\n",
		"\n", "\x00", "\xff", "{{x}}", "{{secret__k}}", "{id}", "}}{{x}}", `"},"admin":{"`, `\`, `\"`, "a;b", "+", " ", "\t", "//evil.com", "@evil.com", ":80", "\\evil", "\u2028",
	} {
		f.Add(uint8(i), seed, seed, seed)
		f.Add(uint8(i+1), seed, "1", "n")
		f.Add(uint8(i+2), "1", seed, "n")
		f.Add(uint8(i+3), "1", "1", seed)
	}
	f.Fuzz(func(t *testing.T, pick uint8, variable, argument, name string) {
		if slices.Contains([]string{"id", "asked", "note", "own", "fixed", "a", "b"}, name) {
			return
		}
		method := methods[int(pick)%len(methods)]
		config := fuzzed(method)
		variables := Variables{Public: map[string]string{"x": variable}}
		arguments := map[string]any{"id": argument, "asked": argument, "note": map[string]any{"deep": []any{argument}}, name: argument}
		request, problem := render(config, arguments, view{operator: variables.operator, model: variables.model, authorization: "Bearer {{x}}"})
		if problem != nil {
			return // refused, which is safe; TestRefusedBeforeSending has what must not be
		}
		said, problem := renderText(argument, variables.model)
		if problem != nil {
			t.Fatalf("an argument that was rendered is refused: %+v", problem)
		}
		arrived, body := overTheWire(t, request)
		if arrived.Method != method || arrived.Host != "example.com" {
			t.Fatalf("%s to %s", arrived.Method, arrived.Host)
		}
		checkTarget(t, arrived.URL, said, variable)
		checkHeaders(t, arrived, method, variable)
		query := arrived.URL.Query()
		names := []string{"a", "b", "fixed", "own", "asked"}
		if !hasBody(method) {
			names = append(names, "note", name)
		}
		sameNames(t, "parameters", slices.Collect(maps.Keys(query)), names)
		for parameter, want := range map[string]string{"a": variable, "b": said, "fixed": "1", "own": "<" + variable + ">", "asked": said} {
			if got := query[parameter]; len(got) != 1 || got[0] != want {
				t.Errorf("the parameter %s is %q, want %q", parameter, got, want)
			}
		}
		if hasBody(method) {
			checkBody(t, body, said, variable, name)
		} else if len(body) != 0 {
			t.Errorf("a %s has the body %q", method, body)
		}
	})
}

// overTheWire is what a server reads, to the end of what was written.
func overTheWire(t *testing.T, w wire) (*http.Request, []byte) {
	t.Helper()
	request, err := newRequest(t.Context(), w, "call_1")
	if err != nil {
		t.Fatalf("what was rendered cannot be sent: %v", err)
	}
	var written bytes.Buffer
	if err := request.Write(&written); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(&written)
	arrived, err := http.ReadRequest(reader)
	if err != nil {
		t.Fatalf("no server reads it: %v", err)
	}
	body, err := io.ReadAll(arrived.Body)
	if rest, _ := io.ReadAll(reader); err != nil || len(rest) != 0 {
		t.Fatalf("after the request comes %q, %v", rest, err)
	}
	return arrived, body
}

func checkTarget(t *testing.T, target *url.URL, id, x string) {
	t.Helper()
	segments := strings.Split(target.EscapedPath(), "/")
	if len(segments) != 5 || segments[1] != "v1" || segments[4] != "end" || target.Fragment != "" {
		t.Fatalf("the path is %q", target.EscapedPath())
	}
	for i, want := range map[int]string{2: id, 3: "k-" + x} {
		if got, err := url.PathUnescape(segments[i]); err != nil || got != want {
			t.Errorf("segment %d is %q, want %q", i, got, want)
		}
	}
	// However a server or a proxy cleans a path, it stays where it was.
	if cleaned := target.JoinPath().EscapedPath(); strings.Count(cleaned, "/") != 4 {
		t.Errorf("the path %q becomes %q", target.EscapedPath(), cleaned)
	}
}

func checkHeaders(t *testing.T, arrived *http.Request, method, x string) {
	t.Helper()
	names := []string{"Accept", "User-Agent", "X-Fixed", "X-Var", "Authorization", "Idempotency-Key"}
	if hasBody(method) {
		names = append(names, "Content-Type", "Content-Length")
	}
	sameNames(t, "headers", slices.Collect(maps.Keys(arrived.Header)), names)
	for name, want := range map[string]string{"X-Fixed": "1", "X-Var": "v " + x + " w", "Authorization": strings.TrimRight("Bearer "+x, " \t"), "Idempotency-Key": "call_1"} {
		if got := arrived.Header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("the header %s is %q, want %q", name, got, want)
		}
	}
}

func checkBody(t *testing.T, body []byte, said, x, name string) {
	t.Helper()
	// Invalid UTF-8 cannot stand in JSON and becomes U+FFFD.
	said, x, name = strings.ToValidUTF8(said, "\uFFFD"), strings.ToValidUTF8(x, "\uFFFD"), strings.ToValidUTF8(name, "\uFFFD")
	var read map[string]any
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatalf("the body %q is no JSON: %v", body, err)
	}
	sameNames(t, "members", slices.Collect(maps.Keys(read)), []string{"note", "own", "fixed", name})
	own, _ := read["own"].(map[string]any)
	note, _ := read["note"].(map[string]any)
	sameNames(t, "members of own", slices.Collect(maps.Keys(own)), []string{"x", "list"})
	if squeeze(own["x"]) != squeeze("<"+x+">") || read["fixed"] != 1.0 || len(note) != 1 || squeeze(note["deep"].([]any)[0]) != squeeze(said) {
		t.Errorf("the body is %q", body)
	}
}

// squeeze makes runs of U+FFFD one: encoders differ in how many they write.
func squeeze(value any) string {
	text, _ := value.(string)
	for strings.Contains(text, "\uFFFD\uFFFD") {
		text = strings.ReplaceAll(text, "\uFFFD\uFFFD", "\uFFFD")
	}
	return text
}

func sameNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(got) != len(want) {
		t.Fatalf("the %s are %q, want %q", what, got, want)
	}
	for i := range want {
		if got[i] != want[i] && squeeze(got[i]) != squeeze(want[i]) {
			t.Fatalf("the %s are %q, want %q", what, got, want)
		}
	}
}
