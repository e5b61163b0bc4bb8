package rest

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// change makes a JSON value of the contract of one that a caller may write instead. It returns nil
// for one that stays as it is.
type change func(value json.RawMessage) json.RawMessage

// accommodations are what JSON callers may write beside the values of the contract, by message and
// member. The other protocols have only those of the contract.
var accommodations = map[protoreflect.FullName]map[string]change{
	"parlance.v1.CreateSessionRequest": {
		"dynamic_variables": textMembers, "dynamicVariables": textMembers, "ttl_seconds": clamp, "ttlSeconds": clamp,
	},
	"parlance.v1.RunToolRequest":    {"dynamic_variables": textMembers, "dynamicVariables": textMembers},
	"parlance.v1.CreateTurnRequest": {"client_tools": functions, "clientTools": functions},
	"parlance.v1.StreamTurnRequest": {"client_tools": functions, "clientTools": functions},
}

// accommodate replaces what a body of a message has in place of values of the contract.
func accommodate(message protoreflect.FullName, body []byte) []byte {
	changes, ok := accommodations[message]
	if !ok {
		return body
	}
	return replace(body, func(name string, value json.RawMessage) json.RawMessage {
		if change, ok := changes[name]; ok {
			return change(value)
		}
		return nil
	})
}

// replace replaces the values of members of a JSON object in place, so that the checks that follow
// see everything else as the caller wrote it. Text that is no object stays as it is.
func replace(body []byte, changed func(name string, value json.RawMessage) json.RawMessage) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return body
	}
	var out []byte
	copied := 0
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return body
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return body
		}
		end := int(decoder.InputOffset())
		text, _ := name.(string)
		if instead := changed(text, value); instead != nil {
			out = append(append(out, body[copied:end-len(value)]...), instead...)
			copied = end
		}
	}
	return append(out, body[copied:]...)
}

// textMembers makes numbers and booleans in an object their text.
func textMembers(object json.RawMessage) json.RawMessage {
	return replace(object, func(_ string, value json.RawMessage) json.RawMessage {
		if kind := value[0]; kind == '-' || kind >= '0' && kind <= '9' || kind == 't' || kind == 'f' {
			return json.RawMessage(strconv.Quote(string(value)))
		}
		return nil
	})
}

// clamp makes an integer above the range of an int32 the largest one. The noun has bounds of its
// own for what is less.
func clamp(value json.RawMessage) json.RawMessage {
	number, err := strconv.ParseFloat(string(value), 64)
	if number <= math.MaxInt32 || err != nil && !math.IsInf(number, 1) {
		return nil
	}
	return json.RawMessage(strconv.Itoa(math.MaxInt32))
}

// functions makes client tools of the functions of OpenAI's two interfaces:
// {"type": "function", "function": {…}} and {"type": "function", "name": …}.
func functions(list json.RawMessage) json.RawMessage {
	var tools []json.RawMessage
	if json.Unmarshal(list, &tools) != nil {
		return nil
	}
	for i, tool := range tools {
		var members map[string]json.RawMessage
		if json.Unmarshal(tool, &members) != nil || string(members["type"]) != `"function"` {
			continue
		}
		if inner := members["function"]; inner != nil && len(members) == 2 {
			members = nil
			if json.Unmarshal(inner, &members) != nil {
				continue
			}
		}
		delete(members, "type")
		delete(members, "strict") // arguments are checked by the caller, who runs the tool
		if plain, err := json.Marshal(members); err == nil {
			tools[i] = plain
		}
	}
	plain, err := json.Marshal(tools)
	if err != nil {
		return nil
	}
	return plain
}
