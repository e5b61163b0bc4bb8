package exports

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
)

// unify makes one of tools and sources that occur several times, and gives different tools
// different names.
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
	p.rename()
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
}

// rename gives a tool whose name another tool has a number.
func (p *Plan) rename() {
	taken := map[string]bool{}
	for _, tool := range p.Tools {
		slug := tool.Want.GetSlug()
		for i := 2; taken[strings.ToLower(slug)]; i++ {
			number := fmt.Sprintf("_%d", i)
			slug = clip(tool.Want.GetSlug(), maxSlugChars-len(number)) + number
		}
		if slug != tool.Want.GetSlug() {
			tool.Notes = append(tool.Notes, "has another name, because another tool of the export has "+tool.Want.GetSlug())
			tool.Want.Slug = slug
		}
		taken[strings.ToLower(slug)] = true
	}
}

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
