package tools_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"parlance.dev/parlance/platform/postgres"
	"parlance.dev/parlance/test/fake/httptool"
	"parlance.dev/parlance/tools"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestAnswerTypes has the endpoint answer in many types and looks at what the model gets, exactly.
func TestAnswerTypes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	page := `<!doctype html><html><head><title>Orders</title><style>p{color:red}</style><script>steal("it")</script></head>
		<body><!-- hidden --><h1>Your&nbsp;orders</h1><svg><svg></svg><text>drawn</text></svg><p>Two <b>of</b>
		them &amp; more.</p><ul><li>one<li>two</ul><table><tr><th>Id</th><th>State</th></tr><tr><td>7</td><td></td><td>sent</td></tr></table>
		<pre>a  b
c</pre><img src=x alt="A map"><template>later</template><noscript>no script</noscript></body></html>`
	seen := "Orders\nYour orders\nTwo of them & more.\n- one\n- two\nId | State\n7 | | sent\na  b\nc\nA map"
	soap := `<?xml version="1.0"?><!-- c --><s:Envelope xmlns:s="urn:x" xmlns="urn:y">
		<s:Body>  <order id="7" note="a&amp;&quot;b"> sent &lt;now&gt; </order> <none></none> </s:Body>
	</s:Envelope>`
	rows := []struct{ name, media, body, want string }{
		{"HTML", "text/html; charset=utf-8", page, seen},
		{"HTML without a type", "", page, seen},
		{"XHTML", "application/xhtml+xml", "<p>a<br/>b</p>", "a\nb"},
		{"HTML in Latin 1", "text/html; charset=iso-8859-1", "<p>Gr\xfc\xdfe</p>", "Grüße"},
		{"HTML that says its encoding", "text/html", "<meta charset=shift_jis><p>\x93\xfa\x96{</p>", "日本"},
		{
			"hidden elements", "text/html", `<div hidden>1<div>2</div>3</div>a<p style="Display : none">4<p>b<br hidden>` +
				`<span style="color:red;visibility:hidden">5<b>6</b></span>c<img hidden alt=7><ul><li hidden>8<ul><li>9</ul><li>d<li hidden>10</ul>` +
				`<table><tr hidden><td>11<td>12<tr><td>e<td hidden>13<th>f</table><p hidden>14</p>g<x-y hidden>15</x-y>h`,
			"a\nbc\n- d\ne | f\ngh",
		},
		{"an unclosed script", "text/html", "<p>a</p><script>var x = '<p>b</p>'", "a"},
		{"JSON called HTML", "text/html", `{"a": [1]}`, `{"a":[1]}`},
		{"JSON, laid out", "application/json", "{\n  \"a\" : [ 1.50, \"x  y\" ]\n}\n", `{"a":[1.50,"x  y"]}`},
		{"JSON called picture", "image/png", `{"a": "json"}`, `{"a":"json"}`},
		{"JSON called PDF", "application/pdf", "[1, 2]\n", "[1,2]"},
		{"a picture that is text", "image/png", "no picture", "[binary answer: image/png, 10 bytes; it cannot be shown as text]"},
		{"JSON in UTF-16", "application/json; charset=utf-16le", "{\x00}\x00", "{}"},
		{"a byte order mark", "application/json", "\xef\xbb\xbf{}", "{}"},
		{
			"XML", "application/soap+xml", soap,
			`<s:Envelope><s:Body><order id="7" note="a&amp;&quot;b">sent &lt;now&gt;</order><none/></s:Body></s:Envelope>`,
		},
		{"XML that says its encoding", "text/xml", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xfc</a>", "<a>ü</a>"},
		{"XML that bites", "text/xml", `<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><a>&z;</a>`, "<a>&amp;z;</a>"},
		{"no XML", "text/xml", "<a><b", "<a><b"},
		{"text in windows-1252", "text/plain; charset=windows-1252", "10 \x80", "10 €"},
		{"text in an unknown charset", "text/plain; charset=nonsense", "a\xff", "a\uFFFD"},
		{"CSV", "text/csv", "a,b\n1,2\n", "a,b\n1,2\n"},
		{"text without a type", "", "just words", "just words"},
		{
			"bytes without a type", "application/octet-stream", "\x01\x02\xff",
			"[binary answer: application/octet-stream, 3 bytes; it cannot be shown as text]",
		},
		{"PDF", "application/pdf", "%PDF-1.7\n", "[binary answer: application/pdf, 9 bytes; it cannot be shown as text]"},
		{
			"a long picture", "image/png", "\x89PNG" + strings.Repeat("x", 50_000),
			"[binary answer: image/png, more than 20000 bytes; it cannot be shown as text]",
		},
		{"a short picture", "image/png", "\x89PNG" + strings.Repeat("x", 50), "[binary answer: image/png, 54 bytes; it cannot be shown as text]"},
	}
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			header := map[string]string{"Content-Type": row.media}
			if row.media == "" {
				header = map[string]string{"Content-Type": ""}
			}
			outcome := f.answer(t, i, httptool.Step{Header: header, Body: row.body}, 20_000)
			if outcome.Error != nil || outcome.Output != row.want {
				t.Errorf("got  %q, %+v\nwant %q", outcome.Output, outcome.Error, row.want)
			}
		})
	}
}

