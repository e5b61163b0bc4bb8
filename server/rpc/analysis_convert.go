package rpc

import (
	"google.golang.org/protobuf/types/known/structpb"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/analysis"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func agentAnalysis(a *parlancev1.AgentAnalysis) agents.Analysis {
	return agents.Analysis{
		Enabled: a.GetEnabled(), Language: a.GetLanguage(),
		Criteria: each(a.GetCriteria(), func(c *parlancev1.AnalysisCriterion) agents.Criterion {
			return agents.Criterion{ID: c.GetId(), Name: c.GetName(), Prompt: c.GetPrompt()}
		}),
		Data: each(a.GetData(), func(f *parlancev1.AnalysisField) agents.AnalysisField {
			return agents.AnalysisField{ID: f.GetId(), Type: f.GetType(), Description: f.GetDescription(), Enum: f.GetEnum()}
		}),
	}
}

func agentAnalysisProto(a agents.Analysis) *parlancev1.AgentAnalysis {
	return &parlancev1.AgentAnalysis{
		Enabled: a.Enabled, Language: a.Language,
		Criteria: each(a.Criteria, func(c agents.Criterion) *parlancev1.AnalysisCriterion {
			return &parlancev1.AnalysisCriterion{Id: c.ID, Name: c.Name, Prompt: c.Prompt}
		}),
		Data: each(a.Data, func(f agents.AnalysisField) *parlancev1.AnalysisField {
			return &parlancev1.AnalysisField{Id: f.ID, Type: f.Type, Description: f.Description, Enum: f.Enum}
		}),
	}
}

func sessionAnalysisProto(a analysis.Analysis) *parlancev1.SessionAnalysis {
	return &parlancev1.SessionAnalysis{
		Status: string(a.Status), Summary: a.Result.Summary, Success: a.Result.Success, Error: a.Error, EndedAt: timestamp(a.EndedAt),
		Criteria: each(a.Result.Criteria, func(c analysis.CriterionResult) *parlancev1.CriterionResult {
			return &parlancev1.CriterionResult{Id: c.ID, Name: c.Name, Result: c.Result, Rationale: c.Rationale}
		}),
		Data: each(a.Result.Data, func(d analysis.DataResult) *parlancev1.DataResult {
			value := structpb.NewNullValue()
			_ = value.UnmarshalJSON(d.Value) // it was JSON when it was stored; null if it is none
			return &parlancev1.DataResult{Id: d.ID, Type: d.Type, Value: value, ValueJson: textOf(d.Value), Rationale: d.Rationale}
		}),
		Usage: &parlancev1.TurnUsage{InputTokens: int32Of(a.InputTokens), OutputTokens: int32Of(a.OutputTokens), Model: a.Model},
	}
}
