package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/server/rest/internal/resttestv1"
	"parlance.dev/parlance/server/rest/internal/resttestv1/resttestv1connect"
)

// The JSON of a thing with nothing in it, and with something of every kind.
const (
	emptyThing = `{"id":"","shelf_id":"s","display_name":"","weight_grams":0,"price":0,"fragile":false,"tags":[],` +
		`"extra":null,"made_at":null,"part":null,"labels":{},"serial":"0","raw":"","color":"COLOR_UNSPECIFIED","any":null,"parts":[]}`

	wholeThing = `{"id":"t1","shelf_id":"s","display_name":"Ünïcode <b>","weight_grams":5,"price":1.5,"fragile":true,"tags":["a","b"],` +
		`"extra":{"deep":{"n":[1,null,"x"]}},"made_at":"2026-01-31T12:00:00Z","part":{"part_name":"p","part_count":2},"note":"",` +
		`"labels":{"k":"v"},"serial":"9007199254740993","raw":"AQI=","color":"COLOR_RED","any":null,"parts":[{"part_name":"q","part_count":0}]}`
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{PublicURL: func(*http.Request) string { return "https://parlance.example" }})
	rows := []struct {
		name, request, body string
		status              int
		want                string
	}{
		{"empty body is {}", "POST /v1/shelves/s/things", "", 201, emptyThing},
		{"null is absent", "POST /v1/shelves/s/things", `{"tags":null,"note":null,"part":null,"weight_grams":null}`, 201, emptyThing},
		{"every kind comes back", "POST /v1/shelves/s/things", strings.Replace(wholeThing, `"shelf_id":"s",`, "", 1), 201, wholeThing},
		{"the path's value in the body", "POST /v1/shelves/s/things", `{"shelf_id":"s"}`, 201, emptyThing},
		{
			"lowerCamelCase", "POST /v1/shelves/s/things", `{"displayName":"d","weightGrams":5e1,"part":{"partName":"p"}}`, 201,
			strings.NewReplacer(`"display_name":""`, `"display_name":"d"`, `"weight_grams":0`, `"weight_grams":50`,
				`"part":null`, `"part":{"part_name":"p","part_count":0}`).Replace(emptyThing),
		},
		{
			"%2F stays in its variable", "GET /v1/shelves/a%2Fb/things/builtin:x%20y", "", 200,
			strings.NewReplacer(`"id":""`, `"id":"builtin:x y"`, `"shelf_id":"s"`, `"shelf_id":"a/b"`).Replace(emptyThing),
		},
		{
			"a fixed segment's name as a variable", "GET /v1/shelves/s/things/upload", "", 200,
			strings.Replace(emptyThing, `"id":""`, `"id":"upload"`, 1),
		},
		{"a body {} on GET", "GET /v1/versions/3", `{}`, 200, `{"version":3}`},
		{
			"query parameters",
			"GET /v1/shelves/s/things?page_size=7&onlyFragile=true&tags=a&tags=b&color=COLOR_RED&since=2026-01-31T12:00:00Z&max_price=2.5", "", 200,
			`{"asked":{"shelf_id":"s","page_size":7,"only_fragile":true,"tags":["a","b"],"color":"COLOR_RED",` +
				`"since":"2026-01-31T12:00:00Z","part":null,"max_price":2.5},"things":[],"next_page_token":""}`,
		},
		{
			"mask of a PATCH", "PATCH /v1/shelves/s/things/t", `{"display_name":null,"extra":{"a":1}}`, 200,
			`{"asked":{"shelf_id":"s","thing_id":"t","extra":{"a":1},"tags":[],"update_mask":null},"mask":["display_name","extra"]}`,
		},
		{
			"empty PATCH", "PATCH /v1/shelves/s/things/t", `{"thing_id":"t"}`, 200,
			`{"asked":{"shelf_id":"s","thing_id":"t","extra":null,"tags":[],"update_mask":null},"mask":[]}`,
		},
		{"204 has no body", "DELETE /v1/shelves/s/things/t", "", 204, ""},
		{
			"one field as the body", "PUT /v1/settings?dry_run=true", `{"part_count":4}`, 200,
			`{"asked":{"settings":{"part_name":"","part_count":4},"dry_run":true}}`,
		},
		{"without a stream", "POST /v1/turns/t", `{"text":"hello"}`, 200, `{"text":"t hello"}`},
	}
	for _, row := range rows {
		method, path, _ := strings.Cut(row.request, " ")
		response, body := ask(t, server, method, path, row.body)
		if response.StatusCode != row.status || body != row.want {
			t.Errorf("%s: got %d %s\nwant %d %s", row.name, response.StatusCode, body, row.status, row.want)
		}
	}
}

