package openai

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance.dev/parlance/server/realtime/dialect"
	"parlance.dev/parlance/sessions"
)

// contentTypes are the content types of a message by its role.
var contentTypes = map[string]string{"user": "input_text", "system": "input_text", "assistant": "output_text"}

var messageKinds = map[string]sessions.ItemKind{
	"user": sessions.UserItem, "system": sessions.SystemItem, "assistant": sessions.AssistantItem,
}

// readItem is a client's item as the conversation knows it. param is where the item stands in the
// event.
func readItem(item newItem, param string) (sessions.Item, *refusal) {
	read := sessions.Item{ID: item.ID, CallID: item.CallID, Name: item.Name}
	switch item.Type {
	case "message":
		kind, known := messageKinds[item.Role]
		if !known {
			return read, invalid(param+".role",
				"The roles of a message are user, assistant and system, not "+dialect.Quote(item.Role)+".")
		}
		text, refused := readText(item, param)
		read.Kind, read.Text = kind, text
		return read, refused
	case "function_call_output":
		if item.CallID == "" || item.Output == nil {
			return read, missingParameter(param, "A function_call_output needs call_id and output, both strings.")
		}
		read.Kind, read.Text = sessions.ToolOutputItem, *item.Output
		return read, nil
	case "function_call":
		if item.CallID == "" || item.Name == "" || item.Arguments == nil {
			return read, missingParameter(param, "A function_call needs call_id, name and arguments, all strings.")
		}
		if !dialect.IsObject([]byte(*item.Arguments)) || !json.Valid([]byte(*item.Arguments)) {
			return read, invalid(param+".arguments", "arguments is a JSON object, written as a string.")
		}
		read.Kind, read.Arguments = sessions.ClientToolCallItem, json.RawMessage(*item.Arguments)
		return read, nil
	}
	return read, invalid(param+".type", "Items of the types message, function_call, function_call_output and"+
		" mcp_approval_response can be created, not "+dialect.Quote(item.Type)+".")
}

// readText is the text of a message, its parts joined by line breaks. The content type "text"
// stands for the role's own.
func readText(item newItem, param string) (string, *refusal) {
	var texts []string
	for _, c := range item.Content {
		switch c.Type {
		case contentTypes[item.Role], "text":
			texts = append(texts, c.Text)
		case "input_image":
			return "", invalid(param+".content",
				"Images are not taken: no model here looks at them. Say in words what they show.")
		default:
			return "", invalid(param+".content", "The content of a message of the role "+item.Role+
				" is "+contentTypes[item.Role]+", not "+dialect.Quote(c.Type)+".")
		}
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		return "", missingParameter(param+".content",
			"A message needs content of the type "+contentTypes[item.Role]+" that says something.")
	}
	if strings.ContainsRune(text, 0) || utf8.RuneCountInString(text) > sessions.MaxTextChars {
		return "", invalid(param+".content[0].text", "A message has at most "+
			strconv.Itoa(sessions.MaxTextChars)+" characters, and not the character U+0000.")
	}
	return text, nil
}
