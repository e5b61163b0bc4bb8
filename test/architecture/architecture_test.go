package architecture

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "parlance.dev/parlance/"

// nouns are the rooms of the product itself.
var nouns = []string{"workspaces", "agents", "tools", "knowledge", "memory", "guards", "sessions", "analysis", "turns", "live", "webhooks"}

// base is what every room above the platform may import.
var base = []string{"fault", "provider", "platform"}

// rooms says which root folders a root folder may import, itself included always.
var rooms = map[string][]string{
	"cmd":    {"cli"},
	"cli":    append([]string{"app", "server", "worker", "gen", "events", "sqlmigrations"}, append(base, nouns...)...),
	"app":    append([]string{"server", "worker", "events", "idempotency", "sqlmigrations", "console"}, append(base, nouns...)...),
	"server": append([]string{"gen", "events", "idempotency"}, append(base, nouns...)...),
	"worker": append([]string{"events"}, append(base, nouns...)...),

	// Nouns that emit public events make the payload messages, so they meet gen.
	"live":       append([]string{"turns", "sessions", "tools", "agents", "workspaces"}, base...),
	"turns":      append([]string{"sessions", "guards", "memory", "tools", "agents", "workspaces", "events"}, base...),
	"analysis":   append([]string{"sessions", "guards", "memory", "tools", "agents", "workspaces", "events"}, base...),
	"sessions":   append([]string{"tools", "agents", "workspaces", "events"}, base...),
	"guards":     append([]string{"tools"}, base...),
	"knowledge":  append([]string{"agents", "workspaces", "events", "gen"}, base...),
	"memory":     append([]string{"tools", "agents", "workspaces"}, base...),
	"tools":      append([]string{"agents", "workspaces", "events"}, base...),
	"agents":     append([]string{"workspaces", "events"}, base...),
	"webhooks":   append([]string{"workspaces", "events", "gen"}, base...),
	"workspaces": append([]string{"events"}, base...),

	// What the edge remembers of its callers' requests; it knows who calls, and no other noun.
	"idempotency": {"workspaces", "fault", "platform"},

	"events":        {"gen", "fault", "platform"},
	"provider":      {"fault", "platform"},
	"platform":      {"fault"},
	"fault":         {},
	"sqlmigrations": {"platform"},
	"console":       {}, // files; server is handed them
	// The generated route table names its row type, which is written by hand.
	"gen":   {"platform"},
	"proto": {"platform", "fault"},

	// Outside the product: they may look at anything.
	"test": nil, "examples": nil,
}

// folders at the root without Go code.
var others = []string{".ci", ".git", ".github", ".proto-deps", ".buf-against", ".parlance", "bin", "dist", "docs", "deploy", "secrets", "node_modules", "sdk"}

// TestDirections walks every Go file and checks its imports against the table.
func TestDirections(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		room, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if entry.IsDir() {
			return enter(t, rel, room)
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && room != rel {
			checkFile(t, path, room)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// enter says whether to look into a folder, and fails for one at the root that has no place.
func enter(t *testing.T, rel, room string) error {
	t.Helper()
	if rel == "." {
		return nil
	}
	if slices.Contains(others, room) || filepath.Base(rel) == "node_modules" || filepath.Base(rel) == "testdata" {
		return fs.SkipDir
	}
	if _, known := rooms[room]; !known {
		t.Errorf("the folder %s at the root has no place: give it one in this table, in docs/architecture.md and in design", room)
		return fs.SkipDir
	}
	return nil
}

func checkFile(t *testing.T, path, room string) {
	t.Helper()
	allowed := rooms[room]
	if allowed == nil {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		checkImport(t, path, room, imported, allowed)
	}
}

func checkImport(t *testing.T, path, room, imported string, allowed []string) {
	t.Helper()
	if inside, ours := strings.CutPrefix(imported, module); ours {
		target, _, _ := strings.Cut(inside, "/")
		if target != room && !slices.Contains(allowed, target) {
			t.Errorf("%s imports %s: %s may import %v only", path, imported, room, allowed)
		}
		return
	}
	for _, rule := range confined {
		if strings.HasPrefix(imported, rule.library) && !slices.ContainsFunc(rule.rooms, func(r string) bool { return inRoom(path, r) }) {
			t.Errorf("%s imports %s, which belongs in %v", path, imported, rule.rooms)
		}
	}
}

// confined are libraries that stop at a door.
var confined = []struct {
	library string
	rooms   []string
}{
	{"github.com/hibiken/asynq", []string{"platform/queue"}},
	{"github.com/uptrace/bun", []string{"platform/postgres", "platform/seal", "events", "workspaces", "agents", "tools", "knowledge", "memory", "sessions", "analysis", "turns", "live", "webhooks", "worker", "idempotency"}},
	{"github.com/jackc/pgx", []string{"platform/postgres", "platform/devstack", "knowledge", "cli"}},
	{"github.com/coder/websocket", []string{"server/realtime", "server/probe", "cli"}},
	{"github.com/gobwas/ws", []string{"server/realtime/websocket"}},
	{"github.com/spf13/cobra", []string{"cli"}},
	{"connectrpc.com/connect", []string{"server", "gen", "fault", "cli", "proto"}},
}

func inRoom(path, room string) bool {
	return strings.HasPrefix(filepath.ToSlash(path), "../../"+room+"/")
}
