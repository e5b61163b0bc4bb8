package scenario

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/test/harness"
)

// bad is a request that must be refused. Zero fields mean POST of JSON, 400 invalid-request.
type bad struct {
	method, path string
	body         any
	with         []harness.With
	status       int
	code         string
	// field must be among errors[].
	field string
}

// TestBadInput sends every row, checks its problem, and that nothing at all was stored.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows := map[string]bad{}
	for group, of := range map[string]func(*world) map[string]bad{
		"JSON": badJSON, "Values": badValues, "Ids": badIDs, "Paging": badPaging, "Tools": badTools,
		"Sessions": badSessions, "Webhooks": badWebhooks,
	} {
		for name, row := range of(w) {
			rows[group+"/"+name] = row
		}
	}
	maps.Copy(rows, badUploads(t, w))
	before, files := w.Counts(t), w.Files(t)
	t.Run("rows", func(t *testing.T) {
		for name, row := range rows {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				row.check(t, w)
			})
		}
	})
	if diff := cmp.Diff(before, w.Counts(t)); diff != "" {
		t.Errorf("bad input has stored something:\n%s", diff)
	}
	if diff := cmp.Diff(files, w.Files(t)); diff != "" {
		t.Errorf("bad input has left files:\n%s", diff)
	}
}

func (b bad) check(t *testing.T, w *world) {
	t.Helper()
	if b.method == "" {
		b.method = http.MethodPost
	}
	if b.status == 0 {
		b.status, b.code = 400, "invalid-request"
	}
	got := w.Do(t, b.method, b.path, b.body, b.with...)
	checkProblem(t, got, b.status, b.code)
	if b.field != "" && !slices.Contains(got.Problem.Fields(), b.field) {
		t.Errorf("errors[] does not name %s: %s", b.field, got.Body)
	}
	if got.Status == 500 || strings.Contains(string(got.Body), "SQLSTATE") || strings.Contains(string(got.Body), "proto:") {
		t.Errorf("the answer shows our insides: %s", got.Body)
	}
	if page := w.Do(t, "GET", strings.TrimPrefix(got.Problem.Type, w.URL), nil, harness.Key("")); page.Status != 200 {
		t.Errorf("type %q answers %d", got.Problem.Type, page.Status)
	}
}

