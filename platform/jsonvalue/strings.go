package jsonvalue

import (
	"encoding/json"
	"maps"
	"slices"
)

// Strings returns the values in a JSON text that are strings, in the order of arrays and of the
// names of members. Names are left out. A text that is no JSON has none.
func Strings(text json.RawMessage) []string {
	var all []string
	var collect func(value any)
	collect = func(value any) {
		switch value := value.(type) {
		case string:
			all = append(all, value)
		case []any:
			for _, one := range value {
				collect(one)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				collect(value[name])
			}
		}
	}
	collect(Decode(text))
	return all
}
