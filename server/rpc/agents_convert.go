package rpc

import (
	"cmp"

	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/agents"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// newAgentConfig is the configuration of a new agent.
func newAgentConfig(req *parlancev1.CreateAgentRequest) agents.Config {
	return agents.Config{
		Instructions: req.GetInstructions(), FirstMessage: req.GetFirstMessage(), Language: req.GetLanguage(),
		Model: agentModel(req.GetModel()), Voice: agentVoice(req.GetVoice()), Retrieval: agentRetrieval(req.GetRetrieval()),
		DisabledTools: req.GetToolsConfig().GetDisabledTools(), ClientToolTimeoutSeconds: int(req.GetToolsConfig().GetClientToolTimeoutSeconds()),
		ClientTools: each(req.GetToolsConfig().GetClientTools(), clientTool),
		Guards:      each(req.GetGuards(), agentGuard), Fatigue: each(req.GetFatigue(), fatigueWindow),
		Budgets:            each(req.GetBudgets(), agentBudget),
		Memory:             agentMemory(req.GetMemory(), req.GetPrivacy()),
		MaxDurationSeconds: int(req.GetMaxDurationSeconds()), IdleTimeoutSeconds: int(req.GetIdleTimeoutSeconds()),
		LockedOverrides: req.GetLockedOverrides(), ClientOverrides: req.GetClientOverrides(),
		Analysis: agentAnalysis(req.GetAnalysis()), InjectionPolicy: req.GetInjectionPolicy(), Privacy: agentPrivacy(req.GetPrivacy()),
		Callbacks: agentCallbacks(req.GetCallbacks()), Handover: agentHandover(req.GetHandover()), Widget: agentWidget(req.GetWidget()),
	}
}

// applyAgentUpdate changes the fields sent; a field sent without a value goes back to its default.
// What model, voice and the other objects of the contract do not mention stays as it is.
func applyAgentUpdate(req *parlancev1.UpdateAgentRequest, name *string, config *agents.Config) {
	mask, stored := req.GetUpdateMask(), agentProto(agents.Agent{Config: *config})
	applyChanges(mask, []change{
		{"name", req.Name != nil, func() { *name = req.GetName() }},
		{"instructions", req.Instructions != nil, func() { config.Instructions = req.GetInstructions() }},
		{"first_message", req.FirstMessage != nil, func() { config.FirstMessage = req.GetFirstMessage() }},
		{"language", req.Language != nil, func() { config.Language = req.GetLanguage() }},
		{"model", req.GetModel() != nil, func() { config.Model = agentModel(merged(mask, "model", stored.GetModel(), req.GetModel())) }},
		{"voice", req.GetVoice() != nil, func() { config.Voice = agentVoice(merged(mask, "voice", stored.GetVoice(), req.GetVoice())) }},
		{"retrieval", req.GetRetrieval() != nil, func() {
			config.Retrieval = agentRetrieval(merged(mask, "retrieval", stored.GetRetrieval(), req.GetRetrieval()))
		}},
		{"tools_config", req.GetToolsConfig() != nil, func() {
			tools := merged(mask, "tools_config", stored.GetToolsConfig(), req.GetToolsConfig())
			config.DisabledTools, config.ClientToolTimeoutSeconds = tools.GetDisabledTools(), int(tools.GetClientToolTimeoutSeconds())
			config.ClientTools = each(tools.GetClientTools(), clientTool)
		}},
		{"guards", len(req.GetGuards()) > 0, func() { config.Guards = each(req.GetGuards(), agentGuard) }},
		{"fatigue", len(req.GetFatigue()) > 0, func() { config.Fatigue = each(req.GetFatigue(), fatigueWindow) }},
		{"budgets", len(req.GetBudgets()) > 0, func() { config.Budgets = each(req.GetBudgets(), agentBudget) }},
		{"memory", req.GetMemory() != nil, func() {
			config.Memory = agentMemory(merged(mask, "memory", stored.GetMemory(), req.GetMemory()), req.GetPrivacy())
		}},
		{"analysis", req.GetAnalysis() != nil, func() {
			config.Analysis = agentAnalysis(merged(mask, "analysis", stored.GetAnalysis(), req.GetAnalysis()))
		}},
		{"privacy", req.GetPrivacy() != nil, func() {
			config.Privacy = agentPrivacy(merged(mask, "privacy", stored.GetPrivacy(), req.GetPrivacy()))
		}},
		{"callbacks", req.GetCallbacks() != nil, func() {
			config.Callbacks = agentCallbacks(merged(mask, "callbacks", stored.GetCallbacks(), req.GetCallbacks()))
		}},
		{"handover", req.GetHandover() != nil, func() {
			config.Handover = agentHandover(merged(mask, "handover", stored.GetHandover(), req.GetHandover()))
		}},
		{"widget", req.GetWidget() != nil, func() {
			config.Widget = agentWidget(merged(mask, "widget", stored.GetWidget(), req.GetWidget()))
		}},
		{"injection_policy", req.InjectionPolicy != nil, func() { config.InjectionPolicy = req.GetInjectionPolicy() }},
		{"max_duration_seconds", req.MaxDurationSeconds != nil, func() { config.MaxDurationSeconds = int(req.GetMaxDurationSeconds()) }},
		{"idle_timeout_seconds", req.IdleTimeoutSeconds != nil, func() { config.IdleTimeoutSeconds = int(req.GetIdleTimeoutSeconds()) }},
		{"locked_overrides", len(req.GetLockedOverrides()) > 0, func() { config.LockedOverrides = req.GetLockedOverrides() }},
		{"client_overrides", len(req.GetClientOverrides()) > 0, func() { config.ClientOverrides = req.GetClientOverrides() }},
	})
}

func agentModel(m *parlancev1.AgentModel) agents.Model {
	return agents.Model{
		Provider: m.GetProvider(), Name: m.GetName(), Temperature: temperatureOf(m), MaxOutputTokens: int(m.GetMaxOutputTokens()),
		HistoryTokens: int(m.GetHistoryTokens()),
		Fallbacks: each(m.GetFallbacks(), func(f *parlancev1.ModelRef) agents.ModelRef {
			return agents.ModelRef{Provider: f.GetProvider(), Name: f.GetName()}
		}),
	}
}

func temperatureOf(m *parlancev1.AgentModel) *float64 {
	if m == nil {
		return nil
	}
	return m.Temperature
}

func agentVoice(v *parlancev1.AgentVoice) agents.Voice {
	return agents.Voice{
		STT: jsonOf(v.GetStt()), TTS: jsonOf(v.GetTts()), VAD: jsonOf(v.GetVad()), TurnDetection: jsonOf(v.GetTurnDetection()),
		InputAudioFormat: v.GetInputAudioFormat(), OutputAudioFormat: v.GetOutputAudioFormat(),
		Recording: agents.Recording{Enabled: v.GetRecording().GetEnabled(), Notice: v.GetRecording().GetNotice()},
		Waiting:   agentWaiting(v.GetWaiting()),
	}
}

func agentWaiting(w *parlancev1.AgentWaiting) agents.Waiting {
	waiting := agents.Waiting{
		Fillers: w.GetFillers(), ReengageAfterMS: int(w.GetReengageAfterMs()), ReengageMessage: w.GetReengageMessage(),
		GoodbyeMessage: w.GetGoodbyeMessage(), ProtectFirstMessage: w.GetProtectFirstMessage(),
	}
	if w != nil && w.FillerAfterMs != nil {
		waiting.FillerAfterMS = new(int(*w.FillerAfterMs))
	}
	return waiting
}

func agentWaitingProto(w agents.Waiting) *parlancev1.AgentWaiting {
	waiting := &parlancev1.AgentWaiting{
		Fillers: w.Fillers, ReengageAfterMs: int32Of(w.ReengageAfterMS), ReengageMessage: w.ReengageMessage,
		GoodbyeMessage: w.GoodbyeMessage, ProtectFirstMessage: w.ProtectFirstMessage,
	}
	if w.FillerAfterMS != nil {
		waiting.FillerAfterMs = new(int32Of(*w.FillerAfterMS))
	}
	return waiting
}

func agentRetrieval(r *parlancev1.AgentRetrieval) agents.Retrieval {
	retrieval := agents.Retrieval{TopK: int(r.GetTopK()), Ranking: r.GetRanking(), Rerank: r.GetRerank(), Tags: tagFilter(r.GetTags())}
	if r != nil {
		retrieval.MinSimilarity = r.MinSimilarity
	}
	return retrieval
}

func tagFilter(f *parlancev1.TagFilter) agents.TagFilter {
	return agents.TagFilter{AllOf: f.GetAllOf(), AnyOf: f.GetAnyOf(), NoneOf: f.GetNoneOf()}
}

// tagFilterProto is nil for a filter that lets everything through.
func tagFilterProto(f agents.TagFilter) *parlancev1.TagFilter {
	if f.IsEmpty() {
		return nil
	}
	return &parlancev1.TagFilter{AllOf: f.AllOf, AnyOf: f.AnyOf, NoneOf: f.NoneOf}
}

func agentGuard(g *parlancev1.AgentGuard) agents.Guard {
	return agents.Guard{
		Name: g.GetName(), Phrases: g.GetPhrases(), Patterns: g.GetPatterns(), Examples: g.GetExamples(),
		Action: g.GetAction(), Reply: g.GetReply(), MinSimilarity: g.GetMinSimilarity(), Judge: guardJudge(g.GetJudge()),
	}
}

func guardJudge(j *parlancev1.GuardJudge) *agents.GuardJudge {
	if j == nil {
		return nil
	}
	return &agents.GuardJudge{
		Instructions: j.GetInstructions(), OnFailure: j.GetOnFailure(),
		Model: agents.ModelRef{Provider: j.GetModel().GetProvider(), Name: j.GetModel().GetName()},
	}
}

func guardJudgeProto(j *agents.GuardJudge) *parlancev1.GuardJudge {
	if j == nil {
		return nil
	}
	proto := &parlancev1.GuardJudge{Instructions: j.Instructions, OnFailure: cmp.Or(j.OnFailure, agents.JudgeBlock)}
	if j.Model != (agents.ModelRef{}) {
		proto.Model = &parlancev1.ModelRef{Provider: j.Model.Provider, Name: j.Model.Name}
	}
	return proto
}

func fatigueWindow(f *parlancev1.FatigueWindow) agents.FatigueWindow {
	return agents.FatigueWindow{
		Window: f.GetWindow(), MaxTurns: int(f.GetMaxTurns()), MaxSessions: int(f.GetMaxSessions()), MaxMinutes: int(f.GetMaxMinutes()),
		Action: f.GetAction(), Message: f.GetMessage(),
	}
}

func agentBudget(b *parlancev1.AgentBudget) agents.Budget {
	return agents.Budget{
		Per: b.GetPer(), MaxTokens: int64(b.GetMaxTokens()), MaxCost: b.GetMaxCost(),
		DegradeModel:   agents.ModelRef{Provider: b.GetDegradeModel().GetProvider(), Name: b.GetDegradeModel().GetName()},
		DegradePercent: int(b.GetDegradePercent()), Message: b.GetMessage(),
	}
}

func agentBudgetProto(b agents.Budget) *parlancev1.AgentBudget {
	proto := &parlancev1.AgentBudget{
		Per: b.Per, MaxTokens: float64(b.MaxTokens), MaxCost: b.MaxCost, DegradePercent: int32(b.DegradePercent), Message: b.Message,
	}
	if b.DegradeModel != (agents.ModelRef{}) {
		proto.DegradeModel = &parlancev1.ModelRef{Provider: b.DegradeModel.Provider, Name: b.DegradeModel.Name}
	}
	return proto
}

func agentProto(a agents.Agent) *parlancev1.Agent {
	c := a.Config
	return &parlancev1.Agent{
		Id: string(a.ID), WorkspaceId: string(a.WorkspaceID), Name: a.Name, Instructions: c.Instructions,
		FirstMessage: c.FirstMessage, Language: c.Language, Model: agentModelProto(c.Model), Voice: agentVoiceProto(c.Voice),
		Retrieval: &parlancev1.AgentRetrieval{
			TopK: int32(c.Retrieval.TopK), MinSimilarity: c.Retrieval.MinSimilarity, Ranking: c.Retrieval.Ranking, Rerank: c.Retrieval.Rerank,
			Tags: tagFilterProto(c.Retrieval.Tags),
		},
		ToolsConfig: toolsConfigProto(c.DisabledTools, c),
		Guards:      each(c.Guards, agentGuardProto), Fatigue: each(c.Fatigue, fatigueWindowProto),
		Budgets:            each(c.Budgets, agentBudgetProto),
		Memory:             agentMemoryProto(c.Memory),
		MaxDurationSeconds: int32(c.MaxDurationSeconds), IdleTimeoutSeconds: int32(c.IdleTimeoutSeconds),
		LockedOverrides: c.LockedOverrides, ClientOverrides: c.ClientOverrides, Analysis: agentAnalysisProto(c.Analysis),
		Version: int32(a.Version), InjectionPolicy: c.Policy(), Privacy: agentPrivacyProto(c.Privacy),
		Callbacks: agentCallbacksProto(c.Callbacks), Handover: agentHandoverProto(c.Handover), Widget: agentWidgetProto(c.Widget),
		CreatedAt: timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt),
	}
}

