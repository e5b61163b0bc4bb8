package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/turns"
)

// newResponse is the response of response.create.
type newResponse struct {
	Conversation     string             `json:"conversation"`
	Instructions     *string            `json:"instructions"`
	Input            *[]json.RawMessage `json:"input"`
	Metadata         map[string]*string `json:"metadata"`
	Tools            json.RawMessage    `json:"tools"`
	ToolChoice       json.RawMessage    `json:"tool_choice"`
	MaxOutputTokens  json.RawMessage    `json:"max_output_tokens"`
	OutputModalities json.RawMessage    `json:"output_modalities"`
	Prompt           json.RawMessage    `json:"prompt"`
	Audio            struct {
		Output struct {
			Format json.RawMessage `json:"format"`
		} `json:"output"`
	} `json:"audio"`
}

// asked is what a response was asked for with that the response shows.
type asked struct {
	// eventID is the client's, which may be another response's too.
	eventID         string
	metadata        map[string]string
	maxOutputTokens int // as in live.Respond
}

// Bounds of a response's metadata, which are OpenAI's, and how many may wait for their response.
const (
	maxMetadataPairs = 16
	maxMetadataKey   = 64
	maxMetadataValue = 512
	maxWaitingAsked  = 64
)

func (d *Dialect) createResponse(f frame) {
	var wanted newResponse
	if present(f.Response) {
		if refused := decode(f.Response, "response", &wanted); refused != nil {
			d.refuse(f.EventID, refused)
			return
		}
	}
	command, refused := d.readResponse(wanted)
	if refused != nil {
		d.refuse(f.EventID, refused)
		return
	}
	for _, one := range otherTools("response.tools", wanted.Tools) {
		d.refuse(f.EventID, one)
	}
	if wanted.Instructions != nil && !sessions.ClientMay(d.session.Config, "instructions") {
		d.refuse(f.EventID, &refusal{
			code: string(fault.OverrideNotAllowed), param: "response.instructions",
			message: `The agent's client_overrides does not have "instructions", or its locked_overrides has it, so the answer is given with the agent's own.`,
		})
	}
	command.CommandID, command.Awaited = f.EventID, len(wanted.Metadata) > 0
	if (len(wanted.Metadata) > 0 || command.MaxOutputTokens != 0) && len(d.asked) < maxWaitingAsked {
		command.CommandID = idgen.New(idgen.Request)
		d.asked[command.CommandID] = asked{eventID: f.EventID, metadata: metadataOf(wanted.Metadata), maxOutputTokens: command.MaxOutputTokens}
	}
	d.do(command)
}

// readResponse is what is asked of the core. output_modalities and audio must be well-formed, and the
// answer is text all the same: nothing speaks yet.
func (d *Dialect) readResponse(wanted newResponse) (live.Respond, *refusal) {
	command := live.Respond{Instructions: wanted.Instructions}
	switch wanted.Conversation {
	case "", "auto":
	case "none":
		command.OutOfBand = true
	default:
		return command, invalid("response.conversation", `conversation is "auto" or "none".`)
	}
	if present(wanted.Prompt) {
		return command, invalid("response.prompt", "There are no stored prompts here; send instructions.")
	}
	if refused := checkMetadata(wanted.Metadata); refused != nil {
		return command, refused
	}
	if _, refused := readModalities("response.output_modalities", wanted.OutputModalities); refused != nil {
		return command, refused
	}
	if _, refused := readFormat("response.audio.output.format", wanted.Audio.Output.Format, d.audio.output, d.audio.output); refused != nil {
		return command, refused
	}
	var refused *refusal
	if command.MaxOutputTokens, refused = readMaxTokens("response.max_output_tokens", wanted.MaxOutputTokens); refused != nil {
		return command, refused
	}
	if command.ToolChoice, refused = readToolChoice("response.tool_choice", wanted.ToolChoice); refused != nil {
		return command, refused
	}
	if present(wanted.Tools) {
		if command.ClientTools, refused = clientTools("response.tools", wanted.Tools); refused != nil {
			return command, refused
		}
	}
	if wanted.Input != nil {
		command.Input, refused = readInput(*wanted.Input)
	}
	return command, refused
}

