package openai

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/sessions"
)

// The content types of a message by its role.
var contentTypes = map[string]string{"user": "input_text", "system": "input_text", "assistant": "output_text"}

var messageKinds = map[string]sessions.ItemKind{
	"user": sessions.UserItem, "system": sessions.SystemItem, "assistant": sessions.AssistantItem,
}

// readItem is an item that a client sends, at param, as the core knows it.
func readItem(item newItem, param string) (sessions.Item, *refusal) {
	one := sessions.Item{ID: item.ID, CallID: item.CallID, Name: item.Name}
	switch item.Type {
	case "message":
		kind, known := messageKinds[item.Role]
		if !known {
			return one, invalid(param+".role", "The roles of a message are user, assistant and system, not "+quote(item.Role)+".")
		}
		text, refused := readText(item, param)
		one.Kind, one.Text = kind, text
		return one, refused
	case "function_call_output":
		if item.CallID == "" || item.Output == nil {
			return one, &refusal{code: "missing_required_parameter", message: "A function_call_output needs call_id and output, both strings.", param: param}
		}
		one.Kind, one.Text = sessions.ToolOutputItem, *item.Output
		return one, nil
	case "function_call":
		if item.CallID == "" || item.Name == "" || item.Arguments == nil {
			return one, &refusal{code: "missing_required_parameter", message: "A function_call needs call_id, name and arguments, all strings.", param: param}
		}
		if !isObject([]byte(*item.Arguments)) || !json.Valid([]byte(*item.Arguments)) {
			return one, invalid(param+".arguments", "arguments is a JSON object, written as a string.")
		}
		one.Kind, one.Arguments = sessions.ClientToolCallItem, json.RawMessage(*item.Arguments)
		return one, nil
	}
	return one, invalid(param+".type", "Items of the types message, function_call, function_call_output and mcp_approval_response can be created, not "+quote(item.Type)+".")
}

// readText is what a message says, its parts joined by line breaks. The newer name of a role's content
// type and the plain "text" are the same.
func readText(item newItem, param string) (string, *refusal) {
	var texts []string
	for _, c := range item.Content {
		switch c.Type {
		case contentTypes[item.Role], "text":
			texts = append(texts, c.Text)
		case "input_image":
			return "", invalid(param+".content", "Images are not taken: no model here looks at them. Say in words what they show.")
		default:
			return "", invalid(param+".content", "The content of a message of the role "+item.Role+" is "+contentTypes[item.Role]+", not "+quote(c.Type)+".")
		}
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return "", &refusal{code: "missing_required_parameter", message: "A message needs content of the type " + contentTypes[item.Role] + " that says something.", param: param + ".content"}
	}
	if strings.ContainsRune(text, 0) || utf8.RuneCountInString(text) > sessions.MaxTextChars {
		return "", invalid(param+".content[0].text", "A message has at most "+strconv.Itoa(sessions.MaxTextChars)+" characters, and not the character U+0000.")
	}
	return text, nil
}
