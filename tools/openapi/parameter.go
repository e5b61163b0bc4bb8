package openapi

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxPathBytes bounds the path as the document has it, whose placeholders may have longer names
// than the tool's.
const maxPathBytes = 8 << 10

// maxListed is the maximum length of path_params and query_params.
const maxListed = 50

var (
	// argumentName matches the argument names that every vendor of models accepts.
	argumentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	// placeholderName matches names that can be both an argument and a placeholder in a tool's URL.
	placeholderName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)
	pathPlaceholder = regexp.MustCompile(`\{([^{}/]*)\}`)
)

// parameters turns the parameters into arguments and returns the part of the URL after the server.
func (p *planner) parameters() (string, error) {
	written, err := p.collect()
	if err != nil {
		return "", err
	}
	path, behind, _ := strings.Cut(p.op.Path, "?") // OpenAPI does not allow it, and documents have it
	if len(p.op.Path) > maxPathBytes {
		return "", errLongURL
	}
	if strings.Contains(p.op.Path, "#") || strings.ContainsAny(behind, "{}?") || strings.Contains(p.op.Path, "{{") {
		return "", leftOut("its path cannot be the path of a URL")
	}
	if behind != "" {
		behind = "?" + behind
	}
	for _, one := range written {
		switch text(one["in"]) {
		case "path":
			if path, err = p.path(path, one); err != nil {
				return "", err
			}
		case "query", "querystring":
			placed, err := p.query(one)
			if err != nil {
				return "", err
			}
			if placed != "" {
				separator := "&"
				if behind == "" {
					separator = "?"
				}
				behind += separator + placed
			}
		case "header":
			if err := p.header(one); err != nil {
				return "", err
			}
		case "cookie":
			if required(one) {
				return "", leftOut("it needs the cookie %s, which tools do not send", oneLine(text(one["name"]), 60))
			}
		}
	}
	if path, err = p.undeclared(path); err != nil {
		return "", err
	}
	if len(p.tool.PathParams) > maxListed {
		return "", leftOut("its URL has more than %d parameters", maxListed)
	}
	return path + behind, nil
}

func required(parameter map[string]any) bool {
	is, _ := parameter["required"].(bool)
	return is
}

