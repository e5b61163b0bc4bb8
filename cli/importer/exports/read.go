package exports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the size of the largest file that is read.
const MaxBytes = 20 << 20

// File is an exported file.
type File struct {
	// Name is shown to people.
	Name string
	Data []byte
}

// shape is what an object of an export is.
type shape string

// The shapes. The names are for people.
const (
	shapeAgent     shape = "agent"
	shapeAssistant shape = "assistant"
	shapeTool      shape = "tool"
	shapeMCPServer shape = "MCP server"
	shapeDocument  shape = "document"
	shapeKnowledge shape = "knowledge base"
	shapeLLM       shape = "response engine"
	shapeFlow      shape = "conversation flow"
	shapeSquad     shape = "squad"
	shapeFile      shape = "file"
)

// item is an object of an export whose shape is known.
type item struct {
	node
	provider Provider
	shape    shape
}

// Read reads the files of one export. The first holds the agent; others hold what it names by id.
// Errors are sentences for people, without values of the files.
func Read(provider Provider, files []File) (*Plan, error) {
	var items []item
	var trees []*tree
	for _, file := range files {
		root, err := decode(file)
		if err != nil {
			return nil, err
		}
		t := newTree(file.Name, root)
		trees = append(trees, t)
		found := unwrap(t.top(), 0)
		if len(found) == 0 {
			return nil, fmt.Errorf("%s holds nothing that %s exports: %s", file.Name, provider.Title(), expected[provider])
		}
		for _, one := range found {
			if one.provider != provider {
				return nil, fmt.Errorf("%s is an export of %s (%s), not of %s: parlance import %s "+
					"%s", file.Name, one.provider.Title(), one.shape,
					provider.Title(), one.provider, file.Name)
			}
		}
		items = append(items, found...)
	}
	plan, err := readers[provider](items)
	if err != nil {
		return nil, err
	}
	plan.cutFragments()
	plan.unify()
	plan.warn()
	for _, t := range trees {
		plan.Rows = append(plan.Rows, t.finish()...)
	}
	if len(plan.Agents) == 0 {
		return nil, fmt.Errorf("there is no agent in what was given, only what belongs to one: %s", expected[provider])
	}
	return plan, nil
}

// expected says which files an import takes.
var expected = map[Provider]string{
	ElevenLabs: "the answer to GET /v1/convai/agents/{agent_id}, with its conversation_config",
	Vapi:       "the answer to GET /assistant/{id} or GET /assistant, with its model and voice",
	Retell:     "the answer to GET /get-agent/{agent_id}, with its response_engine, and that to GET /get-retell-llm/{llm_id}",
}

var readers = map[Provider]func([]item) (*Plan, error){
	ElevenLabs: readElevenLabs, Vapi: readVapi, Retell: readRetell,
}

// decode reads JSON, with every digit of its numbers.
func decode(file File) (any, error) {
	if len(file.Data) > MaxBytes {
		return nil, fmt.Errorf("%s is larger than %d MiB", file.Name, MaxBytes>>20)
	}
	data := bytes.TrimPrefix(file.Data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is not text in UTF-8, as JSON is", file.Name)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, broken(file.Name, data, decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s has more than one JSON value; give each its own file, or make a list of them", file.Name)
	}
	return root, nil
}

