package openapi

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// methods are those of a path item, in the order in which they are listed. Tools have the first five.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace", "query"}

// maxSlug is the longest name of a tool.
const maxSlug = 64

var prefixPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)

// Options say how tools are made.
type Options struct {
	// Prefix stands before each name; empty: nothing does.
	Prefix string
	// Server takes the place of the document's servers; empty: they are used.
	Server string
	// Headers are the operator's own, over those that the document describes.
	Headers map[string]string
	// Reserved are names that no tool may have or look like.
	Reserved []string
}

// Operation is one of a document, with its tool or why there is none.
type Operation struct {
	// ID is its operationId; may be empty.
	ID string
	// Method is in capitals. Path is as the document has it.
	Method, Path string
	Summary      string
	Tags         []string
	Deprecated   bool
	// Slug is the name that its tool has or would have, unique in the document.
	Slug string
	// Tool is nil when Why says why there is none.
	Tool *Tool
	Why  string
	// Notes are what the tool does without, in sentences.
	Notes []string
	// Wants is how the API knows its callers; the zero value: it does not ask.
	Wants Wants
}

// Tool is a tool of kind http to be made.
type Tool struct {
	Slug, Description, URL, Method string
	PathParams, QueryParams        []string
	Headers, HardcodedQueryParams  map[string]string
	InputSchema                    map[string]any
	// Variables are dynamic variables that a conversation must bring; with any, or with
	// placeholders in the operator's headers, DynamicVariables is true.
	Variables        []string
	DynamicVariables bool
}

// Plan makes tools of all operations of a document, in the order of their paths. Names depend on the
// document and the prefix only, so that the same document gives the same names again. Errors: options
// that cannot be used.
func (d *Document) Plan(o Options) ([]Operation, error) {
	if o.Prefix != "" {
		o.Prefix = strings.TrimSuffix(o.Prefix, "_")
		if !prefixPattern.MatchString(o.Prefix) {
			return nil, fmt.Errorf("the prefix %q must be a small letter followed by at most 29 small letters, digits and _", o.Prefix)
		}
		o.Prefix += "_"
	}
	if o.Server != "" {
		if why := checkServer(o.Server); why != "" {
			return nil, fmt.Errorf("the server's address %s", why)
		}
	}
	var operations []Operation
	given := names{taken: map[string]bool{}, reserved: map[string]bool{}}
	for _, name := range o.Reserved {
		given.reserved[fold(name)] = true
	}
	work := 0
	paths := object(d.root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !strings.HasPrefix(path, "/") { // an extension
			continue
		}
		item, _, err := d.resolve(paths[path])
		if err != nil {
			item = object(paths[path])
		}
		for _, method := range methods {
			written, ok := item[method].(map[string]any)
			if !ok {
				continue
			}
			made := planner{doc: d, options: o, work: &work, item: item, from: written, op: Operation{
				ID: oneLine(text(written["operationId"]), 200), Method: strings.ToUpper(method), Path: path,
				Summary: oneLine(text(written["summary"]), 200),
			}}
			made.op.Slug = given.give(o.Prefix + nameOf(made.op.ID, method, path))
			made.plan()
			operations = append(operations, made.op)
		}
	}
	return operations, nil
}

// fold is how names are compared: models confuse what differs in case and separators only.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// nameOf is an operation's name from operationId, or from method and path where there is none.
func nameOf(id, method, path string) string {
	name := snake(id)
	if name == "" {
		name = snake(method + "/" + strings.NewReplacer("{", "/by/", "}", "/").Replace(path))
	}
	if name[0] >= '0' && name[0] <= '9' {
		name = "op_" + name
	}
	return name
}

// names are those that were given, folded.
type names struct{ taken, reserved map[string]bool }

// give makes a name that is free: end_call becomes end_call_api when the service has one of that
// name, and the second list_pets becomes list_pets_2.
func (n names) give(name string) string {
	if n.reserved[fold(name)] {
		name += "_api"
	}
	for i := 1; ; i++ {
		end := ""
		if i > 1 {
			end = "_" + strconv.Itoa(i)
		}
		full := strings.TrimRight(name[:min(len(name), maxSlug-len(end))], "_") + end
		if folded := fold(full); !n.taken[folded] && !n.reserved[folded] {
			n.taken[folded] = true
			return full
		}
	}
}

// planner makes the tool of one operation.
type planner struct {
	doc     *Document
	options Options
	work    *int
	item    map[string]any // of the path
	from    map[string]any // the operation
	op      Operation

	tool       Tool
	schema     translator
	properties map[string]any
	required   []any
	// open says whether arguments beside the properties are allowed.
	open any
}

