package tenantwall

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write marks.txt")

// TestMarks keeps marks.txt, which people look through when it grows.
func TestMarks(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	var lines []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") ||
			slices.Contains([]string{"gen", "test", "node_modules", "testdata"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		found, err := marksIn(path)
		rel, relErr := filepath.Rel(root, path)
		for _, line := range found {
			lines = append(lines, filepath.ToSlash(rel)+" "+line)
		}
		if err == nil {
			err = relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("marks.txt", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(marks, got); diff != "" {
		t.Errorf("statements for all tenants have come or gone; look at each, then: go test ./test/tenantwall -update\n%s", diff)
	}
}

// marksIn lists the marks of a file as "function: reason".
func marksIn(path string) ([]string, error) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || selector.Sel.Name != "AllTenants" && selector.Sel.Name != "RawForAllTenants" {
				return true
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if !ok {
				err = fmt.Errorf("%s, %s: the reason is no constant", path, function.Name.Name)
				return true
			}
			reason, unquoteErr := strconv.Unquote(literal.Value)
			if unquoteErr != nil {
				err = unquoteErr
			}
			found = append(found, function.Name.Name+": "+reason)
			return true
		})
	}
	return found, err
}
