package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/workspaces"
)

// ID names an agent (agt_…).
type ID string

// Defaults of a configuration. Source: decisions, Tenancy.
const (
	DefaultTopK               = 5
	DefaultMaxDurationSeconds = 3600
	// DefaultClientToolTimeoutSeconds is how long clients may take to answer a call. It can be set
	// up to maxClientToolSeconds. Source: decisions, Tools (the times of http tools).
	DefaultClientToolTimeoutSeconds = 20
	maxClientToolSeconds            = 120
	// minSeconds and maxSeconds bound max_duration_seconds and idle_timeout_seconds.
	minSeconds       = 10
	maxSeconds       = 86_400
	idleSecondsVoice = 120
	idleSecondsText  = 1800
)

// Agent is an agent at one version: its latest, unless it was read as a Version.
type Agent struct {
	bun.BaseModel `bun:"table:agents,alias:a"`

	ID          ID                  `bun:"id,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Name        string              `bun:"name"`
	Version     int                 `bun:"version"`
	Config      Config              `bun:"config,type:jsonb"`
	CreatedAt   time.Time           `bun:"created_at"`
	UpdatedAt   time.Time           `bun:"updated_at"`
}

// Ref is the workspace the agent belongs to.
func (a Agent) Ref() workspaces.Ref { return workspaces.Ref{TenantID: a.TenantID, ID: a.WorkspaceID} }

// Version is one immutable save of an agent.
type Version struct {
	bun.BaseModel `bun:"table:agent_versions,alias:v"`

	AgentID     ID                  `bun:"agent_id,pk"`
	Version     int                 `bun:"version,pk"`
	TenantID    workspaces.TenantID `bun:"tenant_id"`
	WorkspaceID workspaces.ID       `bun:"workspace_id"`
	Name        string              `bun:"name"`
	Config      Config              `bun:"config,type:jsonb"`
	CreatedAt   time.Time           `bun:"created_at"`
}

// Config is everything about an agent that is versioned, except its name. Its JSON is stored, and
// versions are compared by it. The names are those of the API.
type Config struct {
	Instructions  string    `json:"instructions"`
	FirstMessage  string    `json:"first_message"`
	Language      string    `json:"language"`
	Model         Model     `json:"model"`
	Voice         Voice     `json:"voice"`
	Retrieval     Retrieval `json:"retrieval"`
	DisabledTools []string  `json:"disabled_tools"`
	// ClientToolTimeoutSeconds is how long a client may take to answer a call. 0 means the default.
	ClientToolTimeoutSeconds int `json:"client_tool_timeout_seconds,omitempty"` // in tools_config
	// ClientTools are offered to clients that cannot declare tools themselves.
	ClientTools        []ClientTool    `json:"client_tools,omitempty"` // in tools_config
	Guards             []Guard         `json:"guards"`
	Fatigue            []FatigueWindow `json:"fatigue"`
	Budgets            []Budget        `json:"budgets,omitempty"`
	Memory             Memory          `json:"memory"`
	MaxDurationSeconds int             `json:"max_duration_seconds"`
	// IdleTimeoutSeconds 0 means the default of the modality: see IdleTimeout.
	IdleTimeoutSeconds int      `json:"idle_timeout_seconds"`
	LockedOverrides    []string `json:"locked_overrides"`
	ClientOverrides    []string `json:"client_overrides"`
	Analysis           Analysis `json:"analysis,omitzero"`
	// InjectionPolicy is one of the policies below, or empty in what earlier releases stored: see
	// Policy.
	InjectionPolicy string    `json:"injection_policy,omitempty"`
	Privacy         Privacy   `json:"privacy,omitzero"`
	Callbacks       Callbacks `json:"callbacks,omitzero"`
	Handover        Handover  `json:"handover,omitzero"`
	Widget          Widget    `json:"widget,omitzero"`
}

// The values of Config.InjectionPolicy: what happens to a call that text from outside seems to
// dictate.
const (
	InjectionOff   = "off"
	InjectionFlag  = "flag"
	InjectionBlock = "block"
)

// Policy is the injection policy in force.
func (c Config) Policy() string { return cmp.Or(c.InjectionPolicy, InjectionFlag) }

// Model says which model answers. Empty fields mean the defaults of the installation.
type Model struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	// Temperature nil means the default of the provider.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxOutputTokens 0 means the default of the provider.
	MaxOutputTokens int        `json:"max_output_tokens"`
	Fallbacks       []ModelRef `json:"fallbacks"`
	// HistoryTokens bounds the earlier turns that the model sees. 0 means 6,000.
	HistoryTokens int `json:"history_tokens,omitempty"`
}

// ModelRef names a model of a provider.
type ModelRef struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
}

// Voice is the voice stack. Each part is a JSON object in the form of its provider.
type Voice struct {
	STT               json.RawMessage `json:"stt,omitempty"`
	TTS               json.RawMessage `json:"tts,omitempty"`
	VAD               json.RawMessage `json:"vad,omitempty"`
	TurnDetection     json.RawMessage `json:"turn_detection,omitempty"`
	InputAudioFormat  string          `json:"input_audio_format"`
	OutputAudioFormat string          `json:"output_audio_format"`
	Recording         Recording       `json:"recording,omitzero"`
	Waiting           Waiting         `json:"waiting,omitzero"`
}

// Recording says whether the sound of voice sessions is kept; see package recordings.
type Recording struct {
	Enabled bool `json:"enabled,omitempty"`
	// Notice is said to the user before anything else of a recorded session; empty: nothing is
	// said.
	Notice string `json:"notice,omitempty"`
}

// Waiting is what the agent says, in voice sessions, while somebody waits. Source: agents.proto.
type Waiting struct {
	// FillerAfterMS is how long the user waits for an answer before the agent says one of Fillers,
	// at most one an answer; nil is 1500, 0 never.
	FillerAfterMS *int     `json:"filler_after_ms,omitempty"`
	Fillers       []string `json:"fillers,omitempty"`
	// ReengageAfterMS is how long nobody speaks before the agent says ReengageMessage, and after as
	// long again GoodbyeMessage, which ends the session; 0: never. Empty messages are the
	// language's.
	ReengageAfterMS int    `json:"reengage_after_ms,omitempty"`
	ReengageMessage string `json:"reengage_message,omitempty"`
	GoodbyeMessage  string `json:"goodbye_message,omitempty"`
	// ProtectFirstMessage has speech not interrupt the agent's first message.
	ProtectFirstMessage bool `json:"protect_first_message,omitempty"`
}

// Retrieval says how passages are chosen for a turn.
type Retrieval struct {
	// TopK is from 1 to 50.
	TopK int `json:"top_k"`
	// MinSimilarity nil means the floor of the embedding model.
	MinSimilarity *float64 `json:"min_similarity,omitempty"`
	// Ranking is similarity or hybrid.
	Ranking string `json:"ranking"`
	// Rerank uses the reranking server of the installation, if there is one.
	Rerank bool `json:"rerank,omitempty"`
	// Tags choose among the sources that are attached; a session's own choose further among those.
	Tags        TagFilter `json:"tags,omitzero"`
	SessionTags TagFilter `json:"session_tags,omitzero"`
}

// Filters are those that a source must pass.
func (r Retrieval) Filters() []TagFilter { return []TagFilter{r.Tags, r.SessionTags} }

// The actions of a guard. Each says the reply and nothing else of the turn.
const (
	GuardBlock = "block"
	// GuardEscalate also announces it: event escalation.triggered.
	GuardEscalate = "escalate"
	// GuardEnd also ends the session.
	GuardEnd = "end"
)

// Guard is a no-go zone; package nogo has what phrases and patterns find, Comparer what examples
// are compared by, and package judge how a model is asked.
type Guard struct {
	Name     string   `json:"name"`
	Phrases  []string `json:"phrases"`
	Patterns []string `json:"patterns"`
	Examples []string `json:"examples"`
	// MinSimilarity is from which similarity, 0 to 1, a sentence is like an example.
	MinSimilarity float64     `json:"min_similarity,omitempty"`
	Judge         *GuardJudge `json:"judge,omitempty"`
	Action        string      `json:"action"`
	Reply         string      `json:"reply"`
}

// The values of GuardJudge.OnFailure.
const (
	JudgeBlock = "block"
	JudgeAllow = "allow"
)

// GuardJudge has a language model decide whether sentences are in a guard's zone; see package
// judge.
type GuardJudge struct {
	// Instructions say what is forbidden.
	Instructions string `json:"instructions"`
	// Model is empty for that of another judge of the agent, or else the agent's own.
	Model ModelRef `json:"model,omitzero"`
	// OnFailure is what happens to sentences that the model cannot be asked about; empty means
	// JudgeBlock.
	OnFailure string `json:"on_failure,omitempty"`
}

// ClientTool is a tool that a connected client runs.
type ClientTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is a JSON Schema of an object. Empty accepts any arguments.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// clientToolName matches the function names that models accept.
var clientToolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkClientTools returns violations for invalid and duplicate names.
func checkClientTools(list []ClientTool, add func(field, code, message string)) {
	seen := map[string]bool{}
	for i, tool := range list {
		at := "tools_config.client_tools[" + strconv.Itoa(i) + "].name"
		if !clientToolName.MatchString(tool.Name) {
			add(at, "pattern", "A tool's name has 1 to 64 letters, digits, _ and -.")
		} else if seen[tool.Name] {
			add(at, "unique", "The tool "+strconv.Quote(tool.Name)+" is there twice.")
		}
		seen[tool.Name] = true
	}
}

// Memory is the agent's memory of its users.
type Memory struct {
	Enabled bool `json:"enabled"`
	// ConfirmCategories are categories of memories that the user or an operator must confirm. "*"
	// is every category.
	ConfirmCategories []string `json:"confirm_categories,omitempty"`
	// MaxTokens bounds the memories that a session is given. 0 means 800.
	MaxTokens int `json:"max_tokens,omitempty"`
	// SkipExtraction turns off the extraction of memories after a session.
	SkipExtraction bool `json:"skip_extraction,omitempty"`
}

// OverrideKeys are the keys that POST /sessions takes in overrides and voice_stack_override, and
// that locked_overrides and client_overrides may name. Source: decisions, Sessions.
var OverrideKeys = []string{
	"instructions", "first_message", "language", "model", "temperature", "voice", "retrieval",
	"stt", "tts", "vad", "turn_detection", "input_audio_format", "output_audio_format",
}

// KeyClientVariables is a key of client_overrides only: a client may add dynamic variables that the
// session does not have.
const KeyClientVariables = "dynamic_variables"

// IdleTimeout is how long a conversation of the modality may be silent.
func (c Config) IdleTimeout(modality string) time.Duration {
	seconds := c.IdleTimeoutSeconds
	switch {
	case seconds > 0:
	case modality == "text":
		seconds = idleSecondsText
	default:
		seconds = idleSecondsVoice
	}
	return time.Duration(seconds) * time.Second
}

// MaxDuration is how long a conversation may last.
func (c Config) MaxDuration() time.Duration {
	return time.Duration(c.MaxDurationSeconds) * time.Second
}

// withDefaults sets fields that were left out.
func (c Config) withDefaults() Config {
	if c.Retrieval.TopK == 0 {
		c.Retrieval.TopK = DefaultTopK
	}
	if c.Retrieval.Ranking == "" {
		c.Retrieval.Ranking = "hybrid"
	}
	if c.MaxDurationSeconds == 0 {
		c.MaxDurationSeconds = DefaultMaxDurationSeconds
	}
	c.InjectionPolicy = c.Policy()
	c.Widget = c.Widget.normal()
	return c
}

// checkBuilt refuses settings that would protect people and that nothing applies yet, or that would
// guard nothing, so that no one relies on them. What an earlier release stored is kept until it is
// changed. Errors: Unimplemented not-implemented, Invalid invalid-request.
func (c Config) checkBuilt(stored Config, by Comparer, priced PriceFunc) error {
	if !reflect.DeepEqual(c.Guards, stored.Guards) {
		if err := checkGuards(c.Guards, by); err != nil {
			return err
		}
	}
	if !reflect.DeepEqual(c.Fatigue, stored.Fatigue) {
		if err := checkFatigue(c.Fatigue); err != nil {
			return err
		}
	}
	if len(c.Budgets) > 0 && !reflect.DeepEqual([]any{c.Budgets, c.Model, c.Guards}, []any{stored.Budgets, stored.Model, stored.Guards}) {
		return c.checkBudgets(priced)
	}
	return nil
}

// languageTag matches the form of a BCP 47 tag. It does not check that subtags are registered.
var languageTag = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// Check refuses what the rules of the proto cannot express, with all violations. Errors: Invalid
// invalid-request.
func (c Config) Check() error {
	var fields []fault.Field
	add := func(field, code, message string) {
		fields = append(fields, fault.Field{Field: field, Code: code, Message: message})
	}
	if c.Language != "" && !languageTag.MatchString(c.Language) {
		add("language", "bcp47", `language must be a BCP 47 tag such as "en" or "de-CH".`)
	}
	for field, seconds := range map[string]int{"max_duration_seconds": c.MaxDurationSeconds, "idle_timeout_seconds": c.IdleTimeoutSeconds} {
		if seconds != 0 && (seconds < minSeconds || seconds > maxSeconds) {
			add(field, "range", fmt.Sprintf("Must be from %d to %d, or 0 for the default.", minSeconds, maxSeconds))
		}
	}
	if n := c.ClientToolTimeoutSeconds; n < 0 || n > maxClientToolSeconds {
		add("tools_config.client_tool_timeout_seconds", "range", fmt.Sprintf("Must be from 1 to %d, or 0 for the default.", maxClientToolSeconds))
	}
	checkClientTools(c.ClientTools, add)
	for field, keys := range map[string][]string{"locked_overrides": c.LockedOverrides, "client_overrides": c.ClientOverrides} {
		for i, key := range keys {
			if !slices.Contains(OverrideKeys, key) && !(field == "client_overrides" && key == KeyClientVariables) {
				add(field+"["+strconv.Itoa(i)+"]", "unknown", "There is no override "+strconv.Quote(key)+".")
			}
		}
	}
	fields = append(fields, c.Analysis.check()...)
	c.checkZeroRetention(add)
	c.checkRecording(add)
	c.checkCalling(add)
	c.checkWidget(add)
	if err := c.Retrieval.Tags.Check("retrieval.tags"); err != nil {
		fields = append(fields, fault.From(err).Fields...)
	}
	if len(fields) == 0 {
		return nil
	}
	return fault.InvalidFields(fields...)
}
