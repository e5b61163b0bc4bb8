package openapi

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// methods are the methods of a path item in listing order. Tools support the first five.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace", "query"}

// maxSlug is the maximum length of a tool's name.
const maxSlug = 64

var prefixPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)

// Options change how tools are made.
type Options struct {
	// Prefix is put before each name; it may be empty.
	Prefix string
	// Server replaces the servers of the document; it may be empty.
	Server string
	// Headers are the operator's. They override those of the document.
	Headers map[string]string
	// SecretHeaders are the names of the operator's secret headers, which tools store apart.
	SecretHeaders []string
	// Reserved are names that no tool may have, compared without case and separators.
	Reserved []string
	// Hints say how the caller states these options.
	Hints Hints
}

// Hints are the words with which sentences about missing options name them. The zero value has
// those of the API; without Header and Prefix nothing is said of these.
type Hints struct{ Server, Header, Auth, Prefix string }

func (h Hints) server() string { return cmp.Or(h.Server, "server") }

// header fills a sentence about the option for a header, if there is one.
func (h Hints) header(format, name string) string {
	if h.Header == "" {
		return ""
	}
	return fmt.Sprintf(format, h.Header, oneLine(name, 60)+": …")
}

// Operation is an operation of a document with its tool, or the reason why it has none.
type Operation struct {
	// ID is the operationId; it may be empty.
	ID string
	// Method is in upper case. Path is written as in the document.
	Method, Path string
	Summary      string
	Tags         []string
	Deprecated   bool
	// Slug is the name of the tool, unique in the document. It is also set when there is no tool.
	Slug string
	// Tool is nil when there is none; Why then says the reason.
	Tool *Tool
	Why  string
	// Notes are sentences about what the tool leaves out.
	Notes []string
	// Wants is the zero value when the API needs no authentication.
	Wants Wants
}

// Tool is a tool of kind http.
type Tool struct {
	Slug, Description, URL, Method string
	PathParams, QueryParams        []string
	Headers, HardcodedQueryParams  map[string]string
	InputSchema                    map[string]any
	// Variables are dynamic variables that a conversation must bring. DynamicVariables is also true
	// when the operator's headers have placeholders.
	Variables        []string
	DynamicVariables bool
}

// Check refuses options that cannot be used.
func (o Options) Check() error {
	if prefix := strings.TrimSuffix(o.Prefix, "_"); o.Prefix != "" && !prefixPattern.MatchString(prefix) {
		return fmt.Errorf("the prefix %q must be a small letter followed by at most 29 small letters, digits and _", prefix)
	}
	if o.Server == "" {
		return nil
	}
	if why := o.checkServer(o.Server); why != "" {
		return fmt.Errorf("the server's address %s", why)
	}
	return nil
}

// Plan makes tools of all operations in the order of their paths. Names depend only on the document
// and the prefix, so a second run gives the same names. It returns an error for invalid options,
// and for too many operations.
func (d *Document) Plan(o Options) ([]Operation, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Prefix != "" {
		o.Prefix = strings.TrimSuffix(o.Prefix, "_") + "_"
	}
	var operations []Operation
	given := names{taken: map[string]bool{}, reserved: map[string]bool{}}
	for _, name := range o.Reserved {
		given.reserved[fold(name)] = true
	}
	work, size := 0, 0
	paths := object(d.root["paths"])
	for _, path := range sorted(paths) {
		if strings.HasPrefix(path, "x-") { // an extension
			continue
		}
		if object(paths[path]) == nil {
			operations = append(operations, Operation{Path: oneLine(path, 200), Why: "the path is not an object with operations"})
			continue
		}
		item, _, err := d.resolve(paths[path])
		if err != nil {
			item = object(paths[path])
		}
		for _, method := range methods {
			value, ok := item[method]
			if !ok {
				continue
			}
			written := object(value)
			if why := malformed(path, written); why != "" {
				id := oneLine(text(written["operationId"]), 200)
				slug := o.Prefix + nameOf(id, method, path)
				operations = append(operations, Operation{
					ID: id, Method: strings.ToUpper(method), Path: oneLine(path, 200), Slug: slug[:min(len(slug), maxSlug)], Why: why,
				})
				continue
			}
			made := planner{doc: d, options: o, work: &work, item: item, from: written, op: Operation{
				ID: oneLine(text(written["operationId"]), 200), Method: strings.ToUpper(method), Path: path,
				Summary: oneLine(text(written["summary"]), 200),
			}}
			made.op.Slug = given.give(o.Prefix + nameOf(made.op.ID, method, path))
			made.plan()
			if size += made.size(); size > maxTotalBytes {
				made.op.Tool, made.op.Why = nil, fmt.Sprintf("the tools before it fill the %d MiB that are described at once: "+
					"take the part of the document you need", maxTotalBytes>>20)
			}
			if operations = append(operations, made.op); len(operations) > maxOperations {
				return nil, fmt.Errorf("the document has more than %d operations; take the part you need", maxOperations)
			}
		}
	}
	return operations, nil
}

