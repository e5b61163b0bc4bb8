package requests

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/provider/model"
	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/tools/schema"
	"parlance.dev/parlance/turns"
)

// Params is what a caller says.
type Params struct {
	// Text has 1 to 32,000 characters; it may be empty beside Outputs.
	Text string
	// ClientTools are tools that the caller runs itself, offered for this answer; at most 128.
	ClientTools []model.Tool
	// Outputs are results of calls that the session's clients were asked to make.
	Outputs []turns.ToolOutput

	// turn is the id of the turn, and askedAt is when the caller came.
	turn    sessions.TurnID
	askedAt time.Time
}

// check refuses what cannot be said. Errors: Invalid invalid-request.
func (p Params) check(schemas *schema.Cache) error {
	if !turns.IsSayable(p.Text) && (p.Text != "" || len(p.Outputs) == 0) {
		return turns.ErrTextLength()
	}
	if len(p.ClientTools) > turns.MaxClientTools {
		return fault.InvalidField("client_tools", "max_items", "At most %d client tools can be offered.", turns.MaxClientTools)
	}
	for i, tool := range p.ClientTools {
		field := "client_tools[" + strconv.Itoa(i) + "].name"
		if tool.Name == "" || !sessions.IsStorable(tool.Name) {
			return fault.InvalidField(field, "required", "A client tool needs a name.")
		}
		if slices.ContainsFunc(p.ClientTools[:i], func(other model.Tool) bool { return other.Name == tool.Name }) {
			return fault.InvalidField(field, "taken", "There are two client tools with the name %q.", tool.Name)
		}
		if err := checkParameters(schemas, tool.InputSchema); err != nil {
			return fault.InvalidField("client_tools["+strconv.Itoa(i)+"].parameters", "json_schema",
				"parameters is not a JSON Schema of type object: %s", strings.ReplaceAll(fault.From(err).Message, "input_schema", "parameters"))
		}
	}
	for i, output := range p.Outputs {
		if err := output.Check("tool_outputs[" + strconv.Itoa(i) + "]."); err != nil {
			return err
		}
		if slices.ContainsFunc(p.Outputs[:i], func(other turns.ToolOutput) bool { return other.CallID == output.CallID }) {
			return fault.InvalidField("tool_outputs["+strconv.Itoa(i)+"].call_id", "taken", "There are two results of the call %s.", output.CallID)
		}
	}
	return nil
}

// checkParameters refuses a schema that is none. The type object may be left out.
func checkParameters(schemas *schema.Cache, raw json.RawMessage) error {
	if len(raw) == 0 { // any object
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil && members != nil && members["type"] == nil {
		members["type"] = json.RawMessage(`"object"`)
		if typed, err := json.Marshal(members); err == nil {
			raw = typed
		}
	}
	_, err := schemas.Check(raw)
	return err
}

// said is the text as it is stored.
func (p Params) said() []sessions.Message {
	if p.Text == "" {
		return nil
	}
	return []sessions.Message{{Role: sessions.RoleUser, ItemID: idgen.New(idgen.Item), Text: p.Text}}
}

// results are the outputs as they are stored.
func (p Params) results() []sessions.Message {
	var results []sessions.Message
	for _, output := range p.Outputs {
		m := output.Message()
		m.ItemID = idgen.New(idgen.Item)
		results = append(results, m)
	}
	return results
}
