package importer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/cli/importer/exports"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// leftAlone is why something was not made or attached.
const leftAlone = "not made, because the agent that it is for is left alone"

// matchAgents finds which agents of the export are there: those of the same texts that use a tool
// of it first, then others of the same texts, and at last those that were changed since. No agent
// is that of two agents of the export.
func (m *maker) matchAgents(list []known) {
	m.known = make([]known, len(m.plan.Agents))
	isSame := func(agent *exports.Agent, have known) bool { return difference(have.agent, agent) == "" }
	for _, fits := range []func(*exports.Agent, known) bool{
		func(agent *exports.Agent, have known) bool { return isSame(agent, have) && m.usesOne(agent, have) },
		isSame,
		m.usesOne,
		func(*exports.Agent, known) bool { return true },
	} {
		for i, agent := range m.plan.Agents {
			for _, name := range agent.Names() {
				at := slices.IndexFunc(list, func(have known) bool { return have.agent.GetName() == name && fits(agent, have) })
				if at < 0 || m.known[i].agent != nil {
					continue
				}
				m.known[i] = list[at]
				m.known[i].differs = difference(list[at].agent, agent)
				list = slices.Delete(list, at, at+1)
			}
		}
	}
	m.nameAgents()
}

// nameAgents gives agents that are there the names that they have, and one that is to be made its
// id where another one has its name.
func (m *maker) nameAgents() {
	taken := map[string]bool{}
	for i, agent := range m.plan.Agents {
		if have := m.known[i].agent; have != nil {
			agent.Want.Name = have.GetName()
			taken[have.GetName()] = true
		}
	}
	for i, agent := range m.plan.Agents {
		if m.known[i].agent == nil && taken[agent.Want.GetName()] {
			agent.Want.Name = agent.Names()[0]
		}
	}
}

// usesOne says whether an agent uses one of the tools of an agent of the export, or that has none.
func (m *maker) usesOne(agent *exports.Agent, have known) bool {
	for _, tool := range m.catalog {
		isWanted := func(want *exports.Tool) bool { return m.isSame(want, tool) }
		if have.tools[tool.GetId()] && slices.ContainsFunc(agent.Tools, isWanted) {
			return true
		}
	}
	return len(agent.Tools) == 0
}

// isSame says whether a tool has the definition of one of the export.
func (m *maker) isSame(tool *exports.Tool, have *parlancev1.Tool) bool {
	return toolDifference(have, tool, m.secrets.near(tool)) == ""
}

// matchTools finds which tools of the export are there: those that its agents use first, then
// others of the same name and definition, and at last those that its agents use and that were
// changed since. No tool is that of two tools of the export. The others get names that are free.
func (m *maker) matchTools() {
	m.have = make([]*parlancev1.Tool, len(m.plan.Tools))
	for _, fits := range []func(*exports.Tool, *parlancev1.Tool) bool{
		func(tool *exports.Tool, have *parlancev1.Tool) bool {
			return (isNamed(tool.Base, have.GetSlug()) || m.isPrefixed(tool, have)) && m.isSame(tool, have) && m.isAttached(tool, have)
		},
		func(tool *exports.Tool, have *parlancev1.Tool) bool {
			return isNamed(tool.Base, have.GetSlug()) && m.isSame(tool, have)
		},
		func(tool *exports.Tool, have *parlancev1.Tool) bool {
			return isNamed(tool.Base, have.GetSlug()) && m.isAttached(tool, have)
		},
	} {
		for i, tool := range m.plan.Tools {
			if m.have[i] == nil {
				m.have[i] = m.match(tool, fits)
			}
			if m.have[i] != nil {
				tool.Want.Slug = m.have[i].GetSlug()
			}
		}
	}
	for i, tool := range m.plan.Tools {
		for number := 2; m.have[i] == nil && m.isTaken(tool); number++ {
			tool.Want.Slug = exports.Numbered(tool.Base, number)
		}
	}
}

// match finds the tool that fits and is none of another tool of the export.
func (m *maker) match(tool *exports.Tool, fits func(*exports.Tool, *parlancev1.Tool) bool) *parlancev1.Tool {
	slugs := slices.SortedFunc(maps.Keys(m.catalog), func(one, other string) int {
		return cmp.Or(len(one)-len(other), strings.Compare(one, other))
	})
	for _, slug := range slices.Insert(slugs, 0, strings.ToLower(tool.Want.GetSlug())) {
		have := m.catalog[slug]
		isOther := slices.ContainsFunc(m.plan.Tools, func(other *exports.Tool) bool {
			return strings.EqualFold(other.Base, slug) && !strings.EqualFold(tool.Base, slug)
		})
		if have != nil && !isOther && !slices.Contains(m.have, have) && fits(tool, have) {
			return have
		}
	}
	return nil
}

// endNumber matches the number that tells a tool from another one of its name.
var endNumber = regexp.MustCompile(`_([0-9]+)$`)

// isNamed says whether a tool's slug is a name, perhaps with a number.
func isNamed(name, slug string) bool {
	if found := endNumber.FindStringSubmatch(slug); found != nil {
		number, err := strconv.Atoi(found[1])
		if err == nil && strings.EqualFold(slug, exports.Numbered(name, number)) {
			return true
		}
	}
	return strings.EqualFold(slug, name)
}

// isPrefixed says whether a tool has the name of one of the export with another --prefix.
func (m *maker) isPrefixed(tool *exports.Tool, have *parlancev1.Tool) bool {
	bare := tool.Base
	if m.prefix != "" {
		bare = strings.TrimPrefix(bare, m.prefix+"_")
	}
	slug := strings.ToLower(endNumber.ReplaceAllString(have.GetSlug(), ""))
	return isNamed(bare, have.GetSlug()) || strings.HasSuffix(slug, "_"+strings.ToLower(bare))
}

// isAttached says whether an agent of the export, which is there already, uses a tool.
func (m *maker) isAttached(tool *exports.Tool, have *parlancev1.Tool) bool {
	for i, agent := range m.plan.Agents {
		if slices.Contains(agent.Tools, tool) && m.known[i].tools[have.GetId()] {
			return true
		}
	}
	return false
}

// isTaken says whether another tool has the name of one that is to be made.
func (m *maker) isTaken(tool *exports.Tool) bool {
	return m.catalog[strings.ToLower(tool.Want.GetSlug())] != nil || slices.ContainsFunc(m.plan.Tools, func(other *exports.Tool) bool {
		return other != tool && strings.EqualFold(other.Want.GetSlug(), tool.Want.GetSlug())
	})
}

// isLeftAlone says whether something is for agents that are left alone, and for no others.
func (m *maker) isLeftAlone(uses func(*exports.Agent) bool) (all bool) {
	for i, agent := range m.plan.Agents {
		if uses(agent) {
			if m.known[i].differs == "" {
				return false
			}
			all = true
		}
	}
	return all
}

// difference says why an agent that is there is not that of the export.
func difference(have *parlancev1.Agent, agent *exports.Agent) string {
	switch {
	case agent.Obstacle != "":
		return agent.Obstacle + ". It is left alone"
	case have.GetInstructions() != agent.Want.GetInstructions(), have.GetFirstMessage() != agent.Want.GetFirstMessage():
		return "its instructions or first message are others, so it is left alone; --name gives the new one another name"
	}
	return ""
}