const (
	// maxOperations is how many operations a document can have. The largest public ones of one API
	// have about 1,000.
	maxOperations = 5000
	// maxTotalBytes bounds the tools of a document, which may refer to the same schemas again and
	// again.
	maxTotalBytes = 16 << 20
)

// malformed says why an operation cannot be read as one, or "". It then takes no name, so that the
// names of the others stay when the document is corrected.
func malformed(path string, operation map[string]any) (why string) {
	switch {
	case operation == nil:
		return "the operation is not an object"
	case !strings.HasPrefix(path, "/"):
		return "its path does not begin with /"
	}
	return ""
}

// fold normalizes a name for comparison: models confuse names that differ only in case and
// separators.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// nameOf makes a name of the operationId, or else of method and path.
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

// names are the names that are in use, folded.
type names struct{ taken, reserved map[string]bool }

// give returns an unused name. end_call becomes end_call_api when the service has a tool of that
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
	item    map[string]any // the path item
	from    map[string]any // the operation
	op      Operation

	tool       Tool
	schema     translator
	properties map[string]any
	required   []any
	// open is the value of additionalProperties.
	open any
}

// leftOut is the reason why an operation has no tool.
func leftOut(format string, args ...any) error { return fmt.Errorf(format, args...) }

func (p *planner) note(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	if !slices.Contains(p.op.Notes, words) {
		p.op.Notes = append(p.op.Notes, words)
	}
}

// maxWork limits the schemas that are visited for all operations of a document.
const maxWork = 2_000_000

// depths are the levels of nesting that are tried, until the schema is too large.
var depths = []int{0, 1, 2, 3, 4, 6, 8, 12}

// plan makes the tool with the deepest schema that is small enough.
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
	for _, maxLevel := range depths {
		if *p.work > maxWork {
			p.op.Why, p.op.Tool = "the document repeats itself too often", nil
			return
		}
		fits, err := p.try(maxLevel)
		if err != nil {
			p.op.Why, p.op.Tool = err.Error(), nil
			return
		}
		if !fits || !p.schema.truncated {
			return
		}
	}
}

// try makes the tool with a schema of that depth. It keeps the tool if the schema is small enough.
func (p *planner) try(maxLevel int) (fits bool, err error) {
	before := p.op
	p.op.Notes, p.op.Wants = nil, Wants{}
	p.schema = translator{doc: p.doc, maxLevel: maxLevel}
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
	if p.schema.truncated {
		p.note("its arguments are described %s deep; what lies below is any value", levels(maxLevel+1))
	}
	for _, name := range p.schema.recursive {
		p.note("%s holds itself: the inner ones are not described again", name)
	}
	tool := p.tool
	p.op.Tool, p.op.Why = &tool, ""
	return true, nil
}

// size is how many bytes the tool has, about.
func (p *planner) size() int {
	if p.op.Tool == nil {
		return 0
	}
	return len(compact(p.op.Tool.InputSchema)) + len(p.op.Tool.Description) + len(p.op.Tool.URL)
}

func levels(n int) string {
	if n == 1 {
		return "1 level"
	}
	return strconv.Itoa(n) + " levels"
}

// maxSchemaBytes is half of the server's limit, because a model reads the schema in every turn.
const maxSchemaBytes = 32 << 10

// maxToolDescription is the limit of the strictest vendor of models.
const maxToolDescription = 1024

// make makes the tool. Its error is the reason why there is none.
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
		return leftOut("its URL has more than 2,048 bytes")
	}
	p.describe()
	schema := map[string]any{"type": "object", "properties": p.properties, "additionalProperties": p.open}
	if len(p.required) > 0 {
		schema["required"] = p.required
	}
	p.tool.InputSchema = schema
	return nil
}

// describe sets the description, by which a model decides when to call the tool.
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