// answer is what comes of a call that is answered by step.
func (f *fixture) answer(t *testing.T, i int, step httptool.Step, maxBytes int) tools.Outcome {
	t.Helper()
	path := fmt.Sprint("/type", i)
	f.endpoint.Script(path, step)
	params := f.orderParams(path)
	params.Slug, params.Config.ResponseMaxBytes = fmt.Sprint("type", i), maxBytes
	return f.call(t, f.attached(t, f.create(t, params), 0), `{}`, nil)
}

// TestCutAnswers: whatever is cut says so, and what decompresses to a lot is read no further than
// the tool allows.
func TestCutAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	bomb := gzipped(t, strings.Repeat("0", 64<<20))
	steps := []httptool.Step{
		{Header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip"}, Body: bomb},
		{Header: map[string]string{"Content-Type": "text/plain"}, Body: "x" + strings.Repeat("ü", 1024)},
		{Header: map[string]string{"Content-Type": "application/octet-stream"}, Body: "x" + strings.Repeat("ü", 1024)},
		{Header: map[string]string{"Content-Type": "text/html"}, Body: "<p>" + strings.Repeat("<i>word</i> ", 200)},
		{Header: map[string]string{"Content-Type": "text/xml"}, Body: "<a>" + strings.Repeat("<i>1</i>\n", 200)},
		{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"a":"` + strings.Repeat("y", 2000) + `"}`},
	}
	for i, step := range steps {
		outcome := f.answer(t, i, step, 1024)
		if outcome.Error != nil || !strings.HasSuffix(outcome.Output, "\n[cut: the answer is longer than 1024 bytes]") ||
			len(outcome.Output) > 1100 {
			t.Errorf("%d: got %d bytes, %.100q … %+v", i, len(outcome.Output), outcome.Output, outcome.Error)
		}
		if strings.Contains(outcome.Output, "\uFFFD") || strings.Contains(outcome.Output, "<i>word") || outcome.OutputJSON != nil {
			t.Errorf("%d: got %.200q", i, outcome.Output)
		}
	}
}

// TestEchoedSpellings has endpoints repeat a secret in every spelling that programs use.
func TestEchoedSpellings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const secret = `pa$$/w"rd&<42>`
	quoted := func(s string) string { out, _ := json.Marshal(s); return string(out) }
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + secret + ":end"))
	echoes := map[string]string{
		"as it is":              secret,
		"twice":                 secret + secret,
		"URL":                   "?k=" + url.QueryEscape(secret) + "&z=1",
		"URL in small letters":  strings.ToLower(url.QueryEscape(secret)),
		"every byte escaped":    percent(secret),
		"URL in a URL":          url.QueryEscape("https://x/?k=" + url.QueryEscape(secret)),
		"JSON":                  quoted(secret),
		"JSON in JSON":          quoted(`{"k":` + quoted(secret) + `}`),
		"JSON in JSON in JSON":  quoted(quoted(quoted(secret))),
		"JSON of code points":   `"` + codePoints(secret) + `"`,
		"HTML":                  html.EscapeString(secret),
		"HTML of numbers":       numbered(secret),
		"HTML of URL":           html.EscapeString(url.QueryEscape(secret)),
		"base64":                base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 for URLs":       base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"base64 of more":        encoded,
		"base64 of more by one": base64.StdEncoding.EncodeToString([]byte("user1:" + secret + ":end")),
		"base64 of more by two": base64.StdEncoding.EncodeToString([]byte("user12:" + secret + ":end")),
		"base64 in lines":       encoded[:12] + "\r\n" + encoded[12:],
		"hexadecimal":           hex.EncodeToString([]byte(secret)),
		"HEXADECIMAL":           strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"broken by a line end":  secret[:5] + "\n" + secret[5:],
		"with U+200B":           secret[:5] + "\u200b" + secret[5:],
		"with a tag character":  secret[:5] + "\U000e0041" + secret[5:],
		"broken and indented":   secret[:5] + "\r\n\t" + secret[5:],
	}
	i := 0
	for name, echo := range echoes {
		i++
		path := fmt.Sprint("/spelling", i)
		f.endpoint.Script(path, httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: "before " + echo + " after"})
		params := f.orderParams(path)
		params.Slug, params.Config.AllowDynamicVars = fmt.Sprint("spelling", i), true
		params.Config.Headers = map[string]string{"X-Key": "{{secret__key}}"}
		tool := f.create(t, params)
		outcome := f.call(t, f.attached(t, tool, 0), `{}`, map[string]string{"secret__key": secret})
		if !strings.Contains(outcome.Output, "REDACTED") || !strings.HasPrefix(outcome.Output, "before ") ||
			!strings.HasSuffix(outcome.Output, " after") {
			t.Errorf("%s: %q became %q", name, echo, outcome.Output)
		}
		for _, tell := range []string{
			"rd&<42>", "rd\\u0026", "%3C42", "rd&amp;", encoded[8:20], "3c34323e", "&#52;&#50;", `\u0034\u0032`, "%34%32",
		} {
			if strings.Contains(strings.ToLower(outcome.Output), strings.ToLower(tell)) {
				t.Errorf("%s: %q shows %q", name, outcome.Output, tell)
			}
		}
		calls, _, err := f.ListCalls(t.Context(), f.ref, tools.CallFilter{ToolID: tool.ID}, postgres.PageParams{})
		if err != nil || len(calls) != 1 || calls[0].Output != outcome.Output {
			t.Errorf("%s: the trace is %+v, %v", name, calls, err)
		}
	}
}

func percent(s string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, "%%%02x", s[i])
	}
	return out.String()
}

func codePoints(s string) string {
	var out strings.Builder
	for _, r := range s {
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return out.String()
}

func numbered(s string) string {
	var out strings.Builder
	for i, r := range s {
		fmt.Fprintf(&out, []string{"&#%d;", "&#x%x;", "&#X%X;"}[i%3], r)
	}
	return out.String()
}

// TestSecretAtTheCut: of a secret that the cut goes through nothing is left, and a secret that is a
// number leaves JSON whole.
func TestSecretAtTheCut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const secret = "correct-horse-battery"
	call := func(slug, value string, step httptool.Step) tools.Outcome {
		f.endpoint.Script("/"+slug, step)
		params := f.orderParams("/" + slug)
		params.Slug, params.Config.AllowDynamicVars, params.Config.ResponseMaxBytes = slug, true, 1024
		params.Config.Headers = map[string]string{"X-Key": "{{secret__key}}"}
		return f.call(t, f.attached(t, f.create(t, params), 0), `{}`, map[string]string{"secret__key": value})
	}
	for _, shown := range []int{len(secret) - 1, 10, 4} {
		body := strings.Repeat(".", 1024-shown) + secret + " and more"
		outcome := call(fmt.Sprint("cut", shown), secret, httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: body})
		if !strings.Contains(outcome.Output, ".\n[cut:") || strings.Contains(outcome.Output, "corr") {
			t.Errorf("%d bytes of it before the cut: %q", shown, outcome.Output[900:])
		}
	}
	for name, escaped := range map[string]string{"percent": percent(secret), "points": codePoints(secret), "numbered": numbered(secret)} {
		for shown := range 8 { // in and behind the escape of the last letter but one
			cut := escaped[:len(escaped)-6-shown]
			outcome := call(fmt.Sprint(name, shown), secret, httptool.Step{
				Header: map[string]string{"Content-Type": "text/plain"}, Body: strings.Repeat(".", 1024-len(cut)) + escaped + " and more",
			})
			if !strings.Contains(outcome.Output, ".\n[cut:") {
				t.Errorf("%s cut at %d: %q", name, len(cut), outcome.Output[800:])
			}
		}
	}
	markup := call("markup", secret, httptool.Step{
		Header: map[string]string{"Content-Type": "text/html"}, Body: "<p>before " + secret[:9] + "\n" + secret[9:] + " after</p>",
	})
	if strings.Contains(markup.Output, "horse") || !strings.Contains(markup.Output, "REDACTED") {
		t.Errorf("broken in markup: %q", markup.Output)
	}
	encoding := call("encoding", "Correct-Horse", httptool.Step{
		Header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "Correct-Horse"}, Body: "x",
	})
	if strings.Contains(strings.ToLower(encoding.Output), "horse") {
		t.Errorf("as an encoding: %q", encoding.Output)
	}
	outcome := call(
		"number", "4711", httptool.Step{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"pin": 4711, "n": 1}`},
	)
	if outcome.Output != `{"n":1,"pin":"REDACTED"}` || outcome.OutputJSON == nil {
		t.Errorf("got %q", outcome.Output)
	}
	short := call("short", "yes", httptool.Step{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"open":"yes"}`})
	if short.Output != `{"open":"yes"}` {
		t.Errorf("a word that is no secret: %q", short.Output)
	}
	// Secrets that are part of the word which stands for them must not keep us busy.
	if outcome := call(
		"word", "DACT", httptool.Step{Header: map[string]string{"Content-Type": "text/plain"}, Body: "DA\nC\nT DACT"},
	); !strings.Contains(outcome.Output, "REDACTED") {
		t.Errorf("got %q", outcome.Output)
	}
}
