package document_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/knowledge/document"
)

// TestMarkdownHTML has HTML in Markdown: what a browser does not show is left out, also where blank
// lines divide it, and nothing that is left open hides the text below.
func TestMarkdownHTML(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, file string
		want       []string
	}{
		{
			"scripts and styles in a line", "Open <script>track('x')</script>daily <style>p{color:red}</style>from nine.",
			[]string{"paragraph : Open daily from nine."},
		},
		{
			"a script with blank lines in an element", "<div>\n<script>\nvar a = 1;\n\nvar b = 2;\n</script>\n</div>\n\nOpen daily.",
			[]string{"paragraph : Open daily."},
		},
		{
			"a style with blank lines", "<style>\np { color: red }\n\nb { color: blue }\n</style>\n\nOpen daily.",
			[]string{"paragraph : Open daily."},
		},
		{
			"hidden parts around Markdown", "Before.\n\n<div style=\"display: none\">\n\nA *draft* of prices.\n\n- 5 euros\n\n</div>\n\n" +
				"After <span hidden>not seen</span>all.",
			[]string{"paragraph : Before.", "paragraph : After all."},
		},
		{"comments", "One <!-- note -->two.\n\n<!--\n\nThree.\n\n-->\n\nFour.", []string{"paragraph : One two.", "paragraph : Four."}},
		{
			"what is shown keeps its kind", "<h2 align=\"center\">Prices</h2>\n\n<details><summary>Children</summary>\n\n" +
				"Half *price*.\n\n</details>\n\n<table><tr><th>Day</th><th>Price</th></tr><tr><td>Monday</td><td>5</td></tr></table>",
			[]string{
				"heading Prices: Prices", "paragraph Prices: Children", "paragraph Prices: Half price.",
				"table Prices: Day | Price\nMonday | 5",
			},
		},
		{
			"left open", "The <script> tag and the <div hidden> tag, <textarea> too.\n\n<div style=\"display:none\">\n\nStill here.\n\n" +
				"`</script></div></textarea>`\n\n</p></section>\n\nThe end.",
			[]string{
				"paragraph : The tag and the tag, too.", "paragraph : Still here.", "paragraph : </script></div></textarea>", "paragraph : The end.",
			},
		},
		{"a whole page", "<html><head><title>T</title></head><body>\n\nText.\n\n</body></html>\n", []string{"paragraph : Text."}},
	}
	for _, row := range rows {
		if diff := cmp.Diff(row.want, outline(parse(t, document.TextMarkdown, row.file))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}
