package mcpservers

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/jsonvalue"
	"parlance.dev/parlance/provider/mcp"
	"parlance.dev/parlance/tools/modeltext"
	"parlance.dev/parlance/tools/schema"
)

// Bounds of what a server says about its tools. Models read it, and tenants pay for it by the
// token.
const (
	maxTools            = 200
	maxDescriptionChars = 1000
	maxTitleChars       = 200
	maxSchemaBytes      = 32 << 10 // of one tool
	maxCatalogBytes     = 256 << 10
	maxSchemaDepth      = 24
	maxSchemaTextChars  = 500 // of a title or description in a schema
	maxNameBytes        = 128
)

// Reason says why a server or one of its tools cannot be used.
type Reason string

// The reasons.
const (
	// Unreachable: the server could not be asked for its tools.
	Unreachable Reason = "unreachable"
	// NameRefused: the name cannot be told to a model.
	NameRefused Reason = "name_refused"
	// SchemaRefused: the input schema cannot be used.
	SchemaRefused Reason = "schema_refused"
	// TooMany: more tools, or longer descriptions, than a model can be given.
	TooMany Reason = "too_many"
)

// Tool is a tool of a server, made usable for models.
type Tool struct {
	Name string
	// Title is for people; it may be empty.
	Title       string
	Description string
	InputSchema json.RawMessage
	// Refused says why the tool cannot be used. Empty when it can.
	Refused Reason
	// Detail describes the reason to an operator.
	Detail string
}

func (t *Tool) refuse(reason Reason, detail string) { t.Refused, t.Detail = reason, detail }

// usable makes a list of tools usable for models: texts are cut and lose invisible characters, and
// a tool with an unusable name or schema is refused. The result is not nil.
func (s *Service) usable(list []mcp.Tool) []Tool {
	tools := []Tool{}
	seen := map[string]bool{}
	for _, remote := range list {
		tool := Tool{
			Name: remote.Name, Title: modeltext.Visible(remote.Title, maxTitleChars),
			Description: modeltext.Visible(remote.Description, maxDescriptionChars),
		}
		switch {
		case remote.Malformed != "":
			tool.Name = modeltext.Visible(remote.Name, maxNameBytes)
			tool.refuse(SchemaRefused, "the server's description of the tool cannot be read: "+remote.Malformed)
		case !printableASCII(remote.Name) || len(remote.Name) > maxNameBytes:
			tool.Name = modeltext.Visible(remote.Name, maxNameBytes)
			tool.refuse(NameRefused, "the server's name for the tool is empty, too long, or has other characters than printable ASCII")
		case seen[remote.Name]:
			tool.refuse(NameRefused, "the server has two tools of this name")
		default:
			s.setSchema(&tool, remote.InputSchema)
		}
		seen[remote.Name] = true
		tools = append(tools, tool)
	}
	return tools
}

// Limit refuses those of the tools that are more than a model can be given.
func Limit(tools []Tool) []Tool {
	out := slices.Clone(tools)
	count, size := 0, 0
	for i := range out {
		tool := &out[i]
		if tool.Refused != "" {
			continue
		}
		count++
		size += len(tool.Description) + len(tool.InputSchema)
		switch {
		case count > maxTools:
			tool.refuse(TooMany, fmt.Sprintf("an agent can have at most %d tools of a server; name those you need in allowed_tools", maxTools))
		case size > maxCatalogBytes:
			tool.refuse(TooMany, fmt.Sprintf("the server's tools have more than %d bytes of descriptions and schemas; "+
				"name those you need in allowed_tools", maxCatalogBytes))
		}
	}
	return out
}

// setSchema reads a schema in the draft that it names, or as 2020-12 when that is not known. When
// its patterns or formats cannot be used, it leaves them out.
func (s *Service) setSchema(tool *Tool, raw json.RawMessage) {
	if len(raw) > maxSchemaBytes {
		tool.refuse(SchemaRefused, fmt.Sprintf("its input schema has more than %d bytes", maxSchemaBytes))
		return
	}
	object, ok := jsonvalue.Decode(raw).(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	if draft, _ := object["$schema"].(string); !schema.KnowsDraft(draft) {
		delete(object, "$schema")
	}
	delete(object, "$id")
	if object["type"] == nil {
		object["type"] = "object"
	}
	if object["properties"] == nil {
		delete(object, "properties")
	}
	clean, ok := cutTexts(object, maxSchemaDepth)
	if !ok {
		tool.refuse(SchemaRefused, fmt.Sprintf("its input schema is nested more than %d levels deep", maxSchemaDepth))
		return
	}
	for _, leftOut := range [][]string{nil, {"pattern", "format", "patternProperties"}} {
		usable := json.RawMessage(jsonvalue.Compact(without(clean, leftOut...)))
		if _, err := s.schemas.Check(usable); err != nil {
			tool.refuse(SchemaRefused, "its input schema cannot be used: "+fieldMessage(err))
			continue
		}
		tool.InputSchema = usable
		tool.refuse("", "")
		return
	}
}

// cutTexts cuts the titles and descriptions of a schema. It returns false for one that is too deep.
func cutTexts(value any, depth int) (any, bool) {
	if depth == 0 {
		return nil, false
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			clean, ok := cutTexts(item, depth-1)
			if !ok {
				return nil, false
			}
			value[i] = clean
		}
	case map[string]any:
		for name, member := range value {
			if text, isText := member.(string); isText && (name == "description" || name == "title") {
				value[name] = modeltext.Visible(text, maxSchemaTextChars)
				continue
			}
			clean, ok := cutTexts(member, depth-1)
			if !ok {
				return nil, false
			}
			value[name] = clean
		}
	}
	return value, true
}

// without returns a schema without some keywords. Properties with these names stay.
func without(value any, keywords ...string) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = without(item, keywords...)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			if properties, ok := member.(map[string]any); ok && name == "properties" {
				kept := map[string]any{}
				for property, schema := range properties {
					kept[property] = without(schema, keywords...)
				}
				out[name] = kept
				continue
			}
			if !slices.Contains(keywords, name) {
				out[name] = without(member, keywords...)
			}
		}
		return out
	}
	return value
}

func printableASCII(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' })
}

// fieldMessage is the message about the field of an error of package fault.
func fieldMessage(err error) string {
	if decided, ok := errors.AsType[*fault.Error](err); ok && len(decided.Fields) > 0 {
		return decided.Fields[0].Message
	}
	return "it is not valid"
}