func badJSON(w *world) map[string]bad {
	agents := w.owner.In("/agents")
	media := func(kind string) []harness.With { return []harness.With{harness.Header("Content-Type", kind)} }
	rows := map[string]bad{
		"UnknownField":     {body: `{"name":"x","colour":"red"}`, field: "colour"},
		"UnknownNested":    {body: `{"name":"x","model":{"colour":"red"}}`, field: "model.colour"},
		"MaskIsOurs":       {body: `{"name":"x","update_mask":"name"}`, field: "update_mask"},
		"Duplicate":        {body: `{"name":"x","name":"y"}`, field: "name"},
		"DuplicateSpelt":   {body: `{"name":"x","firstMessage":"a","first_message":"b"}`, field: "first_message"},
		"NumberForText":    {body: `{"name":5}`, field: "name"},
		"ListForText":      {body: `{"name":["x"]}`, field: "name"},
		"TextForNumber":    {body: `{"name":"x","model":{"temperature":"hot"}}`, field: "model.temperature"},
		"TextForObject":    {body: `{"name":"x","model":"gpt"}`, field: "model"},
		"ObjectForList":    {body: `{"name":"x","locked_overrides":{}}`, field: "locked_overrides"},
		"WrongElement":     {body: `{"name":"x","locked_overrides":["a",7]}`, field: "locked_overrides[1]"},
		"Fraction":         {body: `{"name":"x","max_duration_seconds":10.5}`, field: "max_duration_seconds"},
		"Overflow":         {body: `{"name":"x","max_duration_seconds":1e12}`, field: "max_duration_seconds"},
		"NotADouble":       {body: `{"name":"x","model":{"temperature":1e999}}`, field: "model.temperature"},
		"NullElement":      {body: `{"name":"x","locked_overrides":[null]}`, field: "locked_overrides[0]"},
		"NUL":              {body: `{"name":"a\u0000b"}`, field: "name"},
		"NULNested":        {body: `{"name":"x","voice":{"tts":{"voice":"a\u0000"}}}`, field: `voice.tts["voice"]`},
		"OtherWorkspace":   {body: `{"name":"x","workspace_id":"ws_other"}`, field: "workspace_id"},
		"UnknownParameter": {path: agents + "?dry_run=true", body: `{"name":"x"}`, field: "dry_run"},
		"LoneSurrogate":    {body: `{"name":"\ud800"}`, field: "name"},
		"Huge":             {body: `{"name":"x","instructions":"` + long(2<<20) + `"}`, status: 413, code: "body-too-large"},
		"HugeChunked": {
			body:   io.MultiReader(strings.NewReader(`{"name":"`), strings.NewReader(long(2<<20))),
			status: 413, code: "body-too-large",
		},
		"NotGzip": {body: `{"name":"x"}`, with: []harness.With{harness.Header("Content-Encoding", "gzip")}},
		"Brotli": {
			body: `{"name":"x"}`, with: []harness.With{harness.Header("Content-Encoding", "br")},
			status: 415, code: "unsupported-media-type",
		},
		"GzipBomb": {
			body: bomb(64 << 20), with: []harness.With{harness.Header("Content-Encoding", "gzip")},
			status: 413, code: "body-too-large",
		},
		"ByteOrderMark": {body: "\ufeff" + `{"name":"x"}`},
		"Deep":          {body: `{"name":"x","voice":{"tts":` + strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000) + `}}`},
		"DeepList":      {body: `{"name":"x","voice":{"tts":{"a":` + strings.Repeat(`[`, 20000) + strings.Repeat(`]`, 20000) + `}}}`},
		"BodyOfGet":     {method: "GET", body: `{"page_size":1}`},
		"UnknownOfGet":  {method: "GET", path: agents + "?page=2", field: "page"},
		"TwiceInQuery":  {method: "GET", path: agents + "?page_size=1&page_size=2", field: "page_size"},
		"BadEscape":     {method: "GET", path: agents + "?page_size=%zz"},
	}
	for name, body := range map[string]string{
		"Empty": ``, "Malformed": `{"name":`, "Trailing": `{"name":"x"}{}`, "TrailingText": `{"name":"x"} x`,
		"Array": `[]`, "Null": `null`, "Text": `"x"`,
		"SingleQuotes": `{'name':'x'}`, "InvalidUTF8": "{\"name\":\"\xff\xfe\"}", "UTF16": "\xff\xfe{\x00}\x00",
		"NotJSON": "name=x", "NaN": `{"model":{"temperature":NaN}}`,
		"Comment": `{"name":"x"} // y`, "TooManyErrors": `{` + strings.Repeat(`"a":1,`, 5000) + `"b":1}`,
	} {
		rows[name] = bad{body: body}
	}
	for name, kind := range map[string]string{
		"Text": "text/plain", "Form": "application/x-www-form-urlencoded",
		"Latin": "application/json; charset=iso-8859-1", "Garbage": ";;", "Proto": "application/proto",
	} {
		rows["MediaType"+name] = bad{body: `{"name":"x"}`, with: media(kind), status: 415, code: "unsupported-media-type"}
	}
	for name, row := range rows {
		if row.path == "" {
			row.path = agents
			rows[name] = row
		}
	}
	return rows
}