// agentMemory is on when the request does not mention it: the memory-managed tools belong to every
// agent, but for one that keeps nothing.
func agentMemory(m *parlancev1.AgentMemory, privacy *parlancev1.PrivacySettings) agents.Memory {
	if m == nil {
		return agents.Memory{Enabled: !privacy.GetZeroRetention()}
	}
	return agents.Memory{
		Enabled: m.GetEnabled(), ConfirmCategories: m.GetConfirmCategories(), MaxTokens: int(m.GetMaxTokens()),
		SkipExtraction: m.GetSkipExtraction(),
	}
}

func agentMemoryProto(m agents.Memory) *parlancev1.AgentMemory {
	return &parlancev1.AgentMemory{
		Enabled: m.Enabled, ConfirmCategories: m.ConfirmCategories, MaxTokens: int32(m.MaxTokens), SkipExtraction: m.SkipExtraction,
	}
}

func agentPrivacy(p *parlancev1.PrivacySettings) agents.Privacy {
	return agents.Privacy{Redact: p.GetRedact(), ZeroRetention: p.GetZeroRetention(), Retention: retention(p.GetRetention())}
}

func agentPrivacyProto(p agents.Privacy) *parlancev1.PrivacySettings {
	return &parlancev1.PrivacySettings{Redact: p.Redact, ZeroRetention: p.ZeroRetention, Retention: retentionProto(p.Retention)}
}

