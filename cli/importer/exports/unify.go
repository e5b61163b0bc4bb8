package exports

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
)

// unify makes one of agents, tools and sources that occur several times, and gives different tools
// and agents different names.
func (p *Plan) unify() {
	replaced := map[*Tool]*Tool{}
	var kept []*Tool
	for _, tool := range p.Tools {
		same := slices.IndexFunc(kept, func(other *Tool) bool {
			return proto.Equal(tool.Want, other.Want) && slices.Equal(tool.Secrets, other.Secrets)
		})
		if same >= 0 {
			replaced[tool] = kept[same]
			continue
		}
		kept = append(kept, tool)
	}
	p.Tools = kept
	pages := map[string]*Source{}
	moved := map[*Source]*Source{}
	p.Sources = slices.DeleteFunc(p.Sources, func(source *Source) bool {
		first, ok := pages[source.URL]
		if source.URL == "" || !ok {
			pages[source.URL] = source
			return false
		}
		first.InPrompt = first.InPrompt || source.InPrompt
		moved[source] = first
		return true
	})
	for _, agent := range p.Agents {
		agent.Tools = distinct(agent.Tools, replaced)
		agent.Sources = distinct(agent.Sources, moved)
	}
	p.unifyAgents()
	p.rename()
}

// unifyAgents makes one of agents that have the same id and are equal.
func (p *Plan) unifyAgents() {
	var kept []*Agent
	for _, agent := range p.Agents {
		same := slices.IndexFunc(kept, func(other *Agent) bool {
			return agent.ID != "" && agent.ID == other.ID && proto.Equal(agent.Want, other.Want)
		})
		if same < 0 {
			kept = append(kept, agent)
			continue
		}
		kept[same].Tools = distinct(append(kept[same].Tools, agent.Tools...), nil)
		kept[same].Sources = distinct(append(kept[same].Sources, agent.Sources...), nil)
	}
	p.Agents = kept
}

// rename gives a tool whose name another tool has a number, and such an agent its id.
func (p *Plan) rename() {
	taken := map[string]bool{}
	for _, tool := range p.Tools {
		tool.Base = tool.Want.GetSlug()
		for i := 1; taken[strings.ToLower(tool.Want.GetSlug())]; i++ {
			tool.Want.Slug = Numbered(tool.Base, i+1)
		}
		taken[strings.ToLower(tool.Want.GetSlug())] = true
	}
	taken = map[string]bool{}
	for _, agent := range p.Agents {
		agent.Base = agent.Want.GetName()
		if taken[agent.Base] && agent.ID != "" {
			agent.Want.Name = agent.withID()
		}
		for i := 2; taken[agent.Want.GetName()]; i++ {
			agent.Want.Name = withEnd(agent.Base, fmt.Sprintf(" (%d)", i))
		}
		taken[agent.Want.GetName()] = true
	}
}

// Numbered is a tool's name with a number from 2 on.
func Numbered(slug string, number int) string {
	end := fmt.Sprintf("_%d", number)
	return clip(slug, maxSlugChars-len(end)) + end
}

// Names are the names that an agent may have where it was imported before, the likeliest first.
func (a *Agent) Names() []string {
	name := a.Want.GetName()
	if a.ID == "" || name != a.Base && name != a.withID() {
		return []string{name}
	}
	return []string{a.withID(), a.Base}
}

func (a *Agent) withID() string { return withEnd(a.Base, " ("+clip(a.ID, maxSlugChars)+")") }

// withEnd is the name of an agent with something behind it.
func withEnd(name, end string) string { return clip(name, maxNameChars-len(end)) + end }

// distinct is a list in which members are replaced, and occur once.
func distinct[T comparable](list []T, replaced map[T]T) []T {
	var out []T
	for _, one := range list {
		if other, ok := replaced[one]; ok {
			one = other
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
