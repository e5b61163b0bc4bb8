package turns

import (
	"encoding/json"

	"parlance.dev/parlance/provider/model"
)

// offeredTool is a tool that the caller runs itself, as it is stored with the turn while it runs,
// for a node that resumes the turn.
type offeredTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// EncodeOffered encodes the tools that a caller runs itself, as they are stored with its turn; nil
// for none.
func EncodeOffered(offered []model.Tool) json.RawMessage {
	if len(offered) == 0 {
		return nil
	}
	kept := make([]offeredTool, len(offered))
	for i, tool := range offered {
		kept[i] = offeredTool(tool)
	}
	text, err := json.Marshal(kept)
	if err != nil { // a schema that is no JSON, which no API lets in: the turn is resumed without the tools
		return nil
	}
	return text
}
