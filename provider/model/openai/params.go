package openai

import (
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"parlance.dev/parlance/provider/model"
)

func (p *Provider) params(req model.Request) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{
		Model:         req.Model,
		Messages:      messages(req),
		Tools:         tools(req.Tools),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if req.Temperature != nil {
		params.Temperature = param.NewOpt(*req.Temperature)
	}
	if req.MaxOutputTokens > 0 {
		// OpenAI's newer models refuse max_tokens; many compatible servers know nothing else.
		limit := param.NewOpt(int64(req.MaxOutputTokens))
		if p.ownAPI {
			params.MaxCompletionTokens = limit
		} else {
			params.MaxTokens = limit
		}
	}
	return params
}

func messages(req model.Request) []openai.ChatCompletionMessageParamUnion {
	out := make([]openai.ChatCompletionMessageParamUnion, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, openai.SystemMessage(req.System))
	}
	for _, m := range req.Messages {
		switch m.Role {
		case model.RoleUser:
			out = append(out, openai.UserMessage(m.Text))
		case model.RoleTool:
			out = append(out, openai.ToolMessage(m.Text, m.ToolCallID))
		case model.RoleAssistant:
			out = append(out, assistant(m))
		}
	}
	return out
}

func assistant(m model.Message) openai.ChatCompletionMessageParamUnion {
	said := &openai.ChatCompletionAssistantMessageParam{}
	if m.Text != "" || len(m.ToolCalls) == 0 {
		said.Content.OfString = param.NewOpt(m.Text)
	}
	for _, call := range m.ToolCalls {
		said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: call.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
					Name:      call.Name,
					Arguments: call.RawArguments(),
				},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: said}
}

func tools(offered []model.Tool) []openai.ChatCompletionToolUnionParam {
	var out []openai.ChatCompletionToolUnionParam
	for _, t := range offered {
		function := shared.FunctionDefinitionParam{Name: t.Name}
		if t.Description != "" {
			function.Description = param.NewOpt(t.Description)
		}
		// Raw messages keep the customer's schema as it is; one that is no object was refused
		// when the tool was created.
		var schema map[string]json.RawMessage
		if err := json.Unmarshal(t.Schema(), &schema); err == nil {
			function.Parameters = shared.FunctionParameters{}
			for key, value := range schema {
				function.Parameters[key] = value
			}
		}
		out = append(out, openai.ChatCompletionFunctionTool(function))
	}
	return out
}
