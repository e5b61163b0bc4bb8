package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/live"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/server/realtime/dialect"
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

// Bounds of a response's metadata, which are OpenAI's, and of the responses that may wait to start.
const (
	maxMetadataPairs      = 16
	maxMetadataKeyBytes   = 64
	maxMetadataValueBytes = 512
	maxRequested          = 64
)

// messageKey is the member of a response's metadata by which a client names the message to answer.
const messageKey = "parlance_request"

func (d *Dialect) createResponse(e clientEvent) {
	var params newResponse
	if dialect.IsPresent(e.Response) {
		if refused := decode(e.Response, "response", &params); refused != nil {
			d.refuse(e.EventID, refused)
			return
		}
	}
	command, refused := d.readResponse(params)
	if refused != nil {
		d.refuse(e.EventID, refused)
		return
	}
	if asked := params.Metadata[messageKey]; asked != nil && *asked != "" && *asked == d.refusedItem {
		return // the client has been told, and there is nothing to answer
	}
	for _, unsupported := range unsupportedTools("response.tools", params.Tools) {
		d.refuse(e.EventID, unsupported)
	}
	if params.Instructions != nil && !sessions.ClientMay(d.session.Config, "instructions") {
		d.refuse(e.EventID, &refusal{
			code: string(fault.OverrideNotAllowed), param: "response.instructions",
			message: `The agent's client_overrides does not have "instructions", or its locked_overrides has it,` +
				` so the answer is given with the agent's own.`,
		})
	}
	command.CommandID, command.Awaited = e.EventID, len(params.Metadata) > 0
	isShown := len(params.Metadata) > 0 || command.MaxOutputTokens != 0
	if isShown && len(d.requested) < maxRequested {
		command.CommandID = idgen.New(idgen.Request)
		d.requested[command.CommandID] = requestedResponse{
			eventID: e.EventID, metadata: metadataOf(params.Metadata), maxOutputTokens: command.MaxOutputTokens,
		}
	}
	d.step.Command(command)
}

// readResponse is the command for a response. The format of its audio must be well-formed, and is
// that of the session in any case.
func (d *Dialect) readResponse(params newResponse) (live.Respond, *refusal) {
	command := live.Respond{Instructions: params.Instructions}
	switch params.Conversation {
	case "", "auto":
	case "none":
		command.OutOfBand = true
	default:
		return command, invalid("response.conversation", `conversation is "auto" or "none".`)
	}
	if dialect.IsPresent(params.Prompt) {
		return command, invalid("response.prompt", "There are no stored prompts here; send instructions.")
	}
	if refused := checkMetadata(params.Metadata); refused != nil {
		return command, refused
	}
	modalities, refused := readModalities("response.output_modalities", params.OutputModalities)
	if refused != nil {
		return command, refused
	}
	command.Spoken = d.speaks && !d.audio.textOnly && !command.OutOfBand
	if modalities != nil {
		command.Spoken = d.speaks && slices.Contains(modalities, "audio") && !command.OutOfBand
	}
	format, output := params.Audio.Output.Format, d.audio.output
	if _, refused := readFormat("response.audio.output.format", format, output, output); refused != nil {
		return command, refused
	}
	command.MaxOutputTokens, refused = readMaxTokens("response.max_output_tokens", params.MaxOutputTokens)
	if refused != nil {
		return command, refused
	}
	command.ToolChoice, refused = readToolChoice("response.tool_choice", params.ToolChoice)
	if refused != nil {
		return command, refused
	}
	if dialect.IsPresent(params.Tools) {
		if command.ClientTools, refused = readClientTools("response.tools", params.Tools); refused != nil {
			return command, refused
		}
	}
	if params.Input != nil {
		command.Input, refused = readInput(*params.Input)
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
			return &refusal{
				code: "invalid_type", message: param + " cannot be of the type null.", param: param,
			}
		}
		if len(key) > maxMetadataKeyBytes || len(*value) > maxMetadataValueBytes {
			return invalid("response.metadata",
				"metadata has keys of at most 64 and values of at most 512 bytes.")
		}
	}
	return nil
}

// metadataOf is metadata that was checked, without the pointers.
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

// readInput is what the model sees in place of the conversation.
func readInput(raw []json.RawMessage) ([]live.InputItem, *refusal) {
	input := []live.InputItem{}
	for i, member := range raw {
		param := "response.input[" + strconv.Itoa(i) + "]"
		var item newItem
		if refused := decode(member, param, &item); refused != nil {
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

// maxTokensBound is more than any model gives in one answer.
const maxTokensBound = 1 << 20

// readMaxTokens reads max_output_tokens. 0, when it is absent, keeps what is in force; "inf" and
// null are no bound.
func readMaxTokens(param string, raw json.RawMessage) (int, *refusal) {
	switch {
	case raw == nil:
		return 0, nil
	case !dialect.IsPresent(raw), bytes.Equal(bytes.TrimSpace(raw), []byte(`"inf"`)):
		return turns.UnlimitedTokens, nil
	}
	var tokens int
	if json.Unmarshal(raw, &tokens) != nil || tokens < 1 || tokens > maxTokensBound {
		return 0, invalid(param, "max_output_tokens is a whole number from 1 to "+
			strconv.Itoa(maxTokensBound)+`, or "inf".`)
	}
	return tokens, nil
}

// invalidToolChoice is the message about a tool_choice that cannot be read.
const invalidToolChoice = `tool_choice is "auto", "none", "required" or {"type": "function", "name": …}.`

// readToolChoice reads tool_choice. "", when it is absent, keeps what is in force; null is auto. A
// tool of the service is named as it is shown: as a tool of the MCP server parlance.
func readToolChoice(param string, raw json.RawMessage) (turns.ToolChoice, *refusal) {
	switch {
	case raw == nil:
		return "", nil
	case !dialect.IsPresent(raw):
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
		return "", invalid(param, invalidToolChoice)
	}
	var named struct {
		Type        string `json:"type"`
		Name        string `json:"name"`
		ServerLabel string `json:"server_label"`
	}
	if json.Unmarshal(raw, &named) != nil {
		return "", invalid(param, invalidToolChoice)
	}
	isOurs := named.Type == "function" || named.Type == "mcp" && named.ServerLabel == serverLabel
	if !isOurs || !toolName.MatchString(named.Name) {
		return "", invalid(param, invalidToolChoice)
	}
	return turns.ToolChoice(named.Name), nil
}

// readModalities reads output_modalities; nil when it is absent.
func readModalities(param string, raw json.RawMessage) ([]string, *refusal) {
	if !dialect.IsPresent(raw) {
		return nil, nil
	}
	var modalities []string
	isUnknown := func(modality string) bool { return modality != "text" && modality != "audio" }
	if json.Unmarshal(raw, &modalities) != nil || len(modalities) == 0 || len(modalities) > 2 ||
		slices.ContainsFunc(modalities, isUnknown) {
		return nil, invalid(param, `output_modalities is ["text"] or ["audio"].`)
	}
	return modalities, nil
}
