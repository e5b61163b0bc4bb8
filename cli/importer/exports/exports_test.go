package exports_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/cli/importer/exports"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/platform/stablejson"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// imports are the files that belong together; the name is that of the golden file.
var imports = map[string][]string{
	"elevenlabs/small":    {"elevenlabs/small.json"},
	"elevenlabs/full":     {"elevenlabs/full.json"},
	"elevenlabs/by-id":    {"elevenlabs/by-id.json", "elevenlabs/tools.json", "elevenlabs/mcp.json", "elevenlabs/documents.json"},
	"elevenlabs/alone":    {"elevenlabs/by-id.json"},
	"elevenlabs/workflow": {"elevenlabs/workflow.json"},
	"vapi/small":          {"vapi/small.json"},
	"vapi/full":           {"vapi/full.json", "vapi/tools.json", "vapi/files.json"},
	"vapi/list":           {"vapi/list.json", "vapi/tools.json"},
	"vapi/squad":          {"vapi/squad.json"},
	"retell/small":        {"retell/small.json"},
	"retell/full":         {"retell/agent.json", "retell/llm.json", "retell/kb.json"},
	"retell/dashboard":    {"retell/dashboard.json"},
	"retell/flow":         {"retell/flow.json"},
	"retell/custom":       {"retell/custom.json"},
}

func files(t testing.TB, names ...string) []exports.File {
	t.Helper()
	list := make([]exports.File, len(names))
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		list[i] = exports.File{Name: name, Data: data}
	}
	return list
}

func providerOf(name string) exports.Provider {
	provider, _, _ := strings.Cut(name, "/")
	return exports.Provider(provider)
}

// Each example becomes what its golden file says: agents, tools and sources, what is left to do,
// and a row for each member.
func TestRead(t *testing.T) {
	t.Parallel()
	for name, given := range imports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := exports.Read(providerOf(name), files(t, given...))
			if err != nil {
				t.Fatal(err)
			}
			got := describe(t, plan)
			golden := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, string(want)); diff != "" {
				t.Errorf("run the test with -update when this is meant:\n%s", diff)
			}
			checkRows(t, plan, files(t, given...))
			checkFields(t, plan)
		})
	}
}

// describe is a plan as text. Secrets are in what is to be made, and nowhere else.
func describe(t *testing.T, plan *exports.Plan) string {
	t.Helper()
	var out strings.Builder
	write := func(what string, message proto.Message) {
		text, err := stablejson.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(set(value), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", what, indented)
	}
	for _, agent := range plan.Agents {
		write("agent", agent.Want)
		for _, tool := range agent.Tools {
			fmt.Fprintf(&out, "  uses %s\n", tool.Want.GetSlug())
		}
		for _, source := range agent.Sources {
			fmt.Fprintf(&out, "  reads %s\n", source.Name)
		}
		fmt.Fprintf(&out, "  variables %v\n", agent.Variables)
		for _, todo := range agent.Todos {
			fmt.Fprintf(&out, "  todo %s: %s\n", todo.What, todo.Command)
		}
	}
	for _, tool := range plan.Tools {
		write("tool", tool.Want)
		fmt.Fprintf(&out, "  secrets %v, notes %q\n", tool.Secrets, tool.Notes)
	}
	for _, source := range plan.Sources {
		fmt.Fprintf(&out, "source %+v\n", *source)
	}
	for _, row := range plan.Rows {
		fmt.Fprintf(&out, "%s %s: %s %s%s\n", row.Kind, row.File, row.Path, row.To, row.Why)
	}
	return out.String()
}

// set is a value without the members that are at their defaults.
func set(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for name, member := range object {
		switch member := set(member).(type) {
		case nil, bool, string, float64:
			if member != nil && member != false && member != "" && member != 0.0 {
				out[name] = member
			}
		case []any:
			if len(member) > 0 {
				out[name] = member
			}
		default:
			out[name] = member
		}
	}
	return out
}

// checkRows checks that every member of the files is in exactly one row, or in the row of what it
// is in, and that no row names what is not there.
func checkRows(t *testing.T, plan *exports.Plan, given []exports.File) {
	t.Helper()
	rows := map[string]bool{}
	for _, row := range plan.Rows {
		rows[row.File+"\x00"+row.Path] = true
		hasSentence := strings.HasSuffix(row.Why, ".") || strings.HasSuffix(row.Why, ")")
		if (row.Kind == exports.Lost || row.Kind == exports.Cut) && !hasSentence {
			t.Errorf("%s has no sentence: %q", row.Path, row.Why)
		}
		if (row.Kind == exports.Mapped || row.Kind == exports.Cut) && row.To == "" {
			t.Errorf("%s became nothing", row.Path)
		}
	}
	for _, file := range given {
		decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(file.Data, []byte("\xef\xbb\xbf"))))
		decoder.UseNumber() // 1e700 is no float64
		var root any
		if err := decoder.Decode(&root); err != nil {
			t.Fatal(err)
		}
		checkMembers(t, rows, file.Name, "", root)
	}
}

var simple = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