func agentModelProto(m agents.Model) *parlancev1.AgentModel {
	return &parlancev1.AgentModel{
		Provider: m.Provider, Name: m.Name, Temperature: m.Temperature, MaxOutputTokens: int32(m.MaxOutputTokens),
		HistoryTokens: int32(m.HistoryTokens),
		Fallbacks: each(m.Fallbacks, func(f agents.ModelRef) *parlancev1.ModelRef {
			return &parlancev1.ModelRef{Provider: f.Provider, Name: f.Name}
		}),
	}
}

func agentVoiceProto(v agents.Voice) *parlancev1.AgentVoice {
	return &parlancev1.AgentVoice{
		Stt: structOf(v.STT), Tts: structOf(v.TTS), Vad: structOf(v.VAD), TurnDetection: structOf(v.TurnDetection),
		InputAudioFormat: v.InputAudioFormat, OutputAudioFormat: v.OutputAudioFormat,
		Recording: &parlancev1.AgentRecording{Enabled: v.Recording.Enabled, Notice: v.Recording.Notice},
		Waiting:   agentWaitingProto(v.Waiting),
	}
}

func agentGuardProto(g agents.Guard) *parlancev1.AgentGuard {
	return &parlancev1.AgentGuard{
		Name: g.Name, Phrases: g.Phrases, Patterns: g.Patterns, Examples: g.Examples, Action: g.Action, Reply: g.Reply,
		MinSimilarity: g.MinSimilarity, Judge: guardJudgeProto(g.Judge),
	}
}

func fatigueWindowProto(f agents.FatigueWindow) *parlancev1.FatigueWindow {
	return &parlancev1.FatigueWindow{
		Window: f.Window, MaxTurns: int32(f.MaxTurns), MaxSessions: int32(f.MaxSessions), MaxMinutes: int32(f.MaxMinutes),
		Action: f.Action, Message: f.Message,
	}
}

func agentVersionProto(v agents.Version) *parlancev1.AgentVersion {
	return &parlancev1.AgentVersion{
		AgentId: string(v.AgentID), Version: int32(v.Version), CreatedAt: timestamp(v.CreatedAt),
		Agent: agentProto(agents.Agent{
			ID: v.AgentID, TenantID: v.TenantID, WorkspaceID: v.WorkspaceID, Name: v.Name, Version: v.Version,
			Config: v.Config, CreatedAt: v.CreatedAt, UpdatedAt: v.CreatedAt,
		}),
	}
}

func versionChangeProto(c agents.Change) *parlancev1.VersionChange {
	// What encoding/json decoded, NewValue can say.
	from, _ := structpb.NewValue(c.From)
	to, _ := structpb.NewValue(c.To)
	return &parlancev1.VersionChange{Path: c.Path, From: from, To: to}
}