// leave is why an operation has no tool.
type leave struct{ why string }

func (l leave) Error() string { return l.why }

func because(format string, args ...any) error { return leave{fmt.Sprintf(format, args...)} }

func (p *planner) note(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	if !slices.Contains(p.op.Notes, words) {
		p.op.Notes = append(p.op.Notes, words)
	}
}

// maxWork bounds the schemas that all operations of a document visit together.
const maxWork = 2_000_000

// depths are how many levels below the arguments are tried, until the schema is too large.
var depths = []int{0, 1, 2, 3, 4, 6, 8, 12}

// plan describes the arguments as deep as there is room for.
func (p *planner) plan() {
	p.op.Deprecated, _ = p.from["deprecated"].(bool)
	for _, tag := range list(p.from["tags"]) {
		p.op.Tags = append(p.op.Tags, oneLine(text(tag), 60))
	}
	if !slices.Contains(methods[:5], strings.ToLower(p.op.Method)) {
		p.op.Why = "tools have no method " + p.op.Method
		return
	}
	p.op.Why = fmt.Sprintf("its arguments cannot be described in %d KiB", maxSchemaBytes>>10)
	for _, deepest := range depths {
		if *p.work > maxWork {
			p.op.Why, p.op.Tool = "the document repeats itself too often", nil
			return
		}
		fits, err := p.try(deepest)
		if err != nil {
			p.op.Why, p.op.Tool = err.Error(), nil
			return
		}
		if !fits || !p.schema.short {
			return
		}
	}
}

// try makes the tool with so many levels of arguments, and keeps it when it is small enough.
func (p *planner) try(deepest int) (fits bool, err error) {
	before := p.op
	p.op.Notes, p.op.Wants = nil, Wants{}
	p.schema = translator{doc: p.doc, deepest: deepest}
	err = p.make()
	*p.work += p.schema.nodes
	switch {
	case err != nil:
		return false, err
	case p.schema.err != nil:
		return false, p.schema.err
	case p.schema.nodes > maxNodes, len(compact(p.tool.InputSchema)) > maxSchemaBytes:
		p.op = before
		return false, nil
	}
	if p.schema.short {
		p.note("its arguments are described %s deep; what lies below is any value", levels(deepest+1))
	}
	for _, name := range p.schema.cut {
		p.note("%s holds itself: the inner ones are not described again", name)
	}
	tool := p.tool
	p.op.Tool, p.op.Why = &tool, ""
	return true, nil
}

func levels(n int) string {
	if n == 1 {
		return "1 level"
	}
	return strconv.Itoa(n) + " levels"
}

// maxSchemaBytes is half of what the server takes; a model reads all of it in every turn.
const maxSchemaBytes = 32 << 10

// maxToolDescription is what the strictest vendor of models takes.
const maxToolDescription = 1024

// make makes the tool; the error is a leave, or a reference that leads nowhere.
func (p *planner) make() error {
	p.tool = Tool{Slug: p.op.Slug, Method: p.op.Method, Headers: map[string]string{}, HardcodedQueryParams: map[string]string{}}
	p.properties, p.required, p.open = map[string]any{}, nil, false
	server, err := p.server()
	if err != nil {
		return err
	}
	for name, value := range p.options.Headers {
		p.tool.Headers[name] = value
		p.tool.DynamicVariables = p.tool.DynamicVariables || strings.Contains(value, "{{")
	}
	if err := p.body(); err != nil {
		return err
	}
	path, err := p.parameters()
	if err != nil {
		return err
	}
	if err := p.security(); err != nil {
		return err
	}
	p.tool.URL = server + path
	if len(p.tool.URL) > 2048 {
		return because("its URL has more than 2,048 bytes")
	}
	p.describe()
	schema := map[string]any{"type": "object", "properties": p.properties, "additionalProperties": p.open}
	if len(p.required) > 0 {
		schema["required"] = p.required
	}
	p.tool.InputSchema = schema
	return nil
}

// describe says what the model reads to decide when to call the tool.
func (p *planner) describe() {
	about := prose(text(p.from["description"]), maxToolDescription)
	summary := oneLine(text(p.from["summary"]), 300)
	switch {
	case summary != "" && about != "" && !strings.HasPrefix(about, strings.TrimSuffix(summary, ".")):
		about = sentence(summary, about)
	case about == "":
		about = summary
	}
	if about == "" {
		about = oneLine(p.op.Method+" "+p.op.Path, 200)
		if p.doc.Title != "" {
			about += " of " + p.doc.Title + "."
		}
	}
	p.tool.Description = prose(about, maxToolDescription)
}
