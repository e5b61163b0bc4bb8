package document_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
)

// outline is a document as lines "kind path: text", with newlines shown.
func outline(doc document.Document) []string {
	var lines []string
	for _, block := range doc.Blocks {
		lines = append(lines, string(block.Kind)+" "+strings.Join(block.HeadingPath, " > ")+": "+block.Text)
	}
	return lines
}

const webPage = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Opening hours – Town library</title>
<link rel="canonical" href="https://library.example/hours"><base href="https://library.example/">
<style>p{color:red}</style><script>var secret="script text";</script></head>
<body class="menu sidebar"><header class="site-header"><a href="/">Town library</a></header>
<nav><ul><li><a href="/a">Home</a></li><li><a href="/b">Events</a></li></ul></nav>
<div class="cookie-banner">We use cookies.</div>
<main>
<h1>Opening hours<a class="headerlink" href="#hours">¶</a></h1>
<p>The main hall &amp; the caf&eacute; are open
   daily.<br>Closed on <b>Sunday</b>.<!-- no comment --><span hidden>hidden text</span><span style="display: none">gone</span></p>
<div>Loose text <a href="/members">for members</a> and <a href="https://other.example/x?y=1">partners</a>.</div>
<h2><button>Halls</button></h2>
<ul><li>Main hall</li><li>Annex<ol start="3"><li>Room A<li>Room B</ol></li></ul>
<table><caption>Hours by day</caption><thead><tr><th>Day</th><th colspan="2">Hours</th></tr></thead>
<tr><td rowspan=2>Monday</td><td>9–12</td><td>main</td></tr><tr><td>14–18</td><td>annex</td></tr></table>
<pre><code>$ curl -s \
    https://library.example/hours.json</code></pre>
