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

// root is the root of the repository, seen from this package.
var root = filepath.Join("..", "..")

// nouns are the rooms of the product itself.
var nouns = []string{
	"workspaces", "agents", "tools", "knowledge", "memory", "guards", "sessions", "analysis", "turns", "live", "webhooks",
	"privacy", "audit", "people", "usage", "billing", "voice", "recordings", "telephony", "insights",
}

// base is what every room above the platform may import.
var base = []string{"fault", "provider", "platform"}

// rooms says which folders a folder may import, itself and what is in it included always. A key
// with a slash is a room inside a room: the longest key that fits a package has its rule. What a
// rule names includes the folders in it.
var rooms = map[string][]string{
	"cmd": {"cli"},
	"cli": append([]string{"app", "server", "worker", "gen", "sdk/go", "events", "sqlmigrations"}, append(base, nouns...)...),
	"app": append([]string{"server", "worker", "events", "idempotency", "sqlmigrations", "console", "sdk/widget"},
		append(base, nouns...)...),
	"server": append([]string{"gen", "events", "idempotency"}, append(base, nouns...)...),
	"worker": append([]string{"events"}, append(base, nouns...)...),

	// Nouns that emit public events make the payload messages, so they meet gen.
	"live":       append([]string{"turns", "sessions", "tools", "agents", "workspaces"}, base...),
	"turns":      append([]string{"sessions", "usage", "guards", "memory", "tools", "agents", "workspaces", "events"}, base...),
	"analysis":   append([]string{"sessions", "usage", "guards", "memory", "tools", "agents", "workspaces", "events"}, base...),
	"sessions":   append([]string{"tools", "agents", "usage", "workspaces", "events"}, base...),
	"recordings": append([]string{"sessions", "agents", "workspaces"}, base...),
	"guards":     base,
	"knowledge":  append([]string{"agents", "usage", "workspaces", "events", "gen"}, base...),
	"memory":     append([]string{"tools", "agents", "workspaces"}, base...),
	"tools":      append([]string{"agents", "workspaces", "events"}, base...),
	"privacy": append([]string{"webhooks", "recordings", "telephony", "sessions", "memory", "idempotency", "workspaces", "events"},
		base...),
	// It reads the tables of other nouns by their names.
	"insights":   append([]string{"usage", "workspaces"}, base...),
	"agents":     append([]string{"workspaces", "guards", "events"}, base...),
	"webhooks":   append([]string{"usage", "workspaces", "events", "gen"}, base...),
	"usage":      append([]string{"workspaces", "events"}, base...),
	"audit":      append([]string{"workspaces", "events"}, base...),
	"people":     append([]string{"workspaces"}, base...),
	"billing":    append([]string{"workspaces", "events"}, base...),
	"workspaces": append([]string{"events"}, base...),
	"voice":      append([]string{"live", "turns", "recordings", "sessions", "usage", "agents", "workspaces"}, base...),
	"telephony":  append([]string{"sessions", "usage", "tools", "agents", "webhooks", "workspaces", "events"}, base...),
	// What is said is computed from text alone.
	"voice/speakable": {},
	// Hearing is computing with samples and words: it calls no provider and stores nothing.
	"voice/hearing": {"platform"},

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
	"proto": {"gen", "platform", "fault"},

	// A client of others, which brings them nothing of the service but the contract.
	"sdk/go":       {"gen"},
	"sdk/generate": {"fault", "gen"},

	// Outside the product: they may look at anything.
	"test": nil, "examples": nil,
}

// others are the folders at the root that hold no part of the product in Go.
var others = []string{
	".ci", ".git", ".github", ".proto-deps", ".buf-against", ".parlance", "bin", "dist", "docs", "deploy", "secrets",
	"node_modules", "sdk",
}

