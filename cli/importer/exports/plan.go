package exports

import (
	"regexp"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// Provider is a service whose exports are read.
type Provider string

// The providers.
const (
	ElevenLabs Provider = "elevenlabs"
	Vapi       Provider = "vapi"
	Retell     Provider = "retell"
)

// Providers are all of them.
var Providers = []Provider{ElevenLabs, Vapi, Retell}

// Title is the provider's name for people.
func (p Provider) Title() string {
	return map[Provider]string{ElevenLabs: "ElevenLabs", Vapi: "Vapi", Retell: "Retell"}[p]
}

// Plan is what is to be made of an export.
type Plan struct {
	Agents  []*Agent
	Tools   []*Tool
	Sources []*Source
	// Todos are what a person has to do that belongs to no agent.
	Todos []Todo
	// Rows say of each member of the export what became of it.
	Rows []Row
}

// Agent is an agent to be made. Want has no workspace yet.
type Agent struct {
	Want *parlancev1.CreateAgentRequest
	// ID is what the export calls the agent; empty when it has no id.
	ID string
	// Base is its name without what tells it from another agent of the export.
	Base string
	// Obstacle says why the agent cannot be made; empty when it can.
	Obstacle string
	Tools    []*Tool
	Sources  []*Source
	Todos    []Todo
	// Variables are the {{names}} of its texts and tools that a session must be given, sorted.
	Variables []string
	// speech are the members of the export that name the provider, model and voice of stt and tts.
	speech map[string][]node
}

// Tool is a custom tool to be made. Its AuthHeader and SecretHeaders hold what the export has in
// plain text.
type Tool struct {
	Want *parlancev1.CreateToolRequest
	// Base is its name without the number that tells it from another tool.
	Base string
	// Secrets are the headers whose values the export does not have.
	Secrets []string
	// Notes say what an endpoint sees that is different from before.
	Notes []string
	// from is its place in the export.
	from node
	// schema is the decoded input schema of tools that Vapi and Retell have as JSON Schema.
	schema map[string]any
	// body are the members of the body that the model does not choose.
	body map[string]any
}

// Source is a source to be made: a page that the server fetches, or a text.
type Source struct {
	Name string
	// URL is the address of a page; Text is empty then.
	URL, RefreshEvery string
	// Text has the media type MediaType.
	Text, MediaType string
	// InPrompt says that its whole text is always in the prompt.
	InPrompt bool
}

// AgentPlaceholder stands in the commands of todos for the id of the agent that was made.
const AgentPlaceholder = "AGENT_ID"

// Todo is something that a person has to do.
type Todo struct {
	// What is a sentence, and Command the next command; it may be empty.
	What, Command string
}

// plainFile matches names of files that a shell leaves as they are.
var plainFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\.[A-Za-z0-9]{1,8}$`)

// addFile is the command that uploads a file of this name.
func addFile(name string) string {
	if !plainFile.MatchString(name) {
		name = "FILE"
	}
	return "parlance kb add " + name + " --attach " + AgentPlaceholder
}
