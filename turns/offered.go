package turns

import (
	"encoding/json"

	"parlance.dev/parlance/provider/model"
)

// offeredTool is a tool of the caller as it is kept with the turn while it runs, for whoever
// answers it again.
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
	if err != nil { // a schema that is no JSON, from no door of isOurs: such a turn does not have it when it is lost
		return nil
	}
	return text
}
