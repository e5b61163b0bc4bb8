package importer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/importer/exports"
	"parlance.dev/parlance/test/clitest"
)

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	// fence matches a block of code.
	fence     = regexp.MustCompile("(?s)```.*?```")
	operation = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (/v1/\S+)$`)
	// commandLine matches commands in the text and the examples of a page.
	commandLine = regexp.MustCompile("(?m)(?:^|`)parlance ([a-z-]+(?: [a-z-]+)*)")
)

// contract is what our names are looked up in: the OpenAPI document, and the pages that list what
// it does not have: the events on sockets and the headers of webhooks.
type contract struct {
	operations map[string]bool
	names      map[string]bool
}

func readContract(t *testing.T) contract {
	t.Helper()
	c := contract{operations: map[string]bool{}, names: map[string]bool{}}
	raw, err := os.ReadFile(filepath.Join("..", "..", "gen", "openapi", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			c.operations[strings.ToUpper(method)+" "+path] = true
		}
	}
	for name := range document["webhooks"].(map[string]any) {
		c.names[name] = true
	}
	c.collect(document["components"])
	for _, page := range []string{"realtime.md", "webhooks.md", "tools.md", "voice.md"} {
		for _, found := range codeSpan.FindAllStringSubmatch(fence.ReplaceAllString(readPage(t, page), ""), -1) {
			c.names[found[1]] = true
			for part := range strings.SplitSeq(found[1], ".") { // turn_detection.interrupt_response
				c.names[part] = true
			}
		}
	}
	return c
}

// collect adds the names of properties and the values of closed sets.
func (c contract) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		if properties, ok := value["properties"].(map[string]any); ok {
			for name := range properties {
				c.names[name] = true
			}
		}
		if values, ok := value["enum"].([]any); ok {
			for _, one := range values {
				if name, ok := one.(string); ok {
					c.names[name] = true
				}
			}
		}
		for _, member := range value {
			c.collect(member)
		}
	case []any:
		for _, member := range value {
			c.collect(member)
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	return clitest.ReadFile(t, filepath.Join("..", "..", "docs", filepath.FromSlash(name)))
}

// rows are the rows of the tables of a page that have three cells, without their heads.
func rows(page string) (cells [][]string) {
	for line := range strings.SplitSeq(page, "\n") {
		parts := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for len(parts) < 3 {
			parts = append(parts, "")
		}
		cells = append(cells, parts)
	}
	return cells
}

// Each of our names in the tables of docs/migrate is in the contract, and each command there is
// one.
func TestDocs(t *testing.T) {
	t.Parallel()
	c := readContract(t)
	for _, provider := range exports.Providers {
		page := readPage(t, "migrate/"+string(provider)+".md")
		found := rows(page)
		if len(found) < 30 {
			t.Errorf("%s.md has only %d rows", provider, len(found))
		}
		for _, row := range found {
			ours := codeSpan.FindAllStringSubmatch(row[1], -1)
			if len(ours) == 0 && row[1] != "–" {
				t.Errorf("%s.md: %q names nothing of ours, and is no –", provider, row[0])
			}
			for _, name := range ours {
				if !c.operations[name[1]] && !c.names[name[1]] {
					t.Errorf("%s.md: %s: the contract has no %q", provider, row[0], name[1])
				}
			}
			for _, name := range codeSpan.FindAllStringSubmatch(row[2], -1) {
				if operation.MatchString(name[1]) && !c.operations[name[1]] {
					t.Errorf("%s.md: %s: there is no operation %q", provider, row[0], name[1])
				}
			}
		}
	}
	known := map[string]bool{}
	for _, name := range []string{"README", "elevenlabs", "vapi", "retell"} {
		for _, found := range commandLine.FindAllStringSubmatch(readPage(t, "migrate/"+name+".md"), -1) {
			known[found[1]] = true
		}
	}
	for words := range known {
		args := append(strings.Fields(words), "--help")
		clitest.Execute(t, "", args...).Wants(t, command.ExitDone)
	}
	if !slices.Contains(rows(readPage(t, "migrate/vapi.md"))[0], "`/assistant`") {
		t.Error("the tables are not read as they are written")
	}
}
