package openai

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
)

// maxClientTools bounds a client's tools, as OpenAI does.
const maxClientTools = 128

// toolName matches the names of tools.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// readClientTools reads a list of tools. nil, when it is absent, keeps the present ones. Tools that
// are not functions are left out: see unsupportedTools.
func readClientTools(param string, raw json.RawMessage) ([]model.Tool, *refusal) {
	if raw == nil {
		return nil, nil
	}
	var listed []tool
	if refused := decode(raw, param, &listed); refused != nil {
		return nil, refused
	}
	if len(listed) > maxClientTools {
		return nil, invalid(param, "At most "+strconv.Itoa(maxClientTools)+" tools can be set.")
	}
	tools := []model.Tool{}
	for i, t := range listed {
		at := param + "[" + strconv.Itoa(i) + "]"
		if t.Type != "function" {
			continue
		}
		if !toolName.MatchString(t.Name) {
			return nil, invalid(at+".name", "A tool's name has 1 to 64 letters, digits, _ and -.")
		}
		hasName := func(other model.Tool) bool { return other.Name == t.Name }
		if slices.ContainsFunc(tools, hasName) {
			return nil, invalid(at+".name", "There are two tools with the name "+dialect.Quote(t.Name)+".")
		}
		schema := t.Parameters
		if !dialect.IsPresent(schema) {
			schema = nil
		} else if !dialect.IsObject(schema) {
			return nil, invalid(at+".parameters", "parameters is a JSON Schema of an object.")
		}
		tools = append(tools, model.Tool{
			Name: t.Name, Description: t.Description, InputSchema: slices.Clone(schema),
		})
	}
	return tools, nil
}
