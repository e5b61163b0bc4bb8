package extractive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parlance.dev/parlance/provider/model"
)

const (
	usage = "Type /tool <slug> {json}, for example: /tool get_weather {\"city\": \"Rome\"}. The JSON is an object with the tool's " +
		"arguments and may be left out."
	// maxOutputRunes bounds how much of a tool's output is repeated.
	maxOutputRunes = 1000
	// maxFields bounds the fields of an output that are put into words; more stay JSON.
	maxFields = 12
)

// command returns what follows /tool.
func command(text string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimSpace(text), "/tool")
	if !ok || (rest != "" && !strings.ContainsAny(rest[:1], " \t\n")) {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// toolCall answers a command with a call, or with words on what is wrong with it.
func toolCall(req model.Request, rest string) model.Result {
	slug, arguments := rest, ""
	if i := strings.IndexAny(rest, " \t\n{"); i >= 0 {
		slug, arguments = rest[:i], strings.TrimSpace(rest[i:])
	}
	if slug == "" {
		return model.Result{Text: usage + " " + offered(req.Tools)}
	}
	known := slices.ContainsFunc(req.Tools, func(t model.Tool) bool { return t.Name == slug })
	if !known {
		return model.Result{Text: fmt.Sprintf("There is no tool %q here. %s", slug, offered(req.Tools))}
	}
	call := model.NewToolCall(req.CallID(0), slug, arguments)
	if call.Malformed != "" {
		return model.Result{Text: fmt.Sprintf("What follows %s is not a JSON object. %s", slug, usage)}
	}
	return model.Result{ToolCalls: []model.ToolCall{call}}
}

func offered(tools []model.Tool) string {
	if len(tools) == 0 {
		return "This agent has no tools."
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return "The tools here are: " + strings.Join(names, ", ") + "."
}

// toolAnswers reports the tool messages at the end of the conversation.
func toolAnswers(req model.Request) string {
	from := len(req.Messages)
	for from > 0 && req.Messages[from-1].Role == model.RoleTool {
		from--
	}
	var lines []string
	for _, m := range req.Messages[from:] {
		name := req.ToolName(m.ToolCallID)
		if answer, ok := readMemory(name, m.Bare, m.Text); ok {
			lines = append(lines, memoryWords(answer))
			continue
		}
		if words, ok := telephoneWords(name, cmp.Or(m.Bare, m.Text)); ok {
			lines = append(lines, words)
			continue
		}
		if name == "" {
			name = "The tool"
		}
		lines = append(lines, name+" answered: "+inWords(cmp.Or(m.Bare, m.Text)))
	}
	return strings.Join(lines, "\n\n")
}

// inWords turns a small flat JSON object into "name: value, name: value" and leaves all else.
func inWords(output string) string {
	text := strings.TrimSpace(output)
	if text == "" {
		return "(nothing)"
	}
	if fields, ok := flat(text); ok {
		text = fields
	}
	runes := []rune(text)
	if len(runes) > maxOutputRunes {
		text = string(runes[:maxOutputRunes]) + " …"
	}
	return text
}

// flat reads the object token by token, since a map would lose the order of its fields.
func flat(text string) (string, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return "", false
	}
	var parts []string
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return "", false
		}
		value, err := decoder.Token()
		if _, nested := value.(json.Delim); err != nil || nested || len(parts) == maxFields {
			return "", false
		}
		if value == nil {
			value = "none"
		}
		parts = append(parts, fmt.Sprintf("%v: %v", key, value))
	}
	return strings.Join(parts, ", "), len(parts) > 0
}
