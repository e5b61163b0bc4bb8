package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxLineColumns    = 140
	maxCommentColumns = 100
	maxFileLines      = 500
	maxPackageLines   = 5000
)

// notWrapped lists the folders whose lines are not yet held to the limits. Nothing is added to it.
var notWrapped []string

// notSplit lists the packages that are not yet held to maxPackageLines. Nothing is added to it.
var notSplit []string

// commentMarks maps the extension of a file that people write to what begins its comments. Files
// without an extension are scripts. Documents are left out: a row of a table cannot be wrapped.
var commentMarks = map[string]string{
	".go": "//", ".proto": "//", ".js": "//", ".mjs": "//", ".ts": "//", ".tsx": "//", ".css": "", ".sh": "#", ".py": "#",
	".yml": "#", ".yaml": "#", ".sql": "--", "": "#",
}

// TestLineLengths fails for a line over 140 columns, and for a comment's over 100.
func TestLineLengths(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t) {
		mark, written := commentMarks[path.Ext(file)]
		if !written || slices.ContainsFunc(notWrapped, func(folder string) bool { return within(file, folder) }) {
			continue
		}
		for number, line := range bytes.Split(read(t, file), []byte("\n")) {
			columns, comment := utf8.RuneCount(line), bytes.HasPrefix(bytes.TrimSpace(line), []byte(mark))
			switch {
			case columns > maxLineColumns:
				t.Errorf("%s:%d has %d columns, at most %d are allowed", file, number+1, columns, maxLineColumns)
			case comment && mark != "" && columns > maxCommentColumns:
				t.Errorf("%s:%d is a comment of %d columns, at most %d are allowed", file, number+1, columns, maxCommentColumns)
			}
		}
	}
}

// TestFileLengths fails for a Go file over 500 lines, and for a package over 5,000 lines, tests
// aside, unless a sentence with the word "lines" in its doc.go says why it is that large.
func TestFileLengths(t *testing.T) {
	t.Parallel()
	packages := map[string]int{}
	for _, file := range sources(t) {
		if path.Ext(file) != ".go" {
			continue
		}
		lines := bytes.Count(read(t, file), []byte("\n"))
		if lines > maxFileLines {
			t.Errorf("%s has %d lines, at most %d are allowed", file, lines, maxFileLines)
		}
		if !strings.HasSuffix(file, "_test.go") {
			packages[path.Dir(file)] += lines
		}
	}
	for folder, lines := range packages {
		if lines > maxPackageLines && !slices.Contains(notSplit, folder) && !saysWhy(t, folder) {
			t.Errorf("the package %s has %d lines: split it, or say in doc.go why more than %d lines belong together",
				folder, lines, maxPackageLines)
		}
	}
}

// saysWhy reports whether the package comment of a folder has the word "lines".
func saysWhy(t *testing.T, folder string) bool {
	t.Helper()
	name := filepath.Join(root, folder, "doc.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Errorf("%s: %v", folder, err)
		return false
	}
	return slices.Contains(strings.Fields(commentText(file.Doc)), "lines")
}

func commentText(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return doc.Text()
}

// sources lists the files that people write, by their paths from the root: without what is
// generated, locked, installed, built, or a test's data.
func sources(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case entry.IsDir() && notWritten(rel):
			return fs.SkipDir
		case entry.Type().IsRegular() && rel != "sqlmigrations/schema.sql":
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 500 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

// notWritten reports whether a folder holds nothing that people write.
func notWritten(folder string) bool {
	base := path.Base(folder)
	return slices.Contains(unwritten, folder) || base == "testdata" || base == "node_modules" || base == "resttestv1"
}

// unwritten lists folders at the root that hold nothing people write; many are not in the
// repository.
var unwritten = []string{
	".buf-against", ".git", ".parlance", ".proto-deps", "bin", "dist", "gen", "secrets", "sdk/typescript/dist",
	"sdk/widget/dist", "console/dist", "sdk/python/src/parlance/v1", "examples/typescript/express/dist",
	"examples/typescript/worker/dist", "examples/typescript/next/.next",
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