func checkMetadata(metadata map[string]*string) *refusal {
	if len(metadata) > maxMetadataPairs {
		return invalid("response.metadata", "metadata has at most 16 pairs.")
	}
	for key, value := range metadata {
		if value == nil {
			param := "response.metadata." + key
			return &refusal{code: "invalid_type", message: param + " cannot be of the type null.", param: param}
		}
		if len(key) > maxMetadataKey || len(*value) > maxMetadataValue {
			return invalid("response.metadata", "metadata has keys of at most 64 and values of at most 512 bytes.")
		}
	}
	return nil
}

// metadataOf is metadata that was checked.
func metadataOf(metadata map[string]*string) map[string]string {
	if metadata == nil {
		return nil
	}
	checked := make(map[string]string, len(metadata))
	for key, value := range metadata {
		checked[key] = *value
	}
	return checked
}

// readInput is what the model is to see in place of the conversation.
func readInput(raw []json.RawMessage) ([]live.InputItem, *refusal) {
	input := []live.InputItem{}
	for i, one := range raw {
		param := "response.input[" + strconv.Itoa(i) + "]"
		var item newItem
		if refused := decode(one, param, &item); refused != nil {
			return nil, refused
		}
		if item.Type == "item_reference" {
			if item.ID == "" {
				return nil, invalid(param+".id", "An item_reference needs the id of an item.")
			}
			input = append(input, live.InputItem{Reference: item.ID})
			continue
		}
		read, refused := readItem(item, param)
		if refused != nil {
			return nil, refused
		}
		input = append(input, live.InputItem{Item: read})
	}
	return input, nil
}

// maxTokensBound is over what any model gives at once.
const maxTokensBound = 1 << 20

// readMaxTokens: absent keeps (0); "inf" and null are no bound.
func readMaxTokens(param string, raw json.RawMessage) (int, *refusal) {
	switch {
	case raw == nil:
		return 0, nil
	case !present(raw), bytes.Equal(bytes.TrimSpace(raw), []byte(`"inf"`)):
		return turns.UnlimitedTokens, nil
	}
	var tokens int
	if json.Unmarshal(raw, &tokens) != nil || tokens < 1 || tokens > maxTokensBound {
		return 0, invalid(param, `max_output_tokens is a whole number from 1 to `+strconv.Itoa(maxTokensBound)+`, or "inf".`)
	}
	return tokens, nil
}

// readToolChoice: absent keeps (""); null is auto. A tool of the service is named as it is shown: as one of
// the MCP server parlance.
func readToolChoice(param string, raw json.RawMessage) (turns.ToolChoice, *refusal) {
	switch {
	case raw == nil:
		return "", nil
	case !present(raw):
		return turns.ToolsAuto, nil
	}
	modes := map[string]turns.ToolChoice{
		"auto": turns.ToolsAuto, "none": turns.ToolsNone, "required": turns.ToolsRequired,
	}
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if mode, known := modes[word]; known {
			return mode, nil
		}
		return "", invalid(param, `tool_choice is "auto", "none", "required" or {"type": "function", "name": …}.`)
	}
	var named struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		ServerLabel string `json:"server_label"`
	}
	if json.Unmarshal(raw, &named) != nil || !validToolName(named.Name) ||
		(named.Type != "function" && (named.Type != "mcp" || named.ServerLabel != serverLabel)) {
		return "", invalid(param, `tool_choice is "auto", "none", "required" or {"type": "function", "name": …}.`)
	}
	return turns.ToolChoice(named.Name), nil
}

// readModalities checks what answers are to be: nil when absent.
func readModalities(param string, raw json.RawMessage) ([]string, *refusal) {
	if !present(raw) {
		return nil, nil
	}
	var modalities []string
	known := []string{"text", "audio"}
	if json.Unmarshal(raw, &modalities) != nil || len(modalities) == 0 || len(modalities) > len(known) ||
		slices.ContainsFunc(modalities, func(one string) bool { return !slices.Contains(known, one) }) {
		return nil, invalid(param, `output_modalities is ["text"] or ["audio"].`)
	}
	return modalities, nil
}
