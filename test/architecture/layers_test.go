package architecture

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layering is the order of the files of one package.
type layering struct {
	// layers are patterns of file names (path.Match), the lowest layer first. A file belongs to the
	// first layer with a pattern that fits. It may name what its own layer and those below declare.
	layers [][]string
	// except are the arrows ("a.go → b.go") that go up all the same, each with its reason.
	except map[string]string
}

// layered maps packages to the order of their files: types below operations below doors.
var layered = map[string]layering{
	"sessions": {
		layers: [][]string{
			{
				"edits.go", "errors.go", "handover.go", "receipt.go", "retrieval.go",
				"text.go",
			},
			{"override_value.go", "session.go"},
			{"approval.go", "metrics.go", "notice.go", "override_voice.go", "variables.go"},
			{"call.go", "message.go", "override_agent.go"},
			{"item.go", "model_messages.go"},
			{"turn.go"},
			{"redaction.go"},
			{"receipt_builder.go", "turn_items.go", "turn_store.go", "usage.go"},
			{"client_call.go", "connection.go", "read.go", "service.go", "store.go", "token.go"},
			{"contents.go"},
			{"create.go", "feedback.go", "lease.go", "overrides.go", "start.go"},
			{"end.go", "sweep.go"},
			{"erase.go"},
		},
	},
	"turns": {
		layers: [][]string{
			{
				"approvals.go", "database.go", "event.go", "input.go", "metrics.go", "retriever.go",
			},
			{"cache.go", "lease.go", "option.go", "store.go"},
			{"service.go", "start.go"},
			{"begin.go", "client_tools.go", "runner.go", "running.go", "variables.go"},
			{
				"ask_model.go", "budget.go", "call.go", "fatigue.go", "finish.go", "handover.go", "memory.go", "nogo.go",
				"out_of_band.go", "summary.go", "trace.go",
			},
			{"approve.go", "late.go", "prepare.go", "request.go", "round.go", "run.go", "run_call.go", "system.go"},
			{"ask_ahead.go", "guard.go"},
		},
	},
	"turns/requests": {
		layers: [][]string{
			{"event.go", "followers.go", "params.go", "queue.go"},
			{"broadcast.go", "encode.go"},
			{"service.go"},
			{"follow.go", "resume.go"},
			{"say.go"},
		},
	},
	"turns/pgstore": {
		layers: [][]string{
			{"store.go"},
			{"history.go", "lease.go", "results.go"},
			{"accept.go", "begin.go", "diagnosis.go", "outputs.go"},
			{"finish.go"},
		},
	},
	"turns/journal": {
		layers: [][]string{
			{"record.go"},
			{"journal.go", "metrics.go"},
			{"apply.go", "run.go"},
			{"replay.go", "store.go"},
		},
	},
	"live": {
		layers: [][]string{
			{"command.go", "event.go", "inbox.go", "item_order.go"},
			{"item_command.go", "live.go"},
			{"answer.go", "live_queue.go"},
			{"engine.go", "message.go"},
			{
				"accept.go", "admission.go", "ahead.go", "away.go", "client_output.go", "close.go", "edit.go", "handover.go",
				"heartbeat.go", "item.go", "join.go", "notices.go", "options.go", "resume.go", "send.go", "service.go", "session.go",
				"start.go",
			},
			{"dispatch.go", "late.go", "input.go", "respond.go"},
		},
	},
	"guards": {
		layers: [][]string{
			{"text.go"},
			{"agreed.go", "control_tokens.go", "inspect.go"},
			{"fence.go"},
		},
	},
	"analysis": {
		layers: [][]string{
			{"analysis.go", "overrides.go", "transcript.go"},
			{"post_call.go", "prompt.go", "store.go"},
			{"announce.go", "answer.go"},
			{"facts.go", "service.go"},
			{"analyse.go", "queue.go"},
		},
	},
	"recordings": {
		layers: [][]string{
			{"recording.go"},
			{"store.go", "timeline.go"},
			{"recorder.go", "service.go"},
			{"erase.go", "view.go", "wav.go", "writer.go"},
			{"start.go"},
		},
	},
	"knowledge/search": {
		layers: [][]string{
			{"codes.go", "search.go", "spellings.go"},
			{"postings.go"},
			{"cache.go", "store.go", "terms.go"},
			{"estimate.go", "index.go"},
			{"bm25.go", "rank.go", "readcodes.go", "readvectors.go", "readwords.go"},
			{"fuse.go"},
		},
	},
	"server/rest": {
		layers: [][]string{
			{"accommodate.go", "headers.go", "router.go"},
			{"check.go", "scalar.go", "value.go"}, // what is in a JSON document
			{"codec.go", "decode.go"},
			{"rest.go"}, // the facade and its configuration
			{"call.go"},
			{"stream.go"},
		},
	},
}

