package exports

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// callVariables are those that only telephone calls have.
var callVariables = []string{"system__caller_id", "system__called_number", "system__call_reason", "system__call_direction"}

// callVariable is the first of callVariables in a text; empty when there is none.
func callVariable(text string) string {
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(found[1]); slices.Contains(callVariables, name) {
			return "{{" + name + "}}"
		}
	}
	return ""
}

// CallTodos say what of an agent works in telephone calls only.
func (a *Agent) CallTodos() (todos []Todo) {
	byVariable := map[string][]string{}
	for _, tool := range a.Tools {
		want := tool.Want
		texts := []string{want.GetWebhookUrl(), want.GetMcpServerUrl(), want.GetAuthHeader(), want.GetHardcodedBodyParamsJson()}
		for _, values := range []map[string]string{want.GetHeaders(), want.GetSecretHeaders(), want.GetHardcodedQueryParams()} {
			texts = slices.AppendSeq(texts, maps.Values(values))
		}
		if found := callVariable(strings.Join(texts, "\n")); found != "" {
			byVariable[found] = append(byVariable[found], want.GetSlug())
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(byVariable)) {
		todos = append(todos, Todo{What: fmt.Sprintf("Only telephone calls have %s: in sessions on the web and in text these tools "+
			"fail: %s. Have them use a variable of yours, which you give each session", variable, strings.Join(byVariable[variable], ", "))})
	}
	for _, text := range []struct{ name, text string }{
		{"The first message", a.Want.GetFirstMessage()},
		{"The agent's instructions", a.Want.GetInstructions()},
	} {
		if found := callVariable(text.text); found != "" {
			todos = append(todos, Todo{What: fmt.Sprintf("%s: only telephone calls have %s; elsewhere it stands there as it is written. "+
				"Take it out, or use a variable of yours, which you give each session", text.name, found)})
		}
	}
	return todos
}

// cutFragments takes out of addresses what is behind #, which is never sent.
func (p *Plan) cutFragments() {
	for _, tool := range p.Tools {
		for _, address := range []*string{&tool.Want.WebhookUrl, &tool.Want.McpServerUrl} {
			before, _, found := strings.Cut(*address, "#")
			if *address = before; found {
				tool.Notes = append(tool.Notes, "has its address without what was behind #, which is never sent")
			}
		}
	}
}

// warn notes credentials in places that are shown.
func (p *Plan) warn() {
	for _, tool := range p.Tools {
		names := credentialsIn(tool.Want.GetWebhookUrl() + tool.Want.GetMcpServerUrl())
		for _, name := range slices.Sorted(maps.Keys(tool.Want.GetHardcodedQueryParams())) {
			if isCredential(name) && !isPlaceholder(tool.Want.GetHardcodedQueryParams()[name]) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			tool.Notes = append(tool.Notes, fmt.Sprintf("sends %s in the query. It looks like a secret, and everybody who may read the "+
				"tool sees it: send it as a header", quotedList(names)))
		}
	}
	for _, source := range p.Sources {
		if names := credentialsIn(source.URL); len(names) > 0 {
			p.Todos = append(p.Todos, Todo{What: fmt.Sprintf("Look at the source %s: its address has %s in the query. It looks like a "+
				"secret, and everybody who may read the source sees it", source.Name, quotedList(names))})
		}
	}
}

// credentialsIn are the parameters of the query of a URL that are named like credentials.
func credentialsIn(address string) (names []string) {
	_, query, _ := strings.Cut(address, "?")
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if isCredential(name) && value != "" && !isPlaceholder(value) {
			names = append(names, name)
		}
	}
	return names
}

func quotedList(names []string) string {
	quotes := make([]string, len(names))
	for i, name := range names {
		quotes[i] = quoted(name)
	}
	return strings.Join(quotes, ", ")
}

// sourceName is the name of a page: its title, or its address without what may be secret.
func sourceName(title, address string) string {
	switch {
	case title == "":
		title = SafeURL(address)
	case strings.Contains(title, "://"):
		title = SafeURL(title)
	}
	return clip(title, maxNameChars)
}
