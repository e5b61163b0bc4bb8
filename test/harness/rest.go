package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"

	"parlance.dev/parlance/test/contract"
)

// Problem is problem+json.
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`
	Instance  string `json:"instance"`
	RequestID string `json:"request_id"`
	Errors    []struct {
		Field   string `json:"field"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Fields are the names in errors[].
func (p Problem) Fields() []string {
	names := make([]string, len(p.Errors))
	for i, e := range p.Errors {
		names[i] = e.Field
	}
	return names
}

// Response is an answer that was read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// Problem is set if the answer is one.
	Problem Problem
}

// Code returns the problem's code, "" if the answer is not a problem.
func (r Response) Code() string { return r.Problem.Code }

// At returns a part of the JSON of the body: At("turns", 0, "id"). Nil if it does not exist.
func (r Response) At(steps ...any) any {
	var value any
	if err := json.Unmarshal(r.Body, &value); err != nil {
		return nil
	}
	return Path(value, steps...)
}

// Text returns At as a string, "" if it is not one.
func (r Response) Text(steps ...any) string {
	text, _ := r.At(steps...).(string)
	return text
}

// List returns At as an array, nil if it is not one.
func (r Response) List(steps ...any) []any {
	list, _ := r.At(steps...).([]any)
	return list
}

// Must fails the test unless the answer has the status.
func (r Response) Must(t testing.TB, status int) Response {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got %d %s, want %d", r.Status, r.Body, status)
	}
	return r
}

// Path returns a part of decoded JSON: strings are members, ints elements.
func Path(value any, steps ...any) any {
	for _, step := range steps {
		switch at := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[at]
		case int:
			list, _ := value.([]any)
			if at >= len(list) {
				return nil
			}
			value = list[at]
		}
	}
	return value
}

// With changes a request before it is sent.
type With func(*http.Request)

// Key sends another key than the admin's; "" sends none.
func Key(secret string) With {
	return func(r *http.Request) {
		r.Header.Del("Authorization")
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
	}
}

// Header sets a header; an empty value removes it.
func Header(name, value string) With {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

// Do makes a request with the key of Env.Tenant's admin. A body that is not a string, []byte or
// io.Reader is sent as JSON; nil is no body.
func (e *Env) Do(t testing.TB, method, path string, body any, with ...With) Response {
	t.Helper()
	response, err := e.Send(t, method, path, body, with...)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// Send is Do for requests that may get no answer. An answer that the OpenAPI document does not
// allow fails the test; one that the caller asked to have compressed is not compared.
func (e *Env) Send(t testing.TB, method, path string, body any, with ...With) (Response, error) {
	t.Helper()
	request, err := e.NewRequest(t, method, path, body, with...)
	if err != nil {
		return Response{}, err
	}
	ctx, cancel := context.WithTimeout(request.Context(), Patience)
	defer cancel()
	answer, err := http.DefaultClient.Do(request.WithContext(ctx))
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = answer.Body.Close() }() // read to its end
	out := Response{Status: answer.StatusCode, Header: answer.Header}
	if out.Body, err = io.ReadAll(answer.Body); err != nil {
		return out, err
	}
	compressed := answer.Header.Get("Content-Encoding") != ""
	switch kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); {
	case kind == "application/problem+json":
		err = json.Unmarshal(out.Body, &out.Problem)
	case kind == "application/json" && !compressed:
		if differs := contract.Answer(method, path, out.Status, out.Body); differs != nil {
			t.Errorf("%s %s answered what the OpenAPI document does not allow: %v\n%s", method, path, differs, out.Body)
		}
	}
	return out, err
}

// NewRequest makes the request that Do sends.
func (e *Env) NewRequest(t testing.TB, method, path string, body any, with ...With) (*http.Request, error) {
	t.Helper()
	content, err := reader(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(t.Context(), method, e.URL+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+e.Tenant.Admin)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, change := range with {
		change(request)
	}
	return request, nil
}

func reader(body any) (io.Reader, error) {
	switch body := body.(type) {
	case nil:
		return nil, nil //nolint:nilnil // no body, as http.NewRequest has it
	case string:
		return strings.NewReader(body), nil
	case []byte:
		return bytes.NewReader(body), nil
	case io.Reader:
		return body, nil
	}
	encoded, err := json.Marshal(body)
	return bytes.NewReader(encoded), err
}
