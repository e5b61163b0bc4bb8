package httpcall

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

	"parlance.dev/parlance/tools/template"
)

// fuzzed is an endpoint with placeholders in every part of its request.
func fuzzed(method string) Endpoint {
	endpoint := Endpoint{
		Method: method, URL: "https://example.com/v1/{id}/k-{{x}}/end?a={{x}}&b={id}&fixed=1",
		PathParams: []string{"id"}, QueryParams: []string{"asked"},
		Headers:        map[string]string{"X-Fixed": "1", "X-Var": "v {{x}} w"},
		HardcodedQuery: map[string]string{"own": "<{{ x }}>"},
	}
	if HasBody(method) {
		endpoint.HardcodedBody = json.RawMessage(`{"own":{"x":"<{{x}}>","list":["{{x}}",1]},"fixed":1}`)
	}
	return endpoint
}

// modelVariables are the variables that the model may use: placeholders of secrets stay text.
func modelVariables(variables template.Lookup) template.Lookup {
	return func(name string) (string, bool) {
		if strings.HasPrefix(name, "secret__") {
			return "{{" + name + "}}", true
		}
		return variables(name)
	}
}

// FuzzRequest puts a variable, an argument and the name of an argument into every part of a
// request, writes the request and reads it as a server does: there is one request, with exactly the
// segments, parameters, headers and members that the operator gave it.
func FuzzRequest(f *testing.F) {
	for i, seed := range []string{
		"plain", "", "a/b", "..", "../../admin", "..%2f..", "%2e%2e", "%00", "a?b=c#d", "x&y=z", "a=b", "ü€😀", "\u202e",
		"a\r\nX-Admin: 1", "a\r\n\r\nGET / HTTP/1.1\r\nHost: evil\r\n\r\n", "\n", "\x00", "\xff", "{{x}}", "{{secret__k}}", "{id}",
		"}}{{x}}", `"},"admin":{"`, `\`, `\"`, "a;b", "+", " ", "\t", "//evil.com", "@evil.com", ":80", "\\evil", "\u2028",
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
		method := Methods[int(pick)%len(Methods)]
		variables := func(name string) (string, bool) { return variable, name == "x" }
		arguments := map[string]any{"id": argument, "asked": argument, "note": map[string]any{"deep": []any{argument}}, name: argument}
		request, problem := Render(fuzzed(method), arguments, Values{
			Operator: variables, Model: modelVariables(variables), SecretHeaders: map[string]string{"Authorization": "Bearer {{x}}"},
		})
		if problem != nil {
			return // a refusal is safe; TestRefusedBeforeSending says what must not be refused
		}
		said, problem := template.Text(argument, modelVariables(variables))
		if problem != nil {
			t.Fatalf("an argument was refused after it had been rendered: %+v", problem)
		}
		arrived, body := overTheWire(t, request)
		if arrived.Method != method || arrived.Host != "example.com" {
			t.Fatalf("%s to %s", arrived.Method, arrived.Host)
		}
		checkTarget(t, arrived.URL, said, variable)
		checkHeaders(t, arrived, method, variable)
		query := arrived.URL.Query()
		names := []string{"a", "b", "fixed", "own", "asked"}
		if !HasBody(method) {
			names = append(names, "note", name)
		}
		sameNames(t, "parameters", slices.Collect(maps.Keys(query)), names)
		wanted := map[string]string{"a": variable, "b": said, "fixed": "1", "own": "<" + variable + ">", "asked": said}
		for parameter, want := range wanted {
			if got := query[parameter]; len(got) != 1 || got[0] != want {
				t.Errorf("the parameter %s is %q, want %q", parameter, got, want)
			}
		}
		if HasBody(method) {
			checkBody(t, body, said, variable, name)
		} else if len(body) != 0 {
			t.Errorf("a %s has the body %q", method, body)
		}
	})
}

// overTheWire is what a server reads of a request.
func overTheWire(t *testing.T, r Request) (*http.Request, []byte) {
	t.Helper()
	request, err := newRequest(t.Context(), r, "call_1")
	if err != nil {
		t.Fatalf("the rendered request cannot be sent: %v", err)
	}
	var written bytes.Buffer
	if err := request.Write(&written); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(&written)
	arrived, err := http.ReadRequest(reader)
	if err != nil {
		t.Fatalf("the request cannot be read: %v", err)
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
	// Servers and proxies that clean the path must not change it.
	if cleaned := target.JoinPath().EscapedPath(); strings.Count(cleaned, "/") != 4 {
		t.Errorf("the path %q becomes %q", target.EscapedPath(), cleaned)
	}
}

func checkHeaders(t *testing.T, arrived *http.Request, method, x string) {
	t.Helper()
	names := []string{"Accept", "User-Agent", "X-Fixed", "X-Var", "Authorization", "Idempotency-Key", "Accept-Encoding"}
	if HasBody(method) {
		names = append(names, "Content-Type", "Content-Length")
	}
	sameNames(t, "headers", slices.Collect(maps.Keys(arrived.Header)), names)
	wanted := map[string]string{
		"X-Fixed": "1", "X-Var": "v " + x + " w", "Authorization": strings.TrimRight("Bearer "+x, " \t"), "Idempotency-Key": "call_1",
		"Accept-Encoding": "gzip",
	}
	for name, want := range wanted {
		if got := arrived.Header[name]; len(got) != 1 || got[0] != want {
			t.Errorf("the header %s is %q, want %q", name, got, want)
		}
	}
}

func checkBody(t *testing.T, body []byte, said, x, name string) {
	t.Helper()
	// Invalid UTF-8 becomes U+FFFD in JSON.
	said, x, name = strings.ToValidUTF8(said, "\uFFFD"), strings.ToValidUTF8(x, "\uFFFD"), strings.ToValidUTF8(name, "\uFFFD")
	var read map[string]any
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatalf("the body %q is no JSON: %v", body, err)
	}
	sameNames(t, "members", slices.Collect(maps.Keys(read)), []string{"note", "own", "fixed", name})
	own, _ := read["own"].(map[string]any)
	note, _ := read["note"].(map[string]any)
	sameNames(t, "members of own", slices.Collect(maps.Keys(own)), []string{"x", "list"})
	if squeeze(own["x"]) != squeeze("<"+x+">") || read["fixed"] != 1.0 ||
		len(note) != 1 || squeeze(note["deep"].([]any)[0]) != squeeze(said) {
		t.Errorf("the body is %q", body)
	}
}

// squeeze makes one U+FFFD of several: encoders differ in how many they write.
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