func badValues(w *world) map[string]bad {
	agents := w.owner.In("/agents")
	agent := agents + "/" + w.id("agent_id")
	return map[string]bad{
		"NameMissing":      {path: agents, body: `{}`, field: "name"},
		"NameNull":         {path: agents, body: `{"name":null}`, field: "name"},
		"NameEmpty":        {path: agents, body: `{"name":""}`, field: "name"},
		"NameLong":         {path: agents, body: `{"name":"` + long(201) + `"}`, field: "name"},
		"NameControl":      {path: agents, body: `{"name":"a\u001b[31mb"}`, field: "name"},
		"NameNewline":      {path: agents, body: `{"name":"a\nb"}`, field: "name"},
		"WorkspaceControl": {path: "/v1/workspaces", body: `{"name":"a\u0007b"}`, field: "name"},
		"KeyControl":       {path: "/v1/api-keys", body: `{"name":"a\r\nb"}`, field: "name"},
		"SourceControl":    {path: w.owner.In("/knowledge-base/sources/inline"), body: `{"name":"a\u007fb","content":"x"}`, field: "name"},
		"Instructions":     {path: agents, body: `{"name":"x","instructions":"` + long(100001) + `"}`, field: "instructions"},
		"Temperature":      {path: agents, body: `{"name":"x","model":{"temperature":2.5}}`, field: "model.temperature"},
		"Ranking":          {path: agents, body: `{"name":"x","retrieval":{"ranking":"best"}}`, field: "retrieval.ranking"},
		"Duration":         {path: agents, body: `{"name":"x","max_duration_seconds":9}`, field: "max_duration_seconds"},
		"FatigueLength":    {path: agents, body: `{"name":"x","fatigue":[{"window":"1d","max_turns":1}]}`, field: "fatigue[0].window"},
		"InjectionPolicy":  {path: agents, body: `{"name":"x","injection_policy":"maybe"}`, field: "injection_policy"},
		"PatchClearsName":  {method: "PATCH", path: agent, body: `{"name":null}`, field: "name"},
		"PatchUnknown":     {method: "PATCH", path: agent, body: `{"nam":"x"}`, field: "nam"},
		"PatchVersion":     {method: "PATCH", path: agent, body: `{"version":7}`, field: "version"},
		"DisabledUnknown":  {method: "PATCH", path: agent + "/tools-config", body: `{"disabled_tools":["nothing"]}`},
		"DisabledSystem": {
			method: "PATCH", path: agent + "/tools-config", body: `{"disabled_tools":["end_call"]}`,
			status: 400, code: "system-tool-always-on",
		},
		"RollbackToNothing": {path: agent + "/versions/99/rollback", body: `{}`, status: 404, code: "not-found"},
		"KeyScope":          {path: "/v1/api-keys", body: `{"name":"k","scope":"root"}`, field: "scope"},
		"KeyExpired":        {path: "/v1/api-keys", body: `{"name":"k","expires_at":"2001-01-01T00:00:00Z"}`, field: "expires_at"},
		"KeyExpiresWhen":    {path: "/v1/api-keys", body: `{"name":"k","expires_at":"tomorrow"}`, field: "expires_at"},
		"SourceEmpty":       {path: w.owner.In("/knowledge-base/sources/inline"), body: `{"name":"n","content":""}`, field: "content"},
		"SourceOver1MiB": {
			path: w.owner.In("/knowledge-base/sources/inline"),
			body: `{"name":"n","content":"` + long(1<<20+1) + `"}`, status: 413, code: "body-too-large",
		},
		"SourceOver8MiB": {
			path: w.owner.In("/knowledge-base/sources/inline"),
			body: `{"name":"n","content":"` + long(9<<20) + `"}`, status: 413, code: "body-too-large",
		},
		"ForceOCR": {
			path: w.owner.In("/knowledge-base/sources/" + w.id("source_id") + "/reprocess"),
			body: `{"force_ocr":true}`, field: "force_ocr",
		},
		"OCRLanguage": {
			path: w.owner.In("/knowledge-base/sources/" + w.id("source_id") + "/reprocess"),
			body: `{"ocr_languages":["eng","../deu"]}`, field: "ocr_languages",
		},
		"AttachNone": {path: agent + "/knowledge-base/attach", body: `{"source_ids":[]}`, field: "source_ids"},
		"AttachUnknown": {path: agent + "/knowledge-base/attach", body: `{"source_ids":["` + w.id("source_id") +
			`","src_none"]}`, status: 404, code: "not-found"},
		"AttachMode": {path: agent + "/knowledge-base/attach", body: `{"source_ids":["` + w.id("source_id") +
			`"],"usage_mode":"often"}`, field: "usage_mode"},
		"QueryTopK": {path: w.owner.In("/knowledge-base/query"), body: `{"agent_id":"` + w.id("agent_id") +
			`","q":"x","top_k":51}`, field: "top_k"},
		"QueryFloor": {path: w.owner.In("/knowledge-base/query"), body: `{"agent_id":"` + w.id("agent_id") +
			`","q":"x","min_similarity":-0.1}`, field: "min_similarity"},
		"EvaluateNothing": {
			path: w.owner.In("/knowledge-base/evaluations"),
			body: `{"agent_id":"` + w.id("agent_id") + `","questions":[]}`, field: "questions",
		},
		"EvaluateUnknown": {
			path:  w.owner.In("/knowledge-base/evaluations"),
			body:  `{"agent_id":"` + w.id("agent_id") + `","questions":[{"q":"x","source_names":["no such"]}]}`,
			field: "questions[0].source_names[0]",
		},
		"EvaluateRanking": {
			path: w.owner.In("/knowledge-base/evaluations"),
			body: `{"agent_id":"` + w.id("agent_id") + `","rankings":["best"],"questions":[{"q":"x","source_names":["n"]}]}`, field: "rankings[0]",
		},
		"EvaluateTopK": {
			path: w.owner.In("/knowledge-base/evaluations"),
			body: `{"agent_id":"` + w.id("agent_id") + `","top_k":51,"questions":[{"q":"x","source_names":["n"]}]}`, field: "top_k",
		},
		"QueryNothing": {path: w.owner.In("/knowledge-base/query"), body: `{"agent_id":"` + w.id("agent_id") + `"}`, field: "q"},
	}
}

