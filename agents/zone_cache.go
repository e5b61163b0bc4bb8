package agents

import (
	"context"
	"encoding/json"
	"fmt"

	"parlance.dev/parlance/agents/nogo"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/cache"
)

// maxZones bounds the versions of agents whose compiled zones are kept.
const maxZones = 1000

// ZoneCache compiles the no-go zones of agents' versions, whose guards do not change, once. Version
// 0 is that of drafts, whose guards do. It is safe for concurrent use.
type ZoneCache struct {
	compiled *cache.Cache[zonesKey, *nogo.Zones]
	comparer Comparer
}

type zonesKey struct {
	agent   ID
	version int
	// guards are those of a draft.
	guards string
}

// keyOf is the key of a version's zones, or of a draft's. Errors: guards that JSON cannot hold.
func keyOf(agent ID, version int, config Config) (zonesKey, error) {
	if version > 0 {
		return zonesKey{agent: agent, version: version}, nil
	}
	guards, err := json.Marshal(config.Guards)
	if err != nil {
		return zonesKey{}, fmt.Errorf("encode the guards of a draft: %w", err)
	}
	return zonesKey{agent: agent, guards: string(guards)}, nil
}

// NewZoneCache makes a cache. comparer compares with the examples of guards.
func NewZoneCache(comparer Comparer) *ZoneCache {
	return &ZoneCache{compiled: cache.New[zonesKey, *nogo.Zones](maxZones), comparer: comparer}
}

// Of returns the zones of a version of an agent, or of its draft; nil: it has none. Errors:
// Unimplemented not-implemented (the installation's model was taken away), Invalid invalid-request.
func (c *ZoneCache) Of(agent ID, version int, config Config) (*nogo.Zones, error) {
	if len(config.Guards) == 0 {
		return nil, nil //nolint:nilnil // most agents have none
	}
	key, err := keyOf(agent, version, config)
	if err != nil {
		return nil, err
	}
	if known, there := c.compiled.Get(key); there {
		return known, nil
	}
	zones, err := config.Zones(c.comparer)
	if fault.IsReason(err, fault.NotImplemented) {
		return nil, err
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidRequest, "The agent's guards cannot be used: %v. Correct them and begin a new session.", err)
	}
	c.compiled.Set(key, zones)
	return zones, nil
}

// First returns the first guard in whose zone a whole text is; nil: none is. Judges are not asked.
// Errors: those of Of, and those of the comparer.
func (c *ZoneCache) First(ctx context.Context, agent ID, version int, config Config, text string) (*Guard, error) {
	zones, err := c.Of(agent, version, config)
	if err != nil || zones == nil || text == "" {
		return nil, err
	}
	found, err := zones.Find(ctx, text)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &config.Guards[found[0].Zone], nil
}
