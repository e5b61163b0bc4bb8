package openapi

import (
	"cmp"
	"context"
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
// for too many operations, and when the context ends.
func (d *Document) Plan(ctx context.Context, o Options) ([]Operation, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Prefix != "" {
		o.Prefix = strings.TrimSuffix(o.Prefix, "_") + "_"
	}
	d.work = work{left: maxWork, ended: ctx.Done()}
	var operations []Operation
	given := newNames(o.Reserved)
	size := 0
	for _, path := range sorted(object(d.root["paths"])) {
		for _, p := range d.planners(path, o) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if len(operations) == maxOperations {
				return nil, fmt.Errorf("the document has more than %d operations; take the part you need", maxOperations)
			}
			if p.op.Why == "" {
				p.op.Slug = given.give(p.op.Slug)
				p.plan()
				if size += p.size(); size > maxTotalBytes {
					p.op.Tool, p.op.Notes, p.op.Why = nil, nil, fmt.Sprintf("the tools before it fill the %d MiB that are described at once: "+
						"take the part of the document you need", maxTotalBytes>>20)
				}
			}
			operations = append(operations, p.op)
		}
	}
	return operations, ctx.Err()
}

// planners returns the planners of the operations of a path. What cannot be read as an operation
// has the reason.
func (d *Document) planners(path string, o Options) []planner {
	value := object(d.root["paths"])[path]
	switch {
	case strings.HasPrefix(path, "x-"): // an extension
		return nil
	case object(value) == nil:
		return []planner{{op: Operation{Path: oneLine(path, 200), Why: "the path is not an object with operations"}}}
	}
	item, _, broken := d.resolve(value)
	if broken != nil {
		item = object(value)
	}
	var made []planner
	for _, method := range methods {
		if value, ok := item[method]; ok {
			made = append(made, d.planner(path, method, object(value), item, o))
		}
	}
	others := object(item["additionalOperations"]) // since 3.2: other methods, as they are sent
	for _, method := range sorted(others) {
		made = append(made, d.planner(path, oneLine(method, 20), object(others[method]), item, o))
	}
	if broken != nil && len(made) == 0 {
		return []planner{{op: Operation{Path: oneLine(path, 200), Why: broken.Error()}}}
	}
	return made
}

// planner returns the planner of one operation of a path item.
func (d *Document) planner(path, method string, from, item map[string]any, o Options) planner {
	id := oneLine(text(from["operationId"]), 200)
	p := planner{doc: d, options: o, item: item, from: from, op: Operation{
		ID: id, Method: strings.ToUpper(method), Path: path, Slug: o.Prefix + nameOf(id, method, path),
		Summary: oneLine(text(from["summary"]), 200), Why: malformed(path, from),
	}}
	if p.op.Why != "" {
		p.op.Path, p.op.Slug = oneLine(path, 200), p.op.Slug[:min(len(p.op.Slug), maxSlug)]
	}
	return p
}