func (w *world) id(name string) string {
	id, _ := w.values[name].(string)
	return id
}

// badIDs are ids of the wrong shape in every place of every route: 404, never 400 or 500.
func badIDs(w *world) map[string]bad {
	rows := map[string]bad{}
	for _, r := range parlancev1rest.Routes {
		names := variables(r.Pattern)
		if r.Method != http.MethodGet || len(names) == 0 {
			continue
		}
		for kind, id := range map[string]string{
			"Short": "x", "Dots": "..%2F..%2Fetc", "NUL": "%00", "UTF8": "%FF%FE", "Quote": "%27%3B--",
			"Long": long(5000), "Newline": "a%0Ab", "Dot": "%2E%2E", "Number": "-1",
		} {
			values := map[string]any{}
			maps.Copy(values, w.values)
			last := names[len(names)-1]
			if last == "user_id" {
				continue // the caller's own: a user never seen has no memory
			}
			values[last] = id
			pattern := r.Pattern
			for _, name := range names {
				pattern = strings.Replace(pattern, "{"+name+"}", fmt.Sprint(values[name]), 1)
			}
			rows[kind+strings.ReplaceAll(r.Pattern, "/", " ")] = bad{method: "GET", path: pattern, status: 404, code: "not-found"}
		}
	}
	return rows
}

// badPaging is every list with every bad page.
func badPaging(w *world) map[string]bad {
	rows := map[string]bad{
		"Limit0":    {method: "GET", path: w.owner.In("/webhooks/" + w.id("endpoint_id") + "/deliveries?limit=0"), field: "limit"},
		"Limit201":  {method: "GET", path: w.owner.In("/webhooks/" + w.id("endpoint_id") + "/deliveries?limit=201"), field: "limit"},
		"LimitWord": {method: "GET", path: w.owner.In("/webhooks/" + w.id("endpoint_id") + "/deliveries?limit=all"), field: "limit"},
		"After":     {method: "GET", path: w.owner.In("/events?after=nowhere"), field: "after"},
		"Status":    {method: "GET", path: "/v1/sessions?status=lost", field: "status"},
		"Boolean":   {method: "GET", path: w.owner.In("/tools?include_hidden=maybe"), field: "include_hidden"},
	}
	for _, r := range parlancev1rest.Routes {
		fields := r.Request.ProtoReflect().Descriptor().Fields()
		if r.Method != http.MethodGet || r.ServerStream {
			continue
		}
		path := r.Pattern
		for _, name := range variables(r.Pattern) {
			path = strings.Replace(path, "{"+name+"}", fmt.Sprint(w.values[name]), 1)
		}
		for parameter, values := range map[string][]string{
			"page_size":  {"-1", "201", "1e3", "many", "99999999999"},
			"page_token": {"nonsense", "eyJ9", "AAAA"},
		} {
			if fields.ByName(protoreflect.Name(parameter)) == nil {
				continue
			}
			for _, value := range values {
				rows[parameter+value+strings.ReplaceAll(r.Pattern, "/", " ")] = bad{
					method: "GET",
					path:   path + "?" + parameter + "=" + value, field: parameter,
				}
			}
		}
	}
	return rows
}

