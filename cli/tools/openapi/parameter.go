package openapi

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxListed is how many names path_params and query_params can have.
const maxListed = 50

var (
	// argumentName is what every vendor of models takes as the name of an argument.
	argumentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	// placeholderName is what can stand in {} of a tool's URL, and be an argument's name too.
	placeholderName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)
	pathPlaceholder = regexp.MustCompile(`\{([^{}/]*)\}`)
)

// parameters makes arguments of the parameters, and returns the URL's part behind the server.
func (p *planner) parameters() (string, error) {
	written, err := p.collect()
	if err != nil {
		return "", err
	}
	path, behind, _ := strings.Cut(p.op.Path, "?") // OpenAPI does not allow it, and documents have it
	if strings.Contains(p.op.Path, "#") || strings.ContainsAny(behind, "{}?") || strings.Contains(p.op.Path, "{{") {
		return "", because("its path cannot be the path of a URL")
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
				behind += map[bool]string{true: "?", false: "&"}[behind == ""] + placed
			}
		case "header":
			if err := p.header(one); err != nil {
				return "", err
			}
		case "cookie":
			if required(one) {
				return "", because("it needs the cookie %s, which tools do not send", oneLine(text(one["name"]), 60))
			}
		}
	}
	if path, err = p.undeclared(path); err != nil {
		return "", err
	}
	if len(p.tool.PathParams) > maxListed {
		return "", because("its URL has more than %d parameters", maxListed)
	}
	return path + behind, nil
}

func required(parameter map[string]any) bool {
	is, _ := parameter["required"].(bool)
	return is
}

// collect are the parameters of the operation and of its path; the operation's win.
func (p *planner) collect() ([]map[string]any, error) {
	var out []map[string]any
	for _, from := range []any{p.from["parameters"], p.item["parameters"]} {
		for _, value := range list(from) {
			one, _, err := p.doc.resolve(value)
			if err != nil {
				return nil, err
			}
			if text(one["name"]) == "" || slices.ContainsFunc(out, func(had map[string]any) bool {
				return text(had["name"]) == text(one["name"]) && text(had["in"]) == text(one["in"])
			}) {
				continue
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// value is a parameter's schema with its description; how says how it stands in the URL.
func (p *planner) value(one map[string]any) (schema map[string]any, how string) {
	from := one["schema"]
	how = text(one["style"])
	if content := object(one["content"]); len(content) > 0 {
		kind := slices.Sorted(maps.Keys(content))[0]
		from, how = object(content[kind])["schema"], "content"
	}
	schema = p.schema.schema(from, 1)
	if len(schema) == 0 {
		schema["type"] = "string"
	}
	if about := prose(text(one["description"]), maxDescription); about != "" {
		schema["description"] = about
	}
	return schema, how
}

// joinedBy is what stands between the values of a list that is one parameter.
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

// asText makes a list an argument of type string.
func asText(schema map[string]any, between string) map[string]any {
	words := map[string]string{",": "Several are separated by commas.", " ": "Several are separated by spaces.", "|": "Several are separated by |."}[between]
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
		return path, nil // its declaration is left over
	}
	schema, how := p.value(one)
	switch {
	case how != "" && how != "simple":
		return "", because("its path parameter %s has the style %s, which tools do not write", oneLine(name, 40), oneLine(how, 20))
	case isType(schema, "array"):
		schema = asText(schema, ",")
	case isType(schema, "object"):
		return "", because("its path parameter %s is an object", oneLine(name, 40))
	}
	argument := p.free(name, "path")
	p.argument(argument, schema, true)
	p.tool.PathParams = append(p.tool.PathParams, argument)
	return strings.ReplaceAll(path, "{"+name+"}", "{"+argument+"}"), nil
}

// undeclared are placeholders that no parameter describes; documents written by hand have them.
func (p *planner) undeclared(path string) (string, error) {
	for _, found := range pathPlaceholder.FindAllStringSubmatch(path, -1) {
		name := found[1]
		if slices.Contains(p.tool.PathParams, name) {
			continue
		}
		if name == "" {
			return "", because("its path has a placeholder without a name")
		}
		argument := p.free(name, "path")
		p.argument(argument, map[string]any{"type": "string"}, true)
		p.tool.PathParams = append(p.tool.PathParams, argument)
		p.note("the document does not describe {%s}; it is taken for text", oneLine(name, 40))
		path = strings.ReplaceAll(path, found[0], "{"+argument+"}")
	}
	return path, nil
}

// free is a name for an argument that fills a placeholder of the URL: its own where it can be.
func (p *planner) free(name, where string) string {
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
	p.properties[name] = schema
	if needed && !slices.Contains(p.required, any(name)) {
		p.required = append(p.required, name)
	}
}

// query makes an argument of a query parameter. One that must be there and cannot have an argument
// of its name is put into the URL, where its argument can be called otherwise; that part is returned.
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
	_, taken := p.properties[name]
	if why == "" && !argumentName.MatchString(name) {
		why = "has a name that models cannot use"
		if required(one) && !isType(schema, "array") && !strings.Contains(name, "{") {
			return p.placed(name, schema), nil
		}
	}
	if why == "" && taken {
		why = "has the name of another argument"
		if required(one) && !isType(schema, "array") && !strings.Contains(name, "{") {
			return p.placed(name, schema), nil
		}
	}
	listed := hasBody(p.tool.Method)
	if why == "" && listed && len(p.tool.QueryParams) == maxListed {
		why = "is one too many"
	}
	switch {
	case why != "" && required(one):
		return "", because("its query parameter %s %s", oneLine(name, 60), why)
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

// placed puts a query parameter into the URL, with an argument of a name that is free.
func (p *planner) placed(name string, schema map[string]any) string {
	argument := p.free(name, "query")
	p.argument(argument, schema, true)
	p.tool.PathParams = append(p.tool.PathParams, argument)
	return escapeQuery(name) + "={" + argument + "}"
}

func hasBody(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }
