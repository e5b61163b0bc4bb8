package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"parlance.dev/parlance/provider/mcp"
)

// Bounds of what an MCP server says about its tools: it is read by models, and paid for by the token.
const (
	mcpMaxTools         = 200
	mcpMaxDescription   = 1000     // characters
	mcpMaxSchema        = 32 << 10 // bytes, of one tool
	mcpMaxCatalog       = 256 << 10
	mcpMaxSchemaDepth   = 24
	mcpMaxSchemaWords   = 500 // characters of a description in a schema
	mcpMaxRemoteNameLen = 128
)

// mcpTool is a server's tool, made fit for models; refused says why it is not.
type mcpTool struct {
	name        string
	description string
	inputSchema json.RawMessage
	refused     DisabledReason
	detail      string
}

// mcpCatalog is a server's tools in its own order. It is never nil once read.
type mcpCatalog []mcpTool

// fit makes a list of tools fit for models. What a server says is data: it is cut, and without what
// cannot be seen; a schema that cannot be used refuses its tool.
func (s *Service) fit(list []mcp.Tool) mcpCatalog {
	catalog := mcpCatalog{}
	seen, size := map[string]bool{}, 0
	for _, remote := range list {
		tool := mcpTool{name: remote.Name, description: visible(remote.Description, mcpMaxDescription)}
		switch {
		case !printableASCII(remote.Name) || len(remote.Name) > mcpMaxRemoteNameLen:
			tool.name = visible(remote.Name, mcpMaxRemoteNameLen)
			tool.refused, tool.detail = ReasonNameRefused, "the server's name for the tool is empty, too long, or has other characters than printable ASCII"
		case seen[remote.Name]:
			tool.refused, tool.detail = ReasonNameRefused, "the server has two tools of this name"
		case len(catalog) >= mcpMaxTools:
			tool.refused, tool.detail = ReasonTooMany, fmt.Sprintf("a server can have at most %d tools here; name those you need in allowed_tools", mcpMaxTools)
		default:
			s.fitSchema(&tool, remote.InputSchema)
		}
		seen[remote.Name] = true
		if tool.refused == "" {
			if size += len(tool.description) + len(tool.inputSchema); size > mcpMaxCatalog {
				tool.refused, tool.detail = ReasonTooMany, fmt.Sprintf("the server's tools have more than %d bytes of descriptions and schemas", mcpMaxCatalog)
			}
		}
		catalog = append(catalog, tool)
	}
	return catalog
}

// fitSchema reads a schema as 2020-12, whatever draft it names, and leaves out what only cannot be used.
func (s *Service) fitSchema(tool *mcpTool, raw json.RawMessage) {
	refuseTool := func(why string) {
		tool.refused, tool.detail = ReasonSchemaRefused, why
	}
	if len(raw) > 2*mcpMaxSchema {
		refuseTool(fmt.Sprintf("its input schema has more than %d bytes", mcpMaxSchema))
		return
	}
	object, ok := decodeJSON(raw).(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	delete(object, "$schema")
	delete(object, "$id")
	if object["type"] == nil {
		object["type"] = "object"
	}
	if object["properties"] == nil {
		delete(object, "properties")
	}
	clean, ok := fitNode(object, mcpMaxSchemaDepth)
	if !ok {
		refuseTool(fmt.Sprintf("its input schema is nested more than %d levels deep", mcpMaxSchemaDepth))
		return
	}
	for _, keep := range []func(any) any{func(v any) any { return v }, func(v any) any { return without(v, "pattern", "format", "patternProperties") }} {
		schema := json.RawMessage(compactJSON(keep(clean)))
		if len(schema) > mcpMaxSchema {
			refuseTool(fmt.Sprintf("its input schema has more than %d bytes", mcpMaxSchema))
			return
		}
		if _, err := s.schemas.checkSchema(schema); err != nil {
			refuseTool("its input schema cannot be used: " + fieldWords(err))
			continue
		}
		tool.inputSchema, tool.refused, tool.detail = schema, "", ""
		return
	}
}

// fitNode cuts the words of a schema; false when it is too deep.
func fitNode(value any, depth int) (any, bool) {
	if depth == 0 {
		return nil, false
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			clean, ok := fitNode(item, depth-1)
			if !ok {
				return nil, false
			}
			value[i] = clean
		}
	case map[string]any:
		for name, member := range value {
			if text, isText := member.(string); isText && (name == "description" || name == "title") {
				value[name] = visible(text, mcpMaxSchemaWords)
				continue
			}
			clean, ok := fitNode(member, depth-1)
			if !ok {
				return nil, false
			}
			value[name] = clean
		}
	}
	return value, true
}

// without leaves out keywords of a schema that other languages' patterns make unusable; a property of
// such a name stays.
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
			drop := false
			for _, keyword := range keywords {
				drop = drop || name == keyword
			}
			if !drop {
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

// visible is at most n characters of a text without those that cannot be seen: control characters,
// marks of direction, zero-width and tag characters hide words from people and not from models.
func visible(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}

// fence puts a server's words where a model reads them as words.
func fence(text string) string {
	return `""" ` + strings.ReplaceAll(text, `"""`, `'''`) + ` """`
}