func badTools(w *world) map[string]bad {
	rows := map[string]bad{}
	add := func(name, field, members string) {
		rows[name] = bad{
			path: w.owner.In("/tools"),
			body: `{"slug":"t","description":"d","kind":"http","webhook_url":"https://x.example/",` + members + `}`, field: field,
		}
	}
	add("HeaderCRLF", "headers", `"headers":{"X-A":"a\r\nX-B: c"}`)
	add("HeaderName", "headers", `"headers":{"X A":"a"}`)
	add("HeaderNameCRLF", "headers", `"headers":{"X\r\nY":"a"}`)
	add("HeaderHost", "headers", `"headers":{"Host":"a"}`)
	add("HeaderLength", "headers", `"headers":{"Content-Length":"1"}`)
	add("AuthCRLF", "auth_header", `"auth_header":"Bearer a\r\nX: y"`)
	add("Schema", "input_schema", `"input_schema":{"type":"object","properties":{"a":{"type":"text"}}}`)
	add("SchemaNotObject", "input_schema", `"input_schema":{"type":"string"}`)
	add("SchemaRemote", "input_schema", `"input_schema":{"type":"object","$ref":"https://evil.example/s.json"}`)
	add("PathParams", "path_params[0]", `"path_params":["a"]`)
	add("QueryParams", "query_params[0]", `"query_params":["a"]`)
	add("Timeout", "timeout_seconds", `"timeout_seconds":121`)
	add("Method", "method", `"method":"TRACE"`)
	for name, url := range map[string]string{
		"URLScheme": "ftp://x.example/", "URLUser": "https://u:p@x.example/",
		"URLPrivate": "http://10.0.0.1/", "URLMeta": "http://169.254.169.254/", "URLNothing": "nonsense",
		"URLControl": `https://x.example/\u0001`,
	} {
		rows[name] = bad{
			path: w.owner.In("/tools"),
			body: `{"slug":"t","description":"d","kind":"http","webhook_url":"` + url + `"}`, field: "webhook_url",
		}
	}
	rows["NoURL"] = bad{path: w.owner.In("/tools"), body: `{"slug":"t","description":"d","kind":"http"}`, field: "webhook_url"}
	rows["NoServer"] = bad{path: w.owner.In("/tools"), body: `{"slug":"t","description":"d","kind":"mcp"}`, field: "mcp_server_url"}
	rows["SlugTaken"] = bad{
		path: w.owner.In("/tools"),
		body: `{"slug":"SHOP","description":"d","kind":"http","webhook_url":"https://x.example"}`, status: 409, code: "tool-slug-taken",
	}
	rows["Reserved"] = bad{
		path: w.owner.In("/tools"),
		body: `{"slug":"endcall","description":"d","kind":"http","webhook_url":"https://x.example"}`, status: 409, code: "tool-name-reserved",
	}
	rows["PatchSlug"] = bad{method: "PATCH", path: w.owner.In("/tools/" + w.id("tool_id")), body: `{"slug":"other"}`, field: "slug"}
	rows["RunSystem"] = bad{path: w.owner.In("/tools/system:end_call/run"), body: `{}`}
	rows["RunArguments"] = bad{path: w.owner.In("/tools/" + w.id("tool_id") + "/run"), body: `{"args":[]}`, field: "args"}
	return rows
}

func badSessions(w *world) map[string]bad {
	rows := map[string]bad{
		"NoAgent":    {path: "/v1/sessions", body: `{"user_id":"u"}`, field: "agent_id"},
		"OtherAgent": {path: "/v1/sessions", body: `{"agent_id":"agt_none","user_id":"u"}`, status: 404, code: "not-found"},
		"EndStatus":  {path: "/v1/sessions/" + w.id("session_id") + "/end", body: `{"status":"gone"}`, field: "status"},
		"EndReason": {
			path: "/v1/sessions/" + w.id("session_id") + "/end",
			body: `{"status":"completed","reason":"` + long(501) + `"}`, field: "reason",
		},
		"TurnEmpty": {path: "/v1/sessions/" + w.id("session_id") + "/turns", body: `{"text":""}`, field: "text"},
		"TurnLong":  {path: "/v1/sessions/" + w.id("session_id") + "/turns", body: `{"text":"` + long(32001) + `"}`, field: "text"},
		"TurnNUL":   {path: "/v1/sessions/" + w.id("session_id") + "/turns", body: `{"text":"a\u0000"}`, field: "text"},
		"TurnEvents": {
			path: "/v1/sessions/" + w.id("session_id") + "/turns", body: `{"txt":"a"}`,
			with: []harness.With{harness.Header("Accept", "text/event-stream")}, field: "txt",
		},
		"SocketToken": {
			method: "GET", path: "/v1/realtime/chat/" + w.id("session_id") + "?token=x", status: 401,
			code: "session-token-invalid", with: upgrade(),
		},
	}
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprintf(`"v%d":"x"`, i))
	}
	for name, row := range map[string][2]string{
		"TTL": {"ttl_seconds", `"ttl_seconds":59`}, "Modality": {"modality", `"modality":"video"`},
		"Override": {"overrides.colour", `"overrides":{"colour":"red"}`}, "OverrideType": {
			"overrides.temperature",
			`"overrides":{"temperature":"hot"}`,
		},
		"Voice":         {"voice_stack_override.mood", `"voice_stack_override":{"mood":{}}`},
		"VariableName":  {`dynamic_variables["a b"]`, `"dynamic_variables":{"a b":"x"}`},
		"VariableOurs":  {`dynamic_variables["system__x"]`, `"dynamic_variables":{"system__x":"x"}`},
		"VariableLong":  {"", `"dynamic_variables":{"a":"` + long(4097) + `"}`},
		"VariablesMany": {"dynamic_variables", `"dynamic_variables":{` + strings.Join(many, ",") + `}`},
	} {
		rows[name] = bad{path: "/v1/sessions", body: `{"agent_id":"` + w.id("agent_id") + `","user_id":"u",` + row[1] + `}`, field: row[0]}
	}
	return rows
}

func upgrade() []harness.With {
	return []harness.With{
		harness.Header("Connection", "Upgrade"), harness.Header("Upgrade", "websocket"),
		harness.Header("Sec-WebSocket-Version", "13"), harness.Header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
	}
}

func badWebhooks(w *world) map[string]bad {
	at := w.owner.In("/webhooks")
	return map[string]bad{
		"HTTP":    {path: at, body: `{"url":"http://x.example/","events":["nothing"]}`, status: 400, code: "webhook-url-not-https"},
		"Event":   {path: at, body: `{"url":"https://10.0.0.1/","events":["nothing"]}`, status: 400, code: "webhook-event-unknown"},
		"Private": {path: at, body: `{"url":"https://10.0.0.1/","events":["invoice.paid"]}`, status: 400, code: "webhook-url-not-public"},
		"Unresolvable": {
			path: at, body: `{"url":"https://nothing.invalid/","events":["invoice.paid"]}`, status: 400,
			code: "webhook-url-unresolvable",
		},
		"NoURL": {path: at, body: `{"events":["invoice.paid"]}`, field: "url"},
		"Patch": {
			method: "PATCH", path: at + "/" + w.id("endpoint_id"), body: `{"url":"http://x.example"}`,
			status: 400, code: "webhook-url-not-https",
		},
		"TestEvent": {path: at + "/" + w.id("endpoint_id") + "/test", body: `{"event":"nothing"}`, status: 400, code: "webhook-event-unknown"},
		"Redeliver": {path: at + "/" + w.id("endpoint_id") + "/deliveries/dlv_none/redeliver", body: `{}`, status: 404, code: "not-found"},
	}
}

func badUploads(t *testing.T, w *world) map[string]bad {
	t.Helper()
	path := w.owner.In("/knowledge-base/sources/upload")
	text := part{name: "file", filename: "a.txt", mediaType: "text/plain", content: "Some text."}
	rows := map[string]bad{
		"Upload/Garbage": {
			path: path, body: "no form at all",
			with: []harness.With{harness.Header("Content-Type", "multipart/form-data; boundary=b")},
		},
		"Upload/NoBoundary": {path: path, body: "x", with: []harness.With{harness.Header("Content-Type", "multipart/form-data")}},
		"Upload/JSON":       {path: path, body: `{}`, status: 415, code: "unsupported-media-type"},
	}
	add := func(name string, row bad, parts ...part) {
		body, contentType := form(t, parts...)
		row.path, row.body, row.with = path, body, []harness.With{harness.Header("Content-Type", contentType)}
		rows["Upload/"+name] = row
	}
	unsupported := bad{status: 415, code: "kb-unsupported-media-type"}
	add("NoFile", bad{field: "file"}, part{name: "name", content: "x"})
	add("NoParts", bad{})
	add("OtherPart", bad{field: "colour"}, part{name: "colour", content: "red"}, text)
	add("OtherPartAfter", bad{field: "colour"}, text, part{name: "colour", content: "red"})
	add("TwoFiles", bad{field: "file"}, text, text)
	add("TwoNames", bad{field: "name"}, part{name: "name", content: "a"}, text, part{name: "name", content: "b"})
	add("NameLong", bad{field: "name"}, part{name: "name", content: long(201)}, text)
	add("NameUTF8", bad{field: "name"}, part{name: "name", content: "\xff"}, text)
	add("NameNUL", bad{field: "name"}, text, part{name: "name", content: "a\x00b"})
	add("Program", unsupported, part{name: "file", filename: "a.exe", mediaType: "application/x-msdownload", content: "MZ"})
	add("Disguised", unsupported, part{
		name: "file", filename: "a.txt", mediaType: "text/plain",
		content: "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 100),
	})
	add("Picture", unsupported, part{
		name: "file", filename: "a.md", mediaType: "text/markdown",
		content: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
	})
	whole, contentType := form(t, text)
	rows["Upload/Cut"] = bad{path: path, body: whole[:len(whole)-20], with: []harness.With{harness.Header("Content-Type", contentType)}}
	return rows
}

// TestTruncatedBodies announce more than they send.
func TestTruncatedBodies(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	upload, contentType := form(t, part{name: "file", filename: "a.txt", mediaType: "text/plain", content: "Some text."})
	before := env.Counts(t)
	for name, row := range map[string]struct{ path, contentType, body string }{
		"JSON":         {env.Tenant.In("/agents"), "application/json", `{"name":"x"}`},
		"JSONPart":     {env.Tenant.In("/agents"), "application/json", `{"name":`},
		"Upload":       {env.Tenant.In("/knowledge-base/sources/upload"), contentType, upload[:len(upload)-20]},
		"UploadInFile": {env.Tenant.In("/knowledge-base/sources/upload"), contentType, upload[:len(upload)/2]},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(env.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
				row.path, env.Tenant.Admin, row.contentType, len(row.body)+100, row.body)
			if half, ok := conn.(*net.TCPConn); ok {
				_ = half.CloseWrite() // the answer shows whether it went
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				return // hung up on, as we on it: what counts is that nothing is stored
			}
			defer func() { _ = answer.Body.Close() }()
			if answer.StatusCode < 400 || answer.StatusCode >= 500 {
				body, _ := io.ReadAll(answer.Body)
				t.Errorf("half a body was taken: %d %s", answer.StatusCode, body)
			}
		})
	}
	if diff := cmp.Diff(before, env.Counts(t)); diff != "" {
		t.Errorf("half a body has stored something:\n%s", diff)
	}
	if files := env.Files(t); len(files) != 0 {
		t.Errorf("half a body has left files: %v", files)
	}
}
