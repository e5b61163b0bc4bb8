package modeltest

import (
	"encoding/json"
	"strings"

	"parlance.dev/parlance/provider/model"
)

// Gullible answers without a script: it calls the first offered tool that the user's text
// names (with the JSON object in the text, else with values made up for the required
// properties), repeats what a tool answered, and otherwise echoes the user ("You said: …").
func Gullible(r Received) Reply {
	if len(r.Messages) == 0 {
		return Reply{Text: []string{"Nobody", " said", " anything."}}
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role == model.RoleTool {
		return Reply{Text: pieces("The tool answered: " + last.Text)}
	}
	for _, tool := range r.Tools {
		if strings.Contains(strings.ToLower(last.Text), strings.ToLower(tool.Name)) {
			return Reply{Calls: []Call{{
				ID:        model.Request{Messages: r.Messages}.CallID(0),
				Name:      tool.Name,
				Arguments: []string{arguments(last.Text, tool)},
			}}}
		}
	}
	return Reply{Text: pieces("You said: " + last.Text)}
}

// pieces cuts after each space.
func pieces(text string) []string { return strings.SplitAfter(text, " ") }

func arguments(text string, tool model.Tool) string {
	from, to := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if from >= 0 && to > from && json.Valid([]byte(text[from:to+1])) {
		return text[from : to+1]
	}
	var schema struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type string `json:"type"`
			Enum []any  `json:"enum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(tool.Schema(), &schema); err != nil {
		return "{}"
	}
	made := map[string]any{}
	for _, name := range schema.Required {
		property := schema.Properties[name]
		switch {
		case len(property.Enum) > 0:
			made[name] = property.Enum[0]
		case property.Type == "integer" || property.Type == "number":
			made[name] = 1
		case property.Type == "boolean":
			made[name] = true
		case property.Type == "array":
			made[name] = []any{}
		case property.Type == "object":
			made[name] = map[string]any{}
		default:
			made[name] = text
		}
	}
	out, err := json.Marshal(made)
	if err != nil {
		return "{}"
	}
	return string(out)
}
