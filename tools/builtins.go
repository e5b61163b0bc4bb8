package tools

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/fault"
)

// builtin is a built-in or system tool of the catalog.
type builtin struct {
	Name        string          `json:"name"`
	Bucket      Bucket          `json:"bucket"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

//go:embed builtins.json
var builtinsJSON []byte

// builtins is the catalog in its order: system, then built-in. Source of the names: interface,
// Tool. Package memory checks which arguments of its tools go together: some model servers refuse a
// schema with anyOf at its top.
var builtins = decodeBuiltins()

func decodeBuiltins() []builtin {
	var list []builtin
	if err := json.Unmarshal(builtinsJSON, &list); err != nil {
		panic(err) // builtins.json is part of this package
	}
	for i := range list {
		var compact bytes.Buffer
		if err := json.Compact(&compact, list[i].InputSchema); err != nil {
			panic(err)
		}
		list[i].InputSchema = compact.Bytes()
	}
	return list
}

// id is system:<name> or builtin:<name>.
func (b builtin) id() ID {
	if b.Bucket == BucketSystem {
		return ID("system:" + b.Name)
	}
	return ID("builtin:" + b.Name)
}

// tool is the entry in the catalog.
func (b builtin) tool() Tool {
	return Tool{
		ID: b.id(), Slug: b.Name, Description: b.Description, Bucket: b.Bucket,
		Config: Config{
			InputSchema: b.InputSchema, TimeoutSeconds: DefaultTimeoutSecondsHTTP, ResponseMaxBytes: DefaultResponseMaxBytes,
		},
	}
}

// builtinByID finds a tool by builtin:<name> or system:<name>.
func builtinByID(id ID) (Tool, bool) {
	i := slices.IndexFunc(builtins, func(b builtin) bool { return b.id() == id })
	if i < 0 {
		return Tool{}, false
	}
	return builtins[i].tool(), true
}

// builtinTools lists the tools of some buckets, in the order of the catalog.
func builtinTools(buckets ...Bucket) []Tool {
	var list []Tool
	for _, b := range builtins {
		if slices.Contains(buckets, b.Bucket) {
			list = append(list, b.tool())
		}
	}
	return list
}

// isReserved says whether a slug is the name of a built-in or system tool, or looks like one to a
// model: in another case, with other separators (endCall, end-call), or with similar characters
// (end_caII, sk1p_turn).
func isReserved(slug string) bool {
	folded := foldName(slug)
	return slices.ContainsFunc(builtins, func(b builtin) bool { return foldName(b.Name) == folded })
}

// lookAlikes replaces characters that look alike by one of them, and removes separators. Slugs are
// ASCII, so there are no letters of other scripts.
var lookAlikes = strings.NewReplacer(
	"-", "", "_", "", "0", "o", "1", "l", "i", "l", "|", "l", "2", "z", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "9", "g",
	"rn", "m", "vv", "w", "cl", "d",
)

func foldName(name string) string {
	return lookAlikes.Replace(strings.ToLower(name))
}

// CheckDisabledTools checks the disabled_tools of an agent: names of memory-managed and opt-in
// tools. Errors: Invalid system-tool-always-on, Invalid invalid-request, on disabled_tools[i].
func CheckDisabledTools(names []string) error {
	for i, name := range names {
		field := "disabled_tools[" + strconv.Itoa(i) + "]"
		at := slices.IndexFunc(builtins, func(b builtin) bool { return b.Name == name })
		if at < 0 {
			return fault.InvalidField(field, "unknown", "%q is not the name of a built-in tool; detach custom tools instead.", name)
		}
		if builtins[at].Bucket == BucketSystem {
			return fault.OnField(fault.SystemToolAlwaysOn, field, "%s is a system tool and cannot be disabled.", name)
		}
	}
	return nil
}
