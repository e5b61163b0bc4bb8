package exports

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

const (
	// maxNameChars, maxDescriptionChars and maxSlugChars are the limits of the API.
	maxNameChars, maxDescriptionChars, maxSlugChars = 200, 2000, 64
	// maxInstructionsChars is the longest prompt.
	maxInstructionsChars = 100000
	// minSeconds and maxSeconds bound time-outs of conversations, maxToolSeconds those of calls.
	minSeconds, maxSeconds, maxToolSeconds = 10, 86400, 120
	maxAssignments                         = 16
	// maxAttempts is how often a call is made.
	maxAttempts = 5
	// maxFallbacks is how many models are asked when the first one fails.
	maxFallbacks = 5
)

// clip cuts a text to a number of characters.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

var notSlug = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// slugOf makes a tool's name of any name.
func slugOf(name string) string {
	slug := strings.Trim(notSlug.ReplaceAllString(name, "_"), "_-")
	if slug == "" || slug[0] >= '0' && slug[0] <= '9' {
		slug = strings.TrimSuffix("tool_"+slug, "_")
	}
	return clip(slug, maxSlugChars)
}

// seconds sets a time-out of a conversation.
func seconds(place *int32) func(float64) string { return scaled(place, 1) }

// scaled sets a time-out of a conversation that is given in another unit: each second has so
// many.
func scaled(place *int32, each float64) func(float64) string {
	return func(given float64) string {
		value := given / each
		if value < minSeconds || value > maxSeconds {
			return fmt.Sprintf("It is outside %d to %d seconds, so the default stays.", minSeconds, maxSeconds)
		}
		*place = int32(value)
		if value != math.Trunc(value) {
			return cut("Time-outs are whole seconds: it is %d s.", *place)
		}
		return ""
	}
}

// toolSeconds sets the time-out of a call; each second has so many of the given unit.
func toolSeconds(place *int32, each float64) func(float64) string {
	return func(given float64) string {
		value := math.Ceil(given / each)
		if value < 1 {
			return "A call may take 1 to 120 seconds; the default stays."
		}
		*place = int32(min(value, maxToolSeconds))
		if value > maxToolSeconds {
			return cut("A call may take at most %d seconds: it is %d s.", maxToolSeconds, maxToolSeconds)
		}
		return ""
	}
}

// attempts sets how often a call is tried, by how often it was repeated.
func (t *Tool) attempts(repeats float64) string {
	if repeats < 0 || repeats != math.Trunc(repeats) {
		return "It is no whole number from 0 on, so the default stays."
	}
	t.Want.Retry = &parlancev1.ToolRetry{MaxAttempts: int32(min(repeats+1, maxAttempts))}
	if repeats+1 > maxAttempts {
		return cut("A call is made at most %d times: it is repeated %d times.", maxAttempts, maxAttempts-1)
	}
	return ""
}

// within sets a number that must be in a range.
func within(place **float64, least, most float64) func(float64) string {
	return func(value float64) string {
		if value < least || value > most {
			return fmt.Sprintf("It is outside %g to %g, so the default stays.", least, most)
		}
		*place = &value
		return ""
	}
}

// whole sets a whole number that must be in a range.
func whole(place *int32, least, most float64) func(float64) string {
	return func(value float64) string {
		if value < least || value > most || value != math.Trunc(value) {
			return fmt.Sprintf("It is no whole number from %g to %g, so the default stays.", least, most)
		}
		*place = int32(value)
		return ""
	}
}

var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// language sets a BCP 47 tag.
func language(place *string) func(string) string {
	return func(tag string) string {
		tag = strings.ReplaceAll(tag, "_", "-")
		if tag == "multi" || len(tag) > 35 || !languageTag.MatchString(tag) {
			return "It names no one language; without one an agent speaks the language of its user."
		}
		*place = tag
		return ""
	}
}

// retellClaude matches Retell's names of Claude models: claude-4.5-sonnet.
var retellClaude = regexp.MustCompile(`^claude-([0-9])(?:\.([0-9]))?-([a-z]+)$`)