func checkMembers(t *testing.T, rows map[string]bool, file, path string, value any) {
	t.Helper()
	if rows[file+"\x00"+path] {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			t.Errorf("%s: the empty object %s is in no row", file, path)
		}
		for key, member := range value {
			at := path + "." + key
			switch {
			case !simple.MatchString(key):
				at = path + "[" + strconv.Quote(key) + "]"
			case path == "":
				at = key
			}
			checkMembers(t, rows, file, at, member)
		}
	case []any:
		if len(value) == 0 {
			t.Errorf("%s: the empty list %s is in no row", file, path)
		}
		for i, member := range value {
			checkMembers(t, rows, file, path+"["+strconv.Itoa(i)+"]", member)
		}
	default:
		t.Errorf("%s: %s is in no row", file, path)
	}
}

// checkFields checks that the fields that rows name are in the contract.
func checkFields(t *testing.T, plan *exports.Plan) {
	t.Helper()
	messages := map[string]protoreflect.MessageDescriptor{
		"agent":  (&parlancev1.CreateAgentRequest{}).ProtoReflect().Descriptor(),
		"tool":   (&parlancev1.CreateToolRequest{}).ProtoReflect().Descriptor(),
		"source": (&parlancev1.Source{}).ProtoReflect().Descriptor(),
	}
	for _, row := range plan.Rows {
		to := row.To
		if to == "" || strings.HasPrefix(to, "variable ") || strings.HasPrefix(to, "tool system:") {
			continue
		}
		names := strings.Split(to, ".")
		message, ok := messages[names[0]]
		for _, name := range names[1:] {
			var field protoreflect.FieldDescriptor
			if message != nil {
				field = message.Fields().ByName(protoreflect.Name(name))
			}
			if ok = ok && field != nil; ok {
				message = field.Message()
			}
		}
		if !ok {
			t.Errorf("%s became %s, which the contract does not have", row.Path, to)
		}
	}
}

// Nothing that people are shown has a value of the export in it.
func TestReadShowsNoSecrets(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, given := range imports {
		plan, err := exports.Read(providerOf(name), files(t, given...))
		if err != nil {
			t.Fatal(err)
		}
		var shown []any
		for _, agent := range plan.Agents {
			shown = append(shown, agent.Todos, agent.Variables)
		}
		for _, tool := range plan.Tools {
			shown = append(shown, tool.Secrets, tool.Notes,
				exports.SafeURL(tool.Want.GetWebhookUrl()), exports.SafeURL(tool.Want.GetMcpServerUrl()))
			seen += strings.Count(tool.Want.String(), "NEVER-SHOWN")
		}
		if text := fmt.Sprint(append(shown, plan.Rows, plan.Todos)); strings.Contains(text, "NEVER-SHOWN") {
			t.Errorf("%s shows a secret: %s", name, text)
		}
	}
	if seen < 8 {
		t.Errorf("only %d secrets of the examples were brought over", seen)
	}
}

// What cannot be read is said in a sentence.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	given := func(text string) []exports.File { return []exports.File{{Name: "a.json", Data: []byte(text)}} }
	for name, row := range map[string]struct {
		provider exports.Provider
		files    []exports.File
		want     string
	}{
		"of Vapi": {exports.ElevenLabs, files(t, "vapi/small.json"), "is an export of Vapi (assistant), not of ElevenLabs: " +
			"parlance import vapi"},
		"of Retell": {exports.Vapi, files(t, "retell/agent.json"), "is an export of Retell (agent), not of Vapi: parlance " +
			"import retell"},
		"of ElevenLabs": {exports.Retell, files(t, "elevenlabs/full.json"), "is an export of ElevenLabs (agent), not of Retell: " +
			"parlance import elevenlabs"},
		"of two": {exports.Vapi, files(t, "vapi/small.json", "retell/kb.json"), "retell/kb.json is an export of Retell " +
			"(knowledge base)"},
		"no agent":   {exports.Vapi, files(t, "vapi/tools.json"), "there is no agent in what was given"},
		"empty":      {exports.Vapi, given(" \n"), "a.json is empty"},
		"cut":        {exports.Vapi, given(`{"name": "x",`), "a.json is no whole JSON document"},
		"broken":     {exports.Vapi, given("{\"a\": 1,\n  secret}"), "a.json is no JSON document: line 2, column 3"},
		"two values": {exports.Vapi, given("{}\n{}"), "more than one JSON value"},
		"no UTF-8":   {exports.Retell, given("{\"agent_name\": \"\xff\"}"), "a.json is not text in UTF-8"},
		"a number":   {exports.Retell, given("7"), "a.json holds nothing that Retell exports"},
		"other":      {exports.ElevenLabs, given(`{"detail": {"status": "invalid_api_key"}}`), "GET /v1/convai/agents/{agent_id}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := exports.Read(row.provider, row.files)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
}

// Reading never panics, and accounts for every member of whatever it is given.
func FuzzRead(f *testing.F) {
	for name, given := range imports {
		for _, file := range files(f, given...) {
			f.Add(slices.Index(exports.Providers, providerOf(name)), file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, at int, data []byte) {
		provider := exports.Providers[(at%len(exports.Providers)+len(exports.Providers))%len(exports.Providers)]
		given := []exports.File{{Name: "fuzz.json", Data: data}}
		plan, err := exports.Read(provider, given)
		if err != nil {
			return
		}
		checkRows(t, plan, given)
		checkFields(t, plan)
		for _, agent := range plan.Agents {
			if _, err := proto.Marshal(agent.Want); err != nil {
				t.Error(err)
			}
		}
	})
}
