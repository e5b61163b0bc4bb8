package signin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCodesAreDocumented: docs/people.md has the codes that a sign-in can end with, and no others.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	codes := append(refusalsIn(t, "../../people/sign_in.go"), refusalsIn(t, "handler.go")...)
	page, err := os.ReadFile("../../docs/people.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| `CODE` |")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("the page has no table of codes")
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		documented = append(documented, row[1])
	}
	slices.Sort(codes)
	slices.Sort(documented)
	if len(codes) < 8 {
		t.Errorf("only %d codes were found", len(codes))
	}
	if diff := cmp.Diff(codes, documented); diff != "" {
		t.Errorf("-server +docs/people.md\n%s", diff)
	}
}

// refusalsIn returns the values of the constants of type Refusal in a file.
func refusalsIn(t *testing.T, file string) (codes []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		name := ""
		switch kind := spec.Type.(type) {
		case *ast.Ident:
			name = kind.Name
		case *ast.SelectorExpr:
			name = kind.Sel.Name
		}
		value, isText := spec.Values[0].(*ast.BasicLit)
		if name != "Refusal" || !isText {
			return true
		}
		code, err := strconv.Unquote(value.Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
		return true
	})
	return codes
}