// modelOf finds the provider of a model by its name. Claude models are named as Anthropic does.
func modelOf(name string) (provider, model string, ok bool) {
	switch {
	case strings.HasPrefix(name, "gpt-oss"): // served by others than OpenAI
		return "", "", false
	case strings.HasPrefix(name, "gpt-"), strings.HasPrefix(name, "o1"), strings.HasPrefix(name, "o3"), strings.HasPrefix(name, "o4"),
		strings.HasPrefix(name, "chatgpt-"):
		return "openai", name, true
	case strings.HasPrefix(name, "claude-"):
		name = strings.ReplaceAll(name, "@", "-")
		if m := retellClaude.FindStringSubmatch(name); m != nil && m[1] >= "4" {
			version := m[1]
			if m[2] != "" {
				version += "-" + m[2]
			}
			name = "claude-" + m[3] + "-" + version
		}
		return "anthropic", name, true
	}
	return "", "", false
}

const noModel = "Models are asked over the APIs of OpenAI, Anthropic and Azure, or a server with OpenAI's API " +
	"(docs/models.md); the agent has the installation's model."

// model sets the model by its name.
func (b *builder) model(name string) string {
	provider, model, ok := modelOf(name)
	if !ok || len(model) > maxNameChars {
		return noModel
	}
	b.agentModel().Provider, b.agentModel().Name = provider, model
	return ""
}

// fallback adds a model that is asked when the first one fails.
func (b *builder) fallback(name string) string {
	provider, model, ok := modelOf(name)
	switch {
	case !ok || len(model) > maxNameChars:
		return noModel
	case len(b.agentModel().GetFallbacks()) == maxFallbacks:
		return "An agent has at most five fallbacks."
	}
	b.agentModel().Fallbacks = append(b.agentModel().Fallbacks, &parlancev1.ModelRef{Provider: provider, Name: model})
	return ""
}

func put(place *map[string]string, name, value string) {
	if *place == nil {
		*place = map[string]string{}
	}
	(*place)[name] = value
}

// variables turns on the rendering of placeholders when a text has any.
func (t *Tool) variables(text string) {
	if strings.Contains(text, "{{") {
		t.Want.AllowDynamicVars = true
	}
}

// valuePath matches the places of values in answers that Parlance reads.
var valuePath = regexp.MustCompile(`^(\[[0-9]{1,6}\]|[A-Za-z0-9_-]+)(\[[0-9]{1,6}\]|\.[A-Za-z0-9_-]+){0,15}$`)

// assign keeps a value of the tool's answer as a variable. Without it the tool works all the same.
func (t *Tool) assign(variable, path string) string {
	why := t.keep(variable, path)
	if why != "" {
		t.Notes = append(t.Notes, "does not keep "+quoted(variable)+" of its answer: what uses this variable has to do without")
	}
	return why
}

func (t *Tool) keep(variable, path string) string {
	path = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(path, "$"), "."), "response.")
	isSet := func(one *parlancev1.ToolAssignment) bool { return one.GetDynamicVariable() == variable }
	switch {
	case !variableName.MatchString(variable) || strings.HasPrefix(variable, "secret__") || strings.HasPrefix(variable, "system__"):
		return "No variable can have this name."
	case len(path) > maxNameChars || !valuePath.MatchString(path):
		return "It names no place in the answer: that is one of names and numbers (order.items[0].id), without filters."
	case slices.ContainsFunc(t.Want.GetAssignments(), isSet):
		return "The variable is set by another value of the answer."
	case len(t.Want.GetAssignments()) == maxAssignments:
		return "A tool keeps at most 16 values."
	}
	t.Want.Assignments = append(t.Want.Assignments, &parlancev1.ToolAssignment{DynamicVariable: variable, ValuePath: path})
	return ""
}

// SafeURL is a URL without what may be secret in it: its user name, query and fragment.
func SafeURL(raw string) string {
	head, _, _ := strings.Cut(raw, "?")
	head, _, _ = strings.Cut(head, "#")
	parsed, err := url.Parse(head)
	if err != nil || parsed.Host == "" {
		return "an address that cannot be shown"
	}
	scheme, rest, _ := strings.Cut(head, "://")
	place, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(place, "@"); at >= 0 {
		place = place[at+1:]
	}
	return scheme + "://" + strings.TrimSuffix(place+"/"+path, "/")
}

// structOf is a value as a Struct; nil when it is none.
func structOf(members map[string]any) *structpb.Struct {
	if len(members) == 0 {
		return nil
	}
	encoded, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	out := &structpb.Struct{}
	if out.UnmarshalJSON(encoded) != nil {
		return nil
	}
	return out
}

// jsonText is a value as JSON; "" for nothing.
func jsonText(members map[string]any) string {
	if len(members) == 0 {
		return ""
	}
	encoded, err := json.Marshal(members)
	if err != nil {
		return "" // it was decoded from JSON
	}
	return string(encoded)
}