// refusal is the part of a problem that the rows below state.
type refusal struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Errors []struct {
		Field string `json:"field"`
		Code  string `json:"code"`
	} `json:"errors"`
}

func (r refusal) fields() string {
	var out []string
	for _, e := range r.Errors {
		out = append(out, e.Field+" "+e.Code)
	}
	return strings.Join(out, ", ")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{})
	const create, list = "POST /v1/shelves/s/things", "GET /v1/shelves/s/things?"
	rows := []struct {
		name, request, body string
		status              int
		code, fields        string
	}{
		{"unknown path", "GET /v1/nothing", "", 404, "route-not-found", ""},
		{"slash at the end", "GET /v1/shelves/s/things/", "", 404, "route-not-found", ""},
		{"empty variable", "GET /v1/shelves//things", "", 404, "route-not-found", ""},
		{"wrong verb", "PUT /v1/shelves/s/things", "", 405, "method-not-allowed", ""},
		{"manual without a handler", "POST /v1/shelves/s/things/upload", "", 501, "not-implemented", ""},
		{"an id that is no UTF-8", "GET /v1/shelves/%ff/things", "", 404, "not-found", ""},
		{"an id with NUL", "GET /v1/shelves/a%00/things", "", 404, "not-found", ""},
		{"a number that is none in the path", "GET /v1/versions/three", "", 404, "not-found", ""},

		{"malformed", create, `{"id":`, 400, "invalid-request", ""},
		{"two documents", create, `{} {}`, 400, "invalid-request", ""},
		{"no object", create, `[1]`, 400, "invalid-request", ""},
		{"null for the whole", create, `null`, 400, "invalid-request", ""},
		{"invalid UTF-8", create, "{\"id\":\"\xff\"}", 400, "invalid-request", ""},
		{
			"half a surrogate pair", create,
			`{"id":"\ud800","display_name":"\ud83d\ude00 \\ud800","tags":["\udc00\ud800"]}`, 400, "invalid-request",
			"id wrong_type, tags[0] wrong_type",
		},
		{
			"half a pair in free JSON", create, `{"extra":{"a":["\uDBFFx"],"\ud800":1}}`, 400, "invalid-request",
			`extra["a"][0] wrong_type, extra["\xff"] wrong_type`,
		},
		{"a byte order mark", create, "\ufeff{}", 400, "invalid-request", ""},
		{
			"NUL", create, `{"id":"a\u0000","extra":{"a":"\u0000"},"labels":{"\u0000":""}}`, 400, "invalid-request",
			`id wrong_type, extra["a"] wrong_type, labels["\x00"] wrong_type`,
		},
		{"unknown field", create, `{"idd":"x"}`, 400, "invalid-request", "idd unknown_field"},
		{"unknown nested field", create, `{"parts":[{},{"partNam":{"x":[1]}}]}`, 400, "invalid-request", "parts[1].partNam unknown_field"},
		{"duplicate", create, `{"display_name":"a","displayName":"b"}`, 400, "invalid-request", "display_name duplicate"},
		{"duplicate in free JSON", create, `{"extra":{"a":1,"a":2}}`, 400, "invalid-request", `extra["a"] duplicate`},
		{
			"every type at once", create,
			`{"id":1,"weight_grams":"5","price":"1","fragile":1,"tags":"a","extra":[],"made_at":"today","part":[],` +
				`"labels":{"k":1},"serial":1.5,"raw":"*","color":"RED","parts":[null]}`,
			400, "invalid-request",
			`id wrong_type, weight_grams wrong_type, price wrong_type, fragile wrong_type, tags wrong_type, extra ` +
				`wrong_type, made_at wrong_type, part wrong_type, ` +
				`labels["k"] wrong_type, serial wrong_type, raw wrong_type, color wrong_type, parts[0] wrong_type`,
		},
		{"too large for 32 bits", create, `{"weight_grams":2147483648}`, 400, "invalid-request", "weight_grams wrong_type"},
		{"no integer", create, `{"weight_grams":1.5}`, 400, "invalid-request", "weight_grams wrong_type"},
		{"a number no double holds", create, `{"price":1e999,"any":1e999}`, 400, "invalid-request", "price wrong_type, any wrong_type"},
		{"another value than the path", create, `{"shelf_id":"other"}`, 400, "invalid-request", "shelf_id mismatch"},
		{"the mask itself", "PATCH /v1/shelves/s/things/t", `{"update_mask":"tags"}`, 400, "invalid-request", "update_mask unknown_field"},
		{
			"the mask in lowerCamelCase", "PATCH /v1/shelves/s/things/t", `{"updateMask":"tags"}`, 400,
			"invalid-request", "updateMask unknown_field",
		},
		{"in one field's body", "PUT /v1/settings", `{"part_count":"4"}`, 400, "invalid-request", "settings.part_count wrong_type"},
		{
			"too deep", create, `{"extra":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200) + `}`, 400,
			"invalid-request", "extra" + strings.Repeat(`["a"]`, 99) + " too_deep",
		},
		{"a body on GET", "GET /v1/versions/3", `{"version":3}`, 400, "invalid-request", ""},
		{"a body on DELETE", "DELETE /v1/shelves/s/things/t", `{"force":true}`, 400, "invalid-request", ""},
		{"too large", create, `{"id":"` + strings.Repeat("x", 4096) + `"}`, 413, "body-too-large", ""},

		{"unknown parameter", list + "pagesize=1", "", 400, "invalid-request", "pagesize unknown_parameter"},
		{"a parameter beside a body", create + "?id=1", `{}`, 400, "invalid-request", "id unknown_parameter"},
		{"a path variable as a parameter", list + "shelf_id=s", "", 400, "invalid-request", "shelf_id unknown_parameter"},
		{"a message as a parameter", list + "part=x", "", 400, "invalid-request", "part unknown_parameter"},
		{
			"parameters of wrong types", list + "page_size=&only_fragile=yes&color=RED&since=today&max_price=Inf", "", 400, "invalid-request",
			"color wrong_type, max_price wrong_type, only_fragile wrong_type, page_size wrong_type, since wrong_type",
		},
		{"a parameter twice", list + "page_size=1&page_size=2", "", 400, "invalid-request", "page_size duplicate"},
		{"a parameter in both spellings", list + "page_size=1&pageSize=2", "", 400, "invalid-request", "page_size duplicate"},
		{"a malformed query", list + "tags=%zz", "", 400, "invalid-request", ""},
		{"a parameter that is no UTF-8", list + "tags=%ff", "", 400, "invalid-request", "tags wrong_type"},

		{
			"402 that Connect cannot say", "POST /v1/fail/quota-exceeded-kb-storage", "", 402,
			"quota-exceeded-kb-storage", "some_field quota-exceeded-kb-storage",
		},
		{
			"415 that Connect cannot say", "POST /v1/fail/kb-unsupported-media-type", "", 415,
			"kb-unsupported-media-type", "some_field kb-unsupported-media-type",
		},
		{"an error nobody decided", "POST /v1/fail/plain", "", 500, "internal", ""},
	}
	for _, row := range rows {
		method, path, _ := strings.Cut(row.request, " ")
		response, body := ask(t, server, method, path, row.body)
		var got refusal
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Errorf("%s: %d %q: %v", row.name, response.StatusCode, body, err)
			continue
		}
		if response.StatusCode != row.status || got.Status != row.status || got.Code != row.code || got.fields() != row.fields {
			t.Errorf("%s: got %d %s [%s]\nwant %d %s [%s]\n%s", row.name, response.StatusCode, got.Code, got.fields(),
				row.status, row.code, row.fields, body)
		}
		if response.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, `"request_id":"req-1"`) {
			t.Errorf("%s: not a problem with its request id: %s", row.name, body)
		}
		if strings.Contains(body, "hunter2") {
			t.Errorf("%s: the cause leaks: %s", row.name, body)
		}
	}
}

// TestRefusalsSayWhatThereIs: who misspelt a name is told the names that there are, and no others.
func TestRefusalsSayWhatThereIs(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{})
	for _, row := range []struct{ request, body, says, not string }{
		{"GET /v1/shelves/s/things?pagesize=1", "", "page_size", "shelf_id"}, // which is in the path
		{"POST /v1/shelves/s/things?id=1", `{}`, "there are none", "id,"},
		{"POST /v1/shelves/s/things", `{"idd":"x"}`, "display_name", "update_mask"},
		{"PATCH /v1/shelves/s/things/t", `{"update_mask":"tags"}`, "display_name", "update_mask,"},
	} {
		method, path, _ := strings.Cut(row.request, " ")
		_, body := ask(t, server, method, path, row.body)
		if !strings.Contains(body, row.says) || strings.Contains(body, row.not) {
			t.Errorf("%s %s: %s\nwant %q in it, and not %q", row.request, row.body, body, row.says, row.not)
		}
	}
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{})
	rows := []struct {
		header, body string
		status       int
	}{
		{"Content-Type: application/json; charset=UTF-8", `{}`, 201},
		{"Content-Type: ", `{}`, 201},
		{"Content-Type: application/x-www-form-urlencoded", ``, 201}, // curl -d ''
		{"Content-Type: application/x-www-form-urlencoded", `{}`, 415},
		{"Content-Type: application/json; charset=latin1", `{}`, 415},
		{"Content-Type: application/json;;", `{}`, 415},
		{"Content-Type: text/plain", strings.Repeat("x", 5000), 413},
		{"Content-Encoding: gzip", `{}`, 400},
		{"Content-Encoding: gzip", gzipped(`{}`), 201},
		{"Content-Encoding: GZIP", gzipped(`{"colour":1}`), 400},
		{"Content-Encoding: gzip", gzipped(`{}`) + "x", 400},
		{"Content-Encoding: gzip", gzipped(`{"id":"` + strings.Repeat("x", 8<<20) + `"}`), 413},
		{"Content-Encoding: identity", `{}`, 201},
		{"Content-Encoding: br", `{}`, 415},
		{"Content-Encoding: gzip, gzip", gzipped(gzipped(`{}`)), 415},
	}
	for _, row := range rows {
		response, body := ask(t, server, http.MethodPost, "/v1/shelves/s/things", row.body, row.header)
		if response.StatusCode != row.status {
			t.Errorf("%s %.10q: got %d %s, want %d", row.header, row.body, response.StatusCode, body, row.status)
		}
	}
}

// TestHeaders follows headers through the inner call in both directions.
func TestHeaders(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{PublicURL: func(*http.Request) string { return "https://parlance.example" }})
	response, _ := ask(t, server, http.MethodPost, "/v1/shelves/a%2Fb/things", `{"id":"t 1"}`,
		"Authorization: Bearer k", "Idempotency-Key: i", "Cookie: c=1", "X-Request-Id: mine", "X-Forwarded-For: 1.2.3.4", "Traceparent: tp")
	want := map[string]string{
		"Saw-Authorization": "Bearer k", "Saw-Idempotency-Key": "i", "Saw-X-Request-Id": "req-1", "Saw-Cookie": "",
		"Saw-X-Forwarded-For": "1.2.3.4", "Saw-Traceparent": "tp", "Ratelimit-Remaining": "7",
		"Location": "https://parlance.example/v1/shelves/a%2Fb/things/t%201", "Content-Type": "application/json", "X-Request-Id": "req-1",
	}
	for name, value := range want {
		if got := response.Header.Get(name); got != value {
			t.Errorf("%s: got %q, want %q", name, got, value)
		}
	}
	response, _ = ask(t, server, http.MethodPost, "/v1/fail/rate-limited", "")
	if response.StatusCode != 429 || response.Header.Get("Retry-After") != "3" || response.Header.Get("Ratelimit-Remaining") != "7" {
		t.Errorf("a refusal: %d %v", response.StatusCode, response.Header)
	}
	response, _ = ask(t, server, http.MethodPost, "/v1/fail/auth-missing", "")
	if response.StatusCode != 401 || response.Header.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("401: %d %v", response.StatusCode, response.Header)
	}
	response, _ = ask(t, server, http.MethodPut, "/v1/shelves/s/things/upload", "")
	if got := response.Header.Get("Allow"); got != "DELETE, GET, HEAD, PATCH, POST" {
		t.Errorf("Allow %q: the verbs of the fixed and of the variable segment", got)
	}
	response, body := ask(t, server, http.MethodHead, "/v1/versions/3", "")
	if response.StatusCode != 200 || body != "" || response.ContentLength != int64(len(`{"version":3}`)) {
		t.Errorf("HEAD: %d %q, length %d", response.StatusCode, body, response.ContentLength)
	}
}

func TestManualRoute(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{Manual: map[string]http.Handler{
		resttestv1connect.ThingServiceUploadThingProcedure: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(r.PathValue("shelf_id")))
		}),
	}})
	if _, body := ask(t, server, http.MethodPost, "/v1/shelves/a%2Fb/things/upload", "x"); body != "a/b" {
		t.Errorf("got %q", body)
	}
}

// TestUnknownProcedure has a contract that is ahead of the mux.
func TestUnknownProcedure(t *testing.T) {
	t.Parallel()
	empty := rest.New(rest.Config{Routes: routes(), RPC: http.NotFoundHandler()})
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/v1/versions/3", http.NoBody)
	empty.ServeHTTP(recorder, request)
	if recorder.Code != fault.Unimplemented.Status() {
		t.Errorf("got %d %s", recorder.Code, recorder.Body)
	}
	if request.Pattern != "GET /v1/versions/{version}" {
		t.Errorf("pattern %q", request.Pattern)
	}
}

// TestTruncatedBody breaks the connection's promise of a length.
func TestTruncatedBody(t *testing.T) {
	t.Parallel()
	facade := rest.New(rest.Config{Routes: routes(), RPC: http.NotFoundHandler()})
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/v1/turns/t", &cutShort{})
	facade.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusBadRequest {
		t.Errorf("got %d %s", recorder.Code, recorder.Body)
	}
}

// TestStalledBody: a caller whose body stood still is told so, though its context has ended.
func TestStalledBody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/turns/t", iotest.ErrReader(os.ErrDeadlineExceeded))
	answer := httptest.NewRecorder()
	rest.New(rest.Config{Routes: routes(), RPC: http.NotFoundHandler()}).ServeHTTP(answer, request)
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "stood still") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// TestConnectJSON calls the RPC side: the same JSON as REST, but unknown fields are let through.
func TestConnectJSON(t *testing.T) {
	t.Parallel()
	server, _ := serve(t, rest.Config{})
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8"} {
		response, body := ask(t, server, http.MethodPost, resttestv1connect.ThingServiceCreateThingProcedure,
			`{"shelfId":"s","newer_than_us":1}`, "Content-Type: "+contentType)
		if diff := cmp.Diff(emptyThing, body); diff != "" || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d (-want +got)\n%s", contentType, response.StatusCode, diff)
		}
	}
	client := resttestv1connect.NewThingServiceClient(server.Client(), server.URL, connect.WithProtoJSON())
	if _, err := client.GetVersion(t.Context(), &resttestv1.GetVersionRequest{Version: 3}); err != nil {
		t.Errorf("a Connect client: %v", err)
	}
}

// TestAdmit has a gate that lets in who says please, before anything is read.
func TestAdmit(t *testing.T) {
	t.Parallel()
	type key struct{}
	server, _ := serve(t, rest.Config{
		Admit: func(ctx context.Context, procedure string, request, answer http.Header) (context.Context, error) {
			answer.Set("Ratelimit-Limit", "60")
			if request.Get("Authorization") != "please" {
				return ctx, fault.New(fault.AuthMissing, "Say please for %s.", procedure)
			}
			return context.WithValue(ctx, key{}, procedure), nil
		},
		Manual: map[string]http.Handler{
			resttestv1connect.ThingServiceUploadThingProcedure: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = fmt.Fprint(w, r.Context().Value(key{}))
			}),
		},
	})
	rows := []struct {
		request, header, body string
		status                int
		want                  string
	}{
		{"POST /v1/turns/t", "", `{"malformed`, 401, "/resttest.v1.ThingService/CreateTurn"},
		{"POST /v1/turns/t", "Accept: text/event-stream", `{}`, 401, "/resttest.v1.ThingService/StreamTurn"},
		{"POST /v1/shelves/s/things/upload", "", `{}`, 401, "/resttest.v1.ThingService/UploadThing"},
		{"POST /v1/shelves/s/things/upload", "Authorization: please", `{}`, 200, "/resttest.v1.ThingService/UploadThing"},
		{"POST /v1/turns/t", "Authorization: please", `{"text":"x"}`, 200, `{"text":"t x"}`},
		{"GET /v1/nothing", "", "", 404, "route-not-found"},
	}
	for _, row := range rows {
		method, path, _ := strings.Cut(row.request, " ")
		response, body := ask(t, server, method, path, row.body, row.header)
		if response.StatusCode != row.status || !strings.Contains(body, row.want) {
			t.Errorf("%s %s: got %d %s, want %d %s", row.request, row.header, response.StatusCode, body, row.status, row.want)
		}
		if admitted := response.Header.Get("Ratelimit-Limit") != ""; admitted != (row.status != 404) {
			t.Errorf("%s: headers of the gate: %v", row.request, response.Header)
		}
	}
}

func gzipped(text string) string {
	var out bytes.Buffer
	compressor := gzip.NewWriter(&out)
	_, _ = io.WriteString(compressor, text) // into memory
	_ = compressor.Close()
	return out.String()
}