// collect returns the parameters of the operation and of its path. Those of the operation win.
func (p *planner) collect() ([]map[string]any, error) {
	var out []map[string]any
	type parameter struct{ name, in string }
	seen := map[parameter]bool{}
	for _, from := range []any{p.from["parameters"], p.item["parameters"]} {
		p.doc.work.spend(len(list(from)))
		for _, value := range list(from) {
			one, _, err := p.doc.resolve(value)
			if err != nil {
				return nil, err
			}
			key := parameter{text(one["name"]), text(one["in"])}
			if key.name != "" && !seen[key] {
				seen[key] = true
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// value returns the schema of a parameter with its description, and the style in which it is
// written into the URL.
func (p *planner) value(one map[string]any) (schema map[string]any, how string) {
	from := one["schema"]
	how = text(one["style"])
	if content := object(one["content"]); len(content) > 0 {
		kind := sorted(content)[0]
		from, how = object(content[kind])["schema"], "content"
	}
	schema = p.schema.schema(from, 1)
	if len(schema) == 0 {
		schema["type"] = "string"
	}
	if about := p.doc.description(one); about != "" {
		schema["description"] = about
	}
	return schema, how
}

// joinedBy returns the separator of a list that is written as one parameter; empty when it is not.
func joinedBy(one map[string]any, how string) string {
	explode, said := one["explode"].(bool)
	switch how {
	case "spaceDelimited":
		return " "
	case "pipeDelimited":
		return "|"
	case "", "form":
		if said && !explode {
			return ","
		}
	case "simple":
		return ","
	}
	return ""
}

// asText replaces a list by an argument of type string.
func asText(schema map[string]any, between string) map[string]any {
	words := map[string]string{
		",": "Several are separated by commas.", " ": "Several are separated by spaces.",
		"|": "Several are separated by |.",
	}[between]
	about := text(schema["description"])
	if allowed := list(object(schema["items"])["enum"]); len(allowed) > 0 {
		about = sentence(about, "Allowed: "+oneLine(strings.Trim(compact(allowed), "[]"), 300)+".")
	}
	return map[string]any{"type": "string", "description": sentence(about, words)}
}

func isType(schema map[string]any, name string) bool { return slices.Contains(typesOf(schema), name) }

// path puts an argument into the path.
func (p *planner) path(path string, one map[string]any) (string, error) {
	name := text(one["name"])
	if !strings.Contains(path, "{"+name+"}") {
		return path, nil // the path has no such placeholder
	}
	schema, how := p.value(one)
	switch {
	case how != "" && how != "simple":
		return "", leftOut("its path parameter %s has the style %s, which tools do not write", oneLine(name, 40), oneLine(how, 20))
	case isType(schema, "array"):
		schema = asText(schema, ",")
	case isType(schema, "object"):
		return "", leftOut("its path parameter %s is an object", oneLine(name, 40))
	}
	argument := p.freeName(name, "path")
	p.requiredArgument(argument, schema)
	p.tool.PathParams = append(p.tool.PathParams, argument)
	return strings.ReplaceAll(path, "{"+name+"}", "{"+argument+"}"), nil
}

// undeclared adds arguments for placeholders that no parameter describes, as in hand-written
// documents.
func (p *planner) undeclared(path string) (string, error) {
	for _, found := range pathPlaceholder.FindAllStringSubmatch(path, -1) {
		name := found[1]
		if slices.Contains(p.tool.PathParams, name) {
			continue
		}
		if name == "" {
			return "", leftOut("its path has a placeholder without a name")
		}
		argument := p.freeName(name, "path")
		p.requiredArgument(argument, map[string]any{"type": "string"})
		p.tool.PathParams = append(p.tool.PathParams, argument)
		p.note("the document does not describe {%s}; it is taken for text", oneLine(name, 40))
		path = strings.ReplaceAll(path, found[0], "{"+argument+"}")
	}
	return path, nil
}

// freeName returns an unused argument name for a placeholder of the URL, if possible its own name.
func (p *planner) freeName(name, where string) string {
	if !placeholderName.MatchString(name) {
		if name = snake(name); name == "" || name[0] >= '0' && name[0] <= '9' {
			name = where + "_" + name
		}
		name = strings.TrimRight(name[:min(len(name), 50)], "_")
	}
	for {
		if _, taken := p.properties[name]; !taken {
			return name
		}
		name = where + "_" + name
	}
}

// argument adds an argument.
func (p *planner) argument(name string, schema map[string]any, needed bool) {
	if needed {
		p.requiredArgument(name, schema)
	} else {
		p.properties[name] = schema
	}
}

func (p *planner) requiredArgument(name string, schema map[string]any) {
	p.properties[name] = schema
	p.doc.work.spend(1 + len(p.required)/64)
	if !slices.Contains(p.required, any(name)) {
		p.required = append(p.required, name)
	}
}

// query adds an argument for a query parameter. If it is required but its name cannot be an
// argument's, the parameter becomes a placeholder in the URL; that part of the URL is returned.
func (p *planner) query(one map[string]any) (placed string, err error) {
	name := text(one["name"])
	schema, how := p.value(one)
	why := ""
	switch between := joinedBy(one, how); {
	case text(one["in"]) == "querystring":
		why = "is a query as a whole"
	case how == "deepObject", isType(schema, "object") && how != "content":
		why = "is an object, which tools do not write into a query"
	case how == "content" && !isType(schema, "object"):
		why = "is JSON in a query"
	case isType(schema, "array") && between != "":
		schema = asText(schema, between)
	}
	if _, taken := p.properties[name]; why == "" && (taken || !argumentName.MatchString(name)) {
		if required(one) && !isType(schema, "array") && !strings.Contains(name, "{") {
			return p.placed(name, schema), nil
		}
		why = "has a name that models cannot use"
		if taken {
			why = "has the name of another argument"
		}
	}
	listed := hasBody(p.tool.Method)
	if why == "" && listed && len(p.tool.QueryParams) == maxListed {
		why = "is one too many"
	}
	switch {
	case why != "" && required(one):
		return "", leftOut("its query parameter %s %s", oneLine(name, 60), why)
	case why != "":
		p.note("the query parameter %s is left out: it %s", oneLine(name, 60), why)
		return "", nil
	}
	if listed || len(p.tool.QueryParams) < maxListed { // without a body every other argument goes into the query
		p.tool.QueryParams = append(p.tool.QueryParams, name)
	}
	p.argument(name, schema, required(one))
	return "", nil
}

// placed puts a query parameter into the URL as a placeholder with an unused name.
func (p *planner) placed(name string, schema map[string]any) string {
	argument := p.freeName(name, "query")
	p.requiredArgument(argument, schema)
	p.tool.PathParams = append(p.tool.PathParams, argument)
	return url.QueryEscape(name) + "={" + argument + "}"
}

func hasBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }
