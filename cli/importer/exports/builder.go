package exports

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// builder collects the parts of one agent.
type builder struct {
	*Agent
	// names are the provider's variables that have other names here.
	names               map[string]string
	stt, tts, detection map[string]any
	variables           map[string]bool
	// inline are the ids of tools that are read, or missing, already.
	inline map[string]bool
	// read are the ids of tools of other files that are read already.
	read                        map[string]bool
	analysisFrom, recordingFrom []node
}

func newBuilder(names map[string]string) *builder {
	return &builder{
		// Without memory: none of the services remembers users across conversations by itself.
		Agent: &Agent{Want: &parlancev1.CreateAgentRequest{Memory: &parlancev1.AgentMemory{}}, speech: map[string][]node{}},
		names: names, stt: map[string]any{}, tts: map[string]any{}, detection: map[string]any{}, variables: map[string]bool{},
		inline: map[string]bool{}, read: map[string]bool{},
	}
}

func (b *builder) agentModel() *parlancev1.AgentModel       { return made(&b.Want.Model) }
func (b *builder) voice() *parlancev1.AgentVoice            { return made(&b.Want.Voice) }
func (b *builder) waiting() *parlancev1.AgentWaiting        { return made(&b.voice().Waiting) }
func (b *builder) privacy() *parlancev1.PrivacySettings     { return made(&b.Want.Privacy) }
func (b *builder) retention() *parlancev1.RetentionSettings { return made(&b.privacy().Retention) }
func (b *builder) callbacks() *parlancev1.AgentCallbacks    { return made(&b.Want.Callbacks) }
func (b *builder) handover() *parlancev1.AgentHandover      { return made(&b.Want.Handover) }
func (b *builder) retrieval() *parlancev1.AgentRetrieval    { return made(&b.Want.Retrieval) }
func (b *builder) toolsConfig() *parlancev1.ToolsConfig     { return made(&b.Want.ToolsConfig) }
func (b *builder) widget() *parlancev1.AgentWidget          { return made(&b.Want.Widget) }

// todo adds what is left to do, once.
func (b *builder) todo(what, command string) {
	if one := (Todo{what, command}); !slices.Contains(b.Todos, one) {
		b.Todos = append(b.Todos, one)
	}
}

func (b *builder) member(part map[string]any, name string) func(string) string {
	return func(value string) string {
		if len(value) > maxNameChars {
			return "It has more than 200 bytes."
		}
		part[name] = value
		return ""
	}
}

// ranged sets a number of a part of the voice that must be in a range.
func ranged(part map[string]any, name string, least, most float64) func(float64) string {
	return func(value float64) string {
		if value < least || value > most {
			return fmt.Sprintf("It is outside %g to %g, so the voice's own stays.", least, most)
		}
		part[name] = value
		return ""
	}
}

// made returns the message in a place, and makes it first when there is none.
func made[T any](place **T) *T {
	if *place == nil {
		*place = new(T)
	}
	return *place
}

// analysis is the agent's analysis, turned on by a member of the export.
func (b *builder) analysis(from node) *parlancev1.AgentAnalysis {
	b.analysisFrom = append(b.analysisFrom, from)
	analysis := made(&b.Want.Analysis)
	analysis.Enabled = true
	return analysis
}

// record turns recordings on or off.
func (b *builder) record(from node) func(bool) string {
	return func(on bool) string {
		if on {
			b.voice().Recording = &parlancev1.AgentRecording{Enabled: true}
			b.recordingFrom = append(b.recordingFrom, from)
		}
		return ""
	}
}

// finish joins the parts and resolves settings that do not go together.
func (b *builder) finish(fallbackName string) *Agent {
	given := b.Want.GetName()
	b.Want.Name = clip(strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, given)), maxNameChars)
	if b.Want.GetName() != strings.TrimSpace(given) {
		b.todo("The agent is named "+quoted(b.Want.GetName())+": a name has at most 200 characters, and none that are invisible", "")
	}
	if b.Want.GetName() == "" {
		b.Want.Name = clip(fallbackName, maxNameChars)
	}
	if b.Want.GetPrivacy().GetZeroRetention() && b.Want.GetAnalysis() != nil {
		b.Want.Analysis = nil
		for _, from := range b.analysisFrom {
			from.lost("The agent keeps nothing that is said (zero retention), so there is nothing to analyse.")
		}
	}
	if p := b.Want.GetPrivacy(); (p.GetZeroRetention() || len(p.GetRedact()) > 0) && b.Want.GetVoice().GetRecording() != nil {
		b.Want.Voice.Recording = nil
		for _, from := range b.recordingFrom {
			from.lost("Conversations cannot be recorded while what is said is redacted or not kept.")
		}
	}
	if len(b.stt) > 0 {
		b.voice().Stt = structOf(b.stt)
	}
	if len(b.tts) > 0 {
		b.voice().Tts = structOf(b.tts)
	}
	if len(b.detection) > 0 {
		b.voice().TurnDetection = structOf(b.detection)
	}
	for _, tool := range b.Tools {
		tool.render(b)
	}
	b.Variables = slices.Sorted(maps.Keys(b.variables))
	return b.Agent
}