<dl><dt>ISBN</dt><dd>A book's number</dd></dl>
<figure><img src="x.png" alt="Map of the halls"><figcaption>Where to find us</figcaption></figure>
<details><summary>Fines?</summary><p>Ten cents a day.</p></details>
<blockquote><p>Re&shy;turn <q>on time</q>.</p></blockquote>
<noscript>Enable JavaScript</noscript><button>Book now</button>
</main>
<aside>Related: <a href="/x">other pages</a></aside>
<footer>© 2024 Town library</footer></body></html>`

func TestParseHTML(t *testing.T) {
	t.Parallel()
	want := []string{
		"heading Opening hours: Opening hours",
		"paragraph Opening hours: The main hall & the café are open daily.\nClosed on Sunday.",
		"paragraph Opening hours: Loose text for members and partners (https://other.example/x?y=1).",
		"heading Opening hours > Halls: Halls",
		"list Opening hours > Halls: - Main hall\n- Annex\n  3. Room A\n  4. Room B",
		"paragraph Opening hours > Halls: Hours by day",
		"table Opening hours > Halls: Day | Hours\nMonday | 9–12 | main\nMonday | 14–18 | annex",
		"code Opening hours > Halls: $ curl -s \\\n    https://library.example/hours.json",
		"list Opening hours > Halls: ISBN: A book's number",
		"paragraph Opening hours > Halls: Map of the halls",
		"paragraph Opening hours > Halls: Where to find us",
		"paragraph Opening hours > Halls: Fines?",
		"paragraph Opening hours > Halls: Ten cents a day.",
		"paragraph Opening hours > Halls: Return “on time”.",
	}
	if diff := cmp.Diff(want, outline(parse(t, "text/html", webPage))); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestParseHTMLShapes(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div>", 600)
	rows := []struct {
		name, page string
		want       []string
	}{
		{"title heads a page without h1", "<title>Rates</title><h2>Rooms</h2><p>A bed.", []string{
			"heading Rates: Rates", "heading Rates > Rooms: Rooms", "paragraph Rates > Rooms: A bed.",
		}},
		{"a page of links is its links", `<nav><a href="/a">Alpha</a> <a href="/b">Beta</a></nav>`, []string{"paragraph : Alpha Beta"}},
		{"a menu of dishes is no navigation", `<div id="menu"><p>Soup 4.50</p><p>Fish 12</p></div><p>Enjoy`, []string{
			"paragraph : Soup 4.50", "paragraph : Fish 12", "paragraph : Enjoy",
		}},
		{"a menu of links is", `<div id="menu"><a href=a>One</a> <a href=b>Two</a></div><p>Text`, []string{"paragraph : Text"}},
		{
			"noscript only", `<body><div id="root"></div><noscript><p>Call us at 555.</p></noscript>`,
			[]string{"paragraph : Call us at 555."},
		},
		{"frames", `<html><frameset cols="*,*"><frame src=a><noframes><h1>Old site</h1><p>Welcome.</noframes></frameset></html>`, []string{
			"heading Old site: Old site", "paragraph Old site: Welcome.",
		}},
		{"too deep for a tree", deep + "<h2>Deep</h2><script>no()</script><p>Still <b>read</b>.</p><pre> x\n  y</pre>", []string{
			"heading Deep: Deep", "paragraph Deep: Still read.", "code Deep:  x\n  y",
		}},
		{"layout tables", `<table><tr><td><h1>Left</h1><p>One.</td><td><p>Two.</td></tr></table>`, []string{
			"heading Left: Left", "paragraph Left: One.", "paragraph Left: Two.",
		}},
		{"columns of a page", "<table><tr><td>Menu<td><p>" + strings.Repeat("word ", 150) + "<p>End.</table>", []string{
			"paragraph : Menu", "paragraph : " + strings.TrimSpace(strings.Repeat("word ", 150)), "paragraph : End.",
		}},
		{
			"xhtml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>Seen</p></body></html>`,
			[]string{"paragraph : Seen"},
		},
		{
			"declarations in the document type",
			"<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"xhtml1-strict.dtd\" [\n<!ENTITY co \"a > b ]>\">\n<!-- more ]>" +
				" -->\n<!ATTLIST p x CDATA #IMPLIED>\n]><html><body><p>Seen</p></body></html>",
			[]string{"paragraph : Seen"},
		},
		{"a list in the text", "<!doctype html><p>[x]> stays", []string{"paragraph : [x]> stays"}},
		{"header of an article", `<article><header><h1>News</h1><p>By Ann</p></header><p>Body.</p></article><footer>no</footer>`, []string{
			"heading News: News", "paragraph News: By Ann", "paragraph News: Body.",
		}},
		{"inline around blocks", `<a href="https://x.example/"><div>Card</div></a>tail`, []string{"paragraph : Card", "paragraph : tail"}},
	}
	for _, row := range rows {
		if diff := cmp.Diff(row.want, outline(parse(t, "text/html", row.page))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

func TestParseHTMLNamesColumnsOfLargeTables(t *testing.T) {
	t.Parallel()
	page := "<table><tr><th>City<th>People</tr>" + strings.Repeat("<tr><td>Oslo<td>700,000</tr>", 30) + "</table>"
	lines := strings.Split(parse(t, "text/html", page).Text, "\n")
	if len(lines) != 31 || lines[0] != "City | People" || lines[30] != "City: Oslo | People: 700,000" {
		t.Errorf("got %q", lines)
	}
}

func TestParseHTMLCharset(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, mediaType, page, want string }{
		{"meta", "text/html", "<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		{"http-equiv", "text/html", `<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>` +
			"\x92\x6d\x8e\xaf", "知識"},
		{"declared before meta", "text/html; charset=koi8-r", "<meta charset=windows-1251><p>\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"},
		{"lying meta", "text/html", "<meta charset=iso-8859-1><p>Grüße aus Köln", "Grüße aus Köln"},
		{"mark", "text/html", "\xEF\xBB\xBF<meta charset=windows-1251><p>Привет", "Привет"},
		{"utf-16", "text/html", "\xFF\xFE<\x00p\x00>\x00\x16\x04", "Ж"},
	}
	for _, row := range rows {
		if got := parse(t, row.mediaType, row.page).Text; got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// Elements that each make the walker look ahead over all that is below them: quadratic, these
// pages would take minutes.
func TestParseHTMLLooksAheadOnlySoFar(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"<span>", "<div class=menu>", "<header>", "<ul><li>"} {
		page := strings.Repeat(open, 200) + strings.Repeat("<b>word</b> ", 150_000) + "<p>end</p>"
		if doc := parse(t, "text/html", page); !strings.Contains(doc.Text, "word") {
			t.Errorf("%s: got %.80q", open, doc.Text)
		}
	}
}
