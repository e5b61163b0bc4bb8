package openai

import (
	"encoding/json"
	"slices"
	"strconv"

	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/server/realtime/dialect"
)

// Bounds of a client's tools, which are OpenAI's.
const (
	maxClientTools   = 128
	maxToolNameChars = 64
)

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
		if !validToolName(t.Name) {
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

func validToolName(name string) bool {
	if name == "" || len(name) > maxToolNameChars {
		return false
	}
	for _, c := range []byte(name) {
		isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !isLetter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