// TestDirections walks every Go file and checks its imports against the table.
func TestDirections(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			return enter(t, rel)
		}
		if strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") && strings.Contains(rel, "/") {
			checkFile(t, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// enter reports whether to look into a folder, and fails for one at the root that has no place.
func enter(t *testing.T, rel string) error {
	t.Helper()
	top, _, _ := strings.Cut(rel, "/")
	if rel == "." {
		return nil
	}
	if slices.Contains(others, top) || filepath.Base(rel) == "node_modules" || filepath.Base(rel) == "testdata" {
		return fs.SkipDir
	}
	if _, known := rooms[top]; !known {
		t.Errorf("the folder %s at the root has no place: give it one in this table, in docs/architecture.md and in design", top)
		return fs.SkipDir
	}
	return nil
}

func checkFile(t *testing.T, rel string) {
	t.Helper()
	room := roomOf(rooms, rel)
	if rooms[room] == nil {
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, rel), nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("%s: %v", rel, err)
		return
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			continue
		}
		checkImport(t, rel, room, imported)
	}
}

// roomOf is the longest key of a table of rooms that a file or package is in.
func roomOf(rooms map[string][]string, rel string) string {
	room := ""
	for key := range rooms {
		if within(rel, key) && len(key) > len(room) {
			room = key
		}
	}
	return room
}

// within reports whether a path is a folder or in it.
func within(rel, folder string) bool {
	return rel == folder || strings.HasPrefix(rel, folder+"/")
}

func checkImport(t *testing.T, rel, room, imported string) {
	t.Helper()
	if target, ours := strings.CutPrefix(imported, module); ours && !mayImport(rooms, room, target) {
		t.Errorf("%s imports %s: %s may import %v only", rel, target, room, rooms[room])
	}
	for _, rule := range confined {
		inRule := func(folder string) bool { return within(rel, folder) }
		if strings.HasPrefix(imported, rule.library) && !slices.ContainsFunc(rule.rooms, inRule) {
			t.Errorf("%s imports %s, which belongs in %v", rel, imported, rule.rooms)
		}
	}
}

// mayImport reports whether a room may import one of our packages.
func mayImport(rooms map[string][]string, room, target string) bool {
	return within(target, room) || slices.ContainsFunc(rooms[room], func(allowed string) bool { return within(target, allowed) })
}

// TestSubRooms checks the rule of the longest key.
func TestSubRooms(t *testing.T) {
	t.Parallel()
	rooms := map[string][]string{"turns": {"sessions", "platform"}, "turns/journal": {"turns", "platform/wal"}, "turns/pgstore": {"turns"}}
	for _, row := range []struct {
		file, target string
		allowed      bool
	}{
		{"turns/turn.go", "sessions", true},
		{"turns/turn.go", "turns/journal", true},
		{"turns/turn.go", "server", false},
		{"turns/other/x.go", "platform/redis", true},
		{"turns/journal/x.go", "turns", true},
		{"turns/journal/x.go", "platform/wal/inner", true},
		{"turns/journal/x.go", "platform/walrus", false},
		{"turns/journal/x.go", "sessions", false},
		{"turns/pgstore/x.go", "platform", false},
	} {
		room := roomOf(rooms, row.file)
		if got := mayImport(rooms, room, row.target); got != row.allowed {
			t.Errorf("%s (in %s) imports %s: got %t, want %t", row.file, room, row.target, got, row.allowed)
		}
	}
}

// confined are packages that stop at a door: whole paths, or what they begin with. A package of
// ours that only one room may know is listed with its full path.
var confined = []struct {
	library string
	rooms   []string
}{
	{"github.com/hibiken/asynq", []string{"platform/queue"}},
	{"github.com/uptrace/bun", []string{
		"platform/postgres", "platform/seal", "events", "workspaces", "agents", "tools", "knowledge", "memory", "sessions",
		"analysis", "turns", "live", "webhooks", "worker", "idempotency", "privacy", "audit", "people", "usage", "billing", "recordings",
		"telephony", "insights",
	}},
	{"github.com/jackc/pgx", []string{"platform/postgres", "platform/devstack", "knowledge", "cli"}},
	{"github.com/coder/websocket", []string{"server/realtime", "server/probe", "cli", "provider/speech", "provider/carrier"}},
	{"github.com/gobwas/ws", []string{"server/realtime/websocket"}},
	{"github.com/spf13/cobra", []string{"cli"}},
	{"github.com/yalue/onnxruntime_go", []string{"provider/endmodel"}},
	{"github.com/coreos/go-oidc", []string{"provider/oidc"}},
	{"connectrpc.com/connect", []string{"server", "gen", "fault", "cli", "proto"}},
}