var arrowsOf = flag.String("arrows", "", "print which file of this package (server/rest) names what of which")

// TestLayers fails for a file that names a function, type, variable or constant of the package
// that a file of a higher layer declares, and for a file without a layer. Methods are not looked
// at: whoever holds a value may call it. To see the arrows of a package before its layers are
// written down:
//
//	go test ./test/architecture -run TestLayers -v -arrows server/rest
func TestLayers(t *testing.T) {
	t.Parallel()
	if *arrowsOf != "" {
		for _, a := range arrows(t, *arrowsOf) {
			t.Logf("%s: %s", a, strings.Join(a.names, " "))
		}
	}
	for folder, order := range layered {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			order.check(t, goFiles(t, folder), arrows(t, folder))
		})
	}
}

// TestLayersAreSeen checks a package with an arrow that goes up, a file without a layer and an
// exception that nothing needs.
func TestLayersAreSeen(t *testing.T) {
	t.Parallel()
	folder := "test/architecture/testdata/layers"
	order := layering{
		layers: [][]string{{"types.go"}, {"door.go"}},
		except: map[string]string{"door.go → types.go": "this one goes down"},
	}
	seen := &recorder{}
	order.check(seen, goFiles(t, folder), arrows(t, folder))
	want := []string{
		"lost.go has no layer",
		"types.go → door.go goes up, for Open",
		"door.go → types.go is excepted and does not go up",
	}
	if !slices.Equal(seen.said, want) {
		t.Errorf("said %q, want %q", seen.said, want)
	}
}

// reporter is what check needs of testing.T.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// recorder keeps what a check says.
type recorder struct{ said []string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (l layering) check(t reporter, files []string, arrows []arrow) {
	t.Helper()
	for _, file := range files {
		if l.layerOf(file) < 0 && file != "doc.go" {
			t.Errorf("%s has no layer", file)
		}
	}
	up := map[string]bool{}
	for _, a := range arrows {
		from, to := l.layerOf(a.from), l.layerOf(a.to)
		if from < 0 || to < 0 || from >= to {
			continue
		}
		up[a.String()] = true
		if l.except[a.String()] == "" {
			t.Errorf("%s goes up, for %s", a, strings.Join(a.names, ", "))
		}
	}
	for excepted := range l.except {
		if !up[excepted] {
			t.Errorf("%s is excepted and does not go up", excepted)
		}
	}
}

// layerOf is the index of a file's layer, -1 without one.
func (l layering) layerOf(file string) int {
	return slices.IndexFunc(l.layers, func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			fits, err := path.Match(pattern, file)
			return fits && err == nil
		})
	})
}

// arrow says which names of another file of its package a file uses.
type arrow struct {
	from, to string
	names    []string
}

// String is "a.go → b.go".
func (a arrow) String() string { return a.from + " → " + a.to }

// arrows finds the arrows between the files of a package, tests aside, in order.
func arrows(t *testing.T, folder string) []arrow {
	t.Helper()
	parsed, declared := map[string]*ast.File{}, map[string]string{}
	for _, name := range goFiles(t, folder) {
		// The parser resolves names within a file; what it leaves unresolved is another file's,
		// an import or built in. Fields, methods and keys of literals are not among it.
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, folder, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = file
		for _, identifier := range declarations(file) {
			declared[identifier] = name
		}
	}
	found := map[string]*arrow{}
	for from, file := range parsed {
		for _, identifier := range file.Unresolved {
			to, ours := declared[identifier.Name]
			if !ours || to == from {
				continue
			}
			a := arrow{from: from, to: to}
			if found[a.String()] == nil {
				found[a.String()] = &a
			}
			if known := found[a.String()]; !slices.Contains(known.names, identifier.Name) {
				known.names = append(known.names, identifier.Name)
			}
		}
	}
	var all []arrow
	for _, a := range found {
		slices.Sort(a.names)
		all = append(all, *a)
	}
	slices.SortFunc(all, func(a, b arrow) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// declarations lists what a file declares for its whole package, methods aside.
func declarations(file *ast.File) []string {
	var names []string
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			if declaration.Recv == nil && declaration.Name.Name != "init" {
				names = append(names, declaration.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "_" })
}

// goFiles lists the Go files of a folder by name, tests aside.
func goFiles(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			files = append(files, name)
		}
	}
	return files
}