const (
	// maxOperations is how many operations a document can have. The largest public ones of one API
	// have about 1,000.
	maxOperations = 5000
	// maxTotalBytes bounds the tools of a document, which may refer to the same schemas again and
	// again. The server compiles each schema, which takes about 4 s of work for so many bytes.
	maxTotalBytes = 8 << 20
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
func fold(name string) string { return strings.ToLower(separators.Replace(name)) }

var separators = strings.NewReplacer("-", "", "_", "")

// nameOf makes a name of the operationId, or else of method and path.
func nameOf(id, method, path string) string {
	name := snake(id)
	if name == "" {
		name = snake(method + "/" + strings.NewReplacer("{", "/by/", "}", "/").Replace(path))
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = strings.TrimSuffix("op_"+name, "_")
	}
	return name
}

// names are the names that are in use, folded.
type names struct {
	taken, reserved map[string]bool
	// last is the number of the last name that was given for a name.
	last map[string]int
}

func newNames(reserved []string) names {
	n := names{taken: map[string]bool{}, reserved: map[string]bool{}, last: map[string]int{}}
	for _, name := range reserved {
		n.reserved[fold(name)] = true
	}
	return n
}

// give returns an unused name. end_call becomes end_call_api when the service has a tool of that
// name, and the second list_pets becomes list_pets_2.
func (n names) give(name string) string {
	if n.reserved[fold(name)] {
		name += "_api"
	}
	key := fold(name[:min(len(name), maxSlug)])
	for i := n.last[key] + 1; ; i++ {
		end := ""
		if i > 1 {
			end = "_" + strconv.Itoa(i)
		}
		full := strings.TrimRight(name[:min(len(name), maxSlug-len(end))], "_") + end
		if folded := fold(full); !n.taken[folded] && !n.reserved[folded] {
			n.taken[folded], n.last[key] = true, i
			return full
		}
	}
}

// planner makes the tool of one operation.
type planner struct {
	doc     *Document
	options Options
	item    map[string]any // the path item
	from    map[string]any // the operation
	op      Operation

	tool       Tool
	schema     translator
	properties map[string]any
	required   []any
	// open is the value of additionalProperties.
	open any
	// schemaBytes is the size of the tool's schema, and more are the notes that were left out.
	schemaBytes, more int
}

// maxNotes bounds the notes of an operation.
const maxNotes = 20

// leftOut is the reason why an operation has no tool.
func leftOut(format string, args ...any) error { return fmt.Errorf(format, args...) }

func (p *planner) note(format string, args ...any) {
	if p.more > 0 || len(p.op.Notes) == maxNotes {
		p.more++
		return
	}
	words := fmt.Sprintf(format, args...)
	if !slices.Contains(p.op.Notes, words) {
		p.op.Notes = append(p.op.Notes, words)
	}
}

// depths are the levels of nesting that are tried, until the schema is too large.
var depths = []int{0, 1, 2, 3, 4, 6, 8, 12}

// plan makes the tool with the deepest schema that is small enough.
func (p *planner) plan() {
	p.op.Deprecated, _ = p.from["deprecated"].(bool)
	p.doc.work.spend(len(list(p.from["tags"])))
	for _, tag := range list(p.from["tags"]) {
		p.op.Tags = append(p.op.Tags, oneLine(text(tag), 60))
	}
	if !slices.Contains(methods[:5], strings.ToLower(p.op.Method)) {
		p.op.Why = "tools have no method " + p.op.Method
		return
	}
	p.op.Why = fmt.Sprintf("its arguments cannot be described in %d KiB", maxSchemaBytes>>10)
	for _, maxLevel := range depths {
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
	p.op.Notes, p.more, p.op.Wants = nil, 0, Wants{}
	p.schema = translator{doc: p.doc, maxLevel: maxLevel}
	if !p.doc.work.over() {
		err = p.make()
	}
	switch {
	case p.doc.work.over():
		return false, errTooMuchWork
	case err != nil:
		return false, err
	case p.schema.err != nil:
		return false, p.schema.err
	case !p.fits():
		p.op = before
		return false, nil
	}
	if p.schema.truncated {
		p.note("its arguments are described %s deep; what lies below is any value", levels(maxLevel+1))
	}
	for _, name := range p.schema.recursive {
		p.note("%s holds itself: the inner ones are not described again", name)
	}
	if p.more > 0 {
		p.op.Notes = append(p.op.Notes, fmt.Sprintf("there are %d more notes of this kind", p.more))
	}
	tool := p.tool
	p.op.Tool, p.op.Why = &tool, ""
	return true, nil
}

// errTooMuchWork is the reason why operations at the end of a document have no tools.
var errTooMuchWork = leftOut("the document repeats itself too often, and the operations before it took all the work " +
	"that a document may make: take the part of the document you need")

// fits reports whether the schema is small enough.
func (p *planner) fits() bool {
	p.doc.work.spend(p.schema.nodes / 2) // for the text, which is bounded by withinSize
	if p.schema.nodes > maxNodes || !p.schema.withinSize(p.tool.InputSchema, 2*maxSchemaBytes) {
		return false
	}
	size := len(compact(p.tool.InputSchema))
	if size <= maxSchemaBytes {
		p.schemaBytes = size
	}
	return size <= maxSchemaBytes
}

// size is how many bytes the tool has, about.
func (p *planner) size() int {
	if p.op.Tool == nil {
		return 0
	}
	size := p.schemaBytes + len(p.op.Tool.Description) + len(p.op.Tool.URL)
	for _, note := range p.op.Notes {
		size += len(note)
	}
	return size
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
	if len(p.tool.URL) > maxURLBytes {
		return errLongURL
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
	written := text(p.from["description"])
	p.doc.work.spend(1 + min(len(written), 16*maxToolDescription)/64)
	about := prose(written, maxToolDescription)
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
