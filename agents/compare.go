package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Change is one field that differs between two versions. From and To are JSON values as
// encoding/json decodes them; nil for a field that was not set.
type Change struct {
	// Path is the field's name, with a dot between objects: "model.name".
	Path string
	From any
	To   any
}

// compare lists the differences between two versions in alphabetical order of their paths.
func compare(from, to Version) ([]Change, error) {
	before, err := flatten(from)
	if err != nil {
		return nil, err
	}
	after, err := flatten(to)
	if err != nil {
		return nil, err
	}
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	var changes []Change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !reflect.DeepEqual(before[path], after[path]) {
			changes = append(changes, Change{Path: path, From: before[path], To: after[path]})
		}
	}
	return changes, nil
}

// flatten maps each leaf of a version to its path. Lists are leaves: a moved entry is one change. A
// field that did not exist when the version was saved, or was left out, has its default.
func flatten(v Version) (map[string]any, error) {
	config := v.Config.withDefaults()
	config.Callbacks, config.Handover = config.Callbacks.InForce(), config.Handover.InForce()
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode version %d of agent %s: %w", v.Version, v.AgentID, err)
	}
	var tree map[string]any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, fmt.Errorf("decode version %d of agent %s: %w", v.Version, v.AgentID, err)
	}
	leaves := map[string]any{"name": v.Name}
	collect(leaves, "", tree)
	return leaves, nil
}

func collect(leaves map[string]any, prefix string, tree map[string]any) {
	for name, value := range tree {
		if object, ok := value.(map[string]any); ok {
			collect(leaves, prefix+name+".", object)
			continue
		}
		leaves[prefix+name] = value
	}
}