// render gives the texts of a tool in which variables are replaced the placeholders of Parlance.
func (t *Tool) render(b *builder) {
	want := t.Want
	for _, text := range []*string{&want.WebhookUrl, &want.AuthHeader, &want.HardcodedBodyParamsJson} {
		*text = b.render(t.from, *text)
	}
	for _, values := range []map[string]string{want.GetHeaders(), want.GetSecretHeaders(), want.GetHardcodedQueryParams()} {
		for name, value := range values {
			values[name] = b.render(t.from, value)
		}
	}
}

// variableName matches names of variables.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// placeholder matches what other services replace in texts: {{name}}, {{a.b}}, {{x | filter}},
// and the tags {% … %} of Liquid.
var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}|\{%[^%]*%\}`)

// systemVariables are those that every session has.
var systemVariables = []string{
	"system__session_id", "system__agent_id", "system__user_id", "system__conversation_id", "system__time_utc",
	"system__timezone", "system__language", "system__caller_id", "system__called_number", "system__call_reason", "system__call_direction",
}

// collect notes the variables of a text that sessions must be given.
func (b *builder) collect(text string) {
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(found[1])
		if variableName.MatchString(name) && !strings.HasPrefix(name, "system__") {
			b.variables[name] = true
		}
	}
}

// render returns a text with the placeholders of Parlance. A placeholder that it has no
// counterpart for stays as it is written, and gets a row.
func (b *builder) render(n node, text string) string {
	text = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSpace(placeholder.FindStringSubmatch(found)[1])
		ours, renamed := b.names[name]
		row := Row{File: n.tree.file, Path: n.path + " " + clip(found, 60), Kind: Lost}
		switch {
		case renamed && ours != "":
			row.Kind, row.To = Mapped, "variable {{"+ours+"}}"
			found = "{{" + ours + "}}"
		case renamed || strings.HasPrefix(name, "system__") && !slices.Contains(systemVariables, name):
			row.Why = "No session has this variable by itself: rename it and give it in dynamic_variables, or take it out."
		case variableName.MatchString(name):
			return found
		default:
			row.Why = "Placeholders are {{name}}, of letters, digits and _, without fields, filters and tags: it stays as it is written."
		}
		n.tree.rows[row.Path] = row
		return found
	})
	b.collect(text)
	return text
}

// rendered is a setter for a text with placeholders of at most so many characters.
func (b *builder) rendered(n node, key string, most int, place *string) func(string) string {
	return func(text string) string {
		text = b.render(n.at(key), text)
		if cut := clip(text, most); cut != text {
			return fmt.Sprintf("It has more than %d characters.", most)
		}
		*place = text
		return ""
	}
}

// prompt reads the instructions. An agent is not made without them.
func (b *builder) prompt(n node, key string) {
	if at := n.at(key); at.exists() && !isUnset(at.value) {
		b.prompts([]node{at})
	}
}

// prompts joins several texts to the instructions.
func (b *builder) prompts(places []node) {
	texts, why := make([]string, len(places)), ""
	for i, at := range places {
		text, ok := at.value.(string)
		if !ok && at.value != nil {
			why = "it is no text"
		}
		texts[i] = b.render(at, text)
	}
	text := strings.Join(texts, "\n\n")
	if clip(text, maxInstructionsChars) != text {
		why = "it has more than 100,000 characters"
	}
	if why != "" {
		b.Obstacle = "its prompt cannot be brought over: " + why
		for _, at := range places {
			at.lost("The agent is not made: its prompt cannot be brought over, because %s.", why)
		}
		return
	}
	for _, at := range places {
		at.became("agent.instructions")
	}
	b.Want.Instructions = text
}

// voicemail reads what is left on an answering machine.
func (b *builder) voicemail(n node, key string) {
	n.text(key, "agent.callbacks.voicemail_message", func(text string) string {
		if text = b.render(n.at(key), text); len([]rune(text)) > 1000 {
			return "It has more than 1,000 characters."
		}
		b.callbacks().Voicemail, b.callbacks().VoicemailMessage = "leave_message", text
		return ""
	})
}

// destinations is the field of the numbers that calls are transferred to.
const destinations = "agent.handover.destinations"

// destination adds a number that calls are transferred to, and settles its name.
func (b *builder) destination(named node, number string) string {
	if !phoneNumber.MatchString(number) {
		return "Calls are transferred to telephone numbers with their country's code (+12015550123)."
	}
	handover := b.handover()
	if len(handover.GetDestinations()) == 20 {
		return "An agent transfers calls to at most 20 numbers."
	}
	given, _ := named.value.(string)
	given = strings.TrimSpace(given)
	name := clip(given, maxSlugChars)
	named.settle(destinations, cutText(given, maxSlugChars))
	for i := 2; name == "" || slices.ContainsFunc(handover.GetDestinations(), func(d *parlancev1.HandoverDestination) bool {
		return d.GetName() == name
	}); i++ {
		if name = fmt.Sprintf("destination %d", len(handover.GetDestinations())+i-1); given != "" {
			named.lost("Another destination has this name, so this one is named %s.", name)
		}
	}
	handover.Enabled = true
	handover.Destinations = append(handover.Destinations, &parlancev1.HandoverDestination{Name: name, PhoneNumber: number})
	return ""
}

var phoneNumber = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// clientTools is the field of the tools that a connected client runs.
const clientTools = "agent.tools_config.client_tools"

// clientTool adds a tool that a connected client runs, with its name and description of n.
func (b *builder) clientTool(n node, parameters any) {
	name, slug := n.peek("name"), slugOf(n.peek("name"))
	config := b.toolsConfig()
	if slices.ContainsFunc(config.GetClientTools(), func(t *parlancev1.AgentClientTool) bool { return t.GetName() == slug }) {
		for _, key := range []string{"name", "description"} {
			n.at(key).lost("The agent has a tool of this name already.")
		}
		return
	}
	schema, _ := parameters.(map[string]any)
	tool := &parlancev1.AgentClientTool{Name: slug, ParametersJson: jsonText(schema)}
	n.at("name").became(clientTools)
	n.text("description", clientTools, clipped(&tool.Description, maxDescriptionChars))
	config.ClientTools = append(config.ClientTools, tool)
	b.renamed("The tool %s of the client", name, slug)
}

// analysisID matches ids of criteria and data.
var analysisID = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)

// criterion adds a condition of success of ElevenLabs.
func (b *builder) criterion(n node) {
	const to = "agent.analysis.criteria"
	one := &parlancev1.AnalysisCriterion{Id: n.peek("id")}
	analysis := b.analysis(n.at("conversation_goal_prompt"))
	if !analysisID.MatchString(one.GetId()) {
		one.Id = slugOf(one.GetId())
	}
	why := ""
	switch taken := func(c *parlancev1.AnalysisCriterion) bool { return c.GetId() == one.GetId() }; {
	case strings.TrimSpace(n.peek("conversation_goal_prompt")) == "":
		why = "It says nothing to judge by."
	case slices.ContainsFunc(analysis.GetCriteria(), taken):
		why = "There is a criterion of this id already."
	case len(analysis.GetCriteria()) == 30:
		why = "An analysis has at most 30 criteria."
	}
	for _, key := range []string{"id", "type", "name", "conversation_goal_prompt"} {
		n.at(key).settle(to, why)
		b.analysisFrom = append(b.analysisFrom, n.at(key))
	}
	if why != "" {
		return
	}
	n.text("name", to, clipped(&one.Name, maxNameChars))
	n.text("conversation_goal_prompt", to, clipped(&one.Prompt, maxDescriptionChars))
	analysis.Criteria = append(analysis.Criteria, one)
	b.renamed("The criterion %s of the analysis", n.peek("id"), one.GetId())
}

// datum adds a value to read out of conversations: n has its type and description. nameKey and
// enumKey are the members with its name and with the values of a choice.
func (b *builder) datum(n node, id, nameKey, enumKey string) {
	const to = "agent.analysis.data"
	field := &parlancev1.AnalysisField{Id: id, Type: n.peek("type")}
	if !analysisID.MatchString(id) {
		field.Id = slugOf(id)
	}
	why := ""
	if choices := n.at(enumKey); choices.exists() && !isUnset(choices.value) {
		var isTexts bool
		if field.Enum, isTexts = textsOf(choices.value); !isTexts {
			why = "The values of a choice are texts."
		}
		field.Type = "enum"
	}
	analysis := b.analysis(n.at("type"))
	switch taken := func(f *parlancev1.AnalysisField) bool { return f.GetId() == field.GetId() }; {
	case why != "":
	case !slices.Contains([]string{"string", "number", "integer", "boolean", "enum"}, field.GetType()):
		why = "Analyses read texts, numbers, yes or no, and one of several values."
	case len(field.GetEnum()) > 50 || field.GetType() == "enum" && len(field.GetEnum()) == 0:
		why = "A choice has 1 to 50 values."
	case slices.ContainsFunc(analysis.GetData(), taken):
		why = "There is a value of this id already."
	case len(analysis.GetData()) == 40:
		why = "An analysis reads at most 40 values."
	}
	for _, key := range []string{nameKey, "type", "description", enumKey} {
		if at := n.at(key); at.exists() && !isUnset(at.value) {
			at.settle(to, why)
			b.analysisFrom = append(b.analysisFrom, at)
		}
	}
	if why != "" {
		return
	}
	n.text("description", to, clipped(&field.Description, 1000))
	if field.GetDescription() == "" {
		field.Description = field.GetId()
	}
	analysis.Data = append(analysis.Data, field)
	b.renamed("The value %s of the analysis", id, field.GetId())
}

// renamed says that something could not keep its name.
func (b *builder) renamed(what, from, to string) {
	if from != to {
		b.todo(fmt.Sprintf(what, quoted(from))+" is named "+to+" here, because names begin with a letter and have letters, "+
			"digits, _ and -: change what reads it", "")
	}
}