// broken says where a file is no JSON. The decoder's own message may repeat a character of the
// file, never a value.
func broken(name string, data []byte, offset int64, err error) error {
	switch syntax, ok := errors.AsType[*json.SyntaxError](err); {
	case len(bytes.TrimSpace(data)) == 0:
		return fmt.Errorf("%s is empty", name)
	case ok:
		offset = syntax.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is no whole JSON document: it ends in the middle", name)
	}
	before := data[:min(max(offset, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("%s is no JSON document: line %d, column %d", name, line, column)
}

// wrappers are keys under which lists and bundles hold what they are made of.
var wrappers = []string{
	"agents", "assistants", "tools", "documents", "files", "mcp_servers", "squads", "knowledge_bases", "agent", "assistant", "llm",
	"retell_llm", "conversation_flow", "response_engine_details", "items", "results", "data",
}

// maxWrappers is how deep lists and bundles may hold each other.
const maxWrappers = 4

// unwrap finds the objects of known shape in a value: itself, the members of a list, or those of
// a bundle.
func unwrap(n node, depth int) []item {
	if depth > maxWrappers {
		return nil
	}
	if provider, shape := recognise(n); shape != "" {
		return []item{{n, provider, shape}}
	}
	var found []item
	if list, ok := n.value.([]any); ok {
		for i := range list {
			found = append(found, unwrapped(n.items()[i], depth)...)
		}
		return found
	}
	for _, key := range wrappers {
		if n.has(key) {
			found = append(found, unwrapped(n.at(key), depth)...)
		}
	}
	if len(found) > 0 {
		n.note(table{
			"has_more": "The list goes on: export its next page too.", "next_cursor": anew, "pagination_key": anew, "metadata": anew,
		})
	}
	return found
}

func unwrapped(n node, depth int) []item { return unwrap(n, depth+1) }

// vapiTools are the types of tools that Vapi has.
var vapiTools = []string{
	"function", "apiRequest", "mcp", "endCall", "transferCall", "dtmf", "voicemail", "query", "handoff", "sms", "bash", "computer",
	"textEditor", "code", "output", "ghl", "make", "sipRequest", "slack.message.send", "google.calendar.availability.check",
	"google.calendar.event.create", "google.sheets.row.append", "gohighlevel.calendar.availability.check",
	"gohighlevel.calendar.event.create", "gohighlevel.contact.create", "gohighlevel.contact.get",
}

// recognise says what an object is, by the keys that only this shape has.
func recognise(n node) (Provider, shape) {
	kind := n.peek("type")
	any := func(keys ...string) bool { return slices.ContainsFunc(keys, n.has) }
	switch {
	case !n.isObject():
		return "", ""
	case any("conversation_config"):
		return ElevenLabs, shapeAgent
	case any("tool_config"):
		return ElevenLabs, shapeTool
	case any("response_engine"):
		return Retell, shapeAgent
	case any("llm_id", "general_prompt"):
		return Retell, shapeLLM
	case any("conversation_flow_id"):
		return Retell, shapeFlow
	case any("knowledge_base_id", "knowledge_base_sources"):
		return Retell, shapeKnowledge
	case any("extracted_inner_html"), n.has("id") && slices.Contains([]string{"url", "text", "file", "folder"}, kind):
		return ElevenLabs, shapeDocument
	case n.has("config") && strings.Contains(strings.Join(keysOf(n.value, "config"), " "), "url"):
		return ElevenLabs, shapeMCPServer
	case n.isMember("members"):
		return Vapi, shapeSquad
	case slices.Contains(vapiTools, kind) && any("function", "server", "url", "orgId", "destinations", "name", "knowledgeBases"):
		return Vapi, shapeTool
	case any("mimetype", "originalName", "parsedTextUrl"):
		return Vapi, shapeFile
	case any("transcriber", "firstMessage", "firstMessageMode"), any("model") && any("orgId", "voice"):
		return Vapi, shapeAssistant
	}
	return "", ""
}

// isMember says whether a member is a list.
func (n node) isMember(key string) bool {
	object, _ := n.value.(map[string]any)
	_, ok := object[key].([]any)
	return ok
}

func keysOf(value any, key string) []string {
	object, _ := value.(map[string]any)
	member, _ := object[key].(map[string]any)
	var keys []string
	for name := range member {
		keys = append(keys, name)
	}
	return keys
}

// byID are the items of a shape by the member that identifies them.
func byID(items []item, of shape, key string) map[string]node {
	found := map[string]node{}
	for _, one := range items {
		if id := one.peek(key); one.shape == of && id != "" {
			found[id] = one.node
		}
	}
	return found
}
