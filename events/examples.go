package events

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// examples makes a payload of each public type.
var examples = map[Type]func() proto.Message{
	PostCallTranscription: exampleTranscription,
	EscalationTriggered: func() proto.Message {
		return &EscalationTriggeredData{
			SessionId: exampleSession, AgentId: exampleAgent, UserId: "customer-42", TurnId: exampleTurn,
			Guard: "medical-advice", Side: "user", MatchedBy: "phrase", TriggeredAt: timestamppb.New(exampleTime),
		}
	},
	DSARReady: func() proto.Message {
		return &DSARReadyData{
			RequestId: "dsar_01jgk2m0q5example0reques", UserId: "customer-42", Kind: "export", SizeBytes: 48213,
			DownloadUrl: "https://parlance.example.org/v1/privacy/downloads/dsar_01jgk2m0q5example0reques?token=…",
			ExpiresAt:   timestamppb.New(exampleTime.AddDate(0, 0, 7)),
		}
	},
	FatigueAlert: func() proto.Message {
		return &FatigueAlertData{
			UserId: "customer-42", AgentId: exampleAgent, SessionId: exampleSession, Window: "30m", Measure: "turns", Value: 61, Limit: 60,
		}
	},
	UsageThreshold: func() proto.Message {
		return &UsageThresholdData{
			Meter: "sessions", Period: "2026-01-01", Value: 8003, Limit: 10000, ThresholdPercent: 80, AlertId: "alert_80",
		}
	},
	SubscriptionChanged: func() proto.Message {
		return &SubscriptionChangedData{
			SubscriptionId: "sub_1QExample", CustomerId: "cus_RExample", PreviousStatus: "trialing", Status: "active", Plan: "pro",
			CurrentPeriodEnd: timestamppb.New(exampleTime.AddDate(0, 1, 0)),
		}
	},
	InvoicePaid: func() proto.Message {
		return &InvoicePaidData{
			InvoiceId: "in_1QExample", CustomerId: "cus_RExample", SubscriptionId: "sub_1QExample", AmountPaid: 4900, Currency: "eur",
			HostedInvoiceUrl: "https://invoice.example.org/i/in_1QExample", PaidAt: timestamppb.New(exampleTime),
		}
	},
	InvoiceFailed: func() proto.Message {
		return &InvoiceFailedData{
			InvoiceId: "in_1QExample", CustomerId: "cus_RExample", SubscriptionId: "sub_1QExample", AmountDue: 4900, Currency: "eur",
			AttemptCount: 1, NextAttemptAt: timestamppb.New(exampleTime.AddDate(0, 0, 3)), FailureMessage: "Your card was declined.",
		}
	},
	KBSourceIngested: func() proto.Message {
		return &KBSourceIngestedData{
			SourceId: "src_01jgk2m0q5example0source", Name: "Returns policy", Kind: "file", MediaType: "application/pdf", Status: "ready",
			SizeBytes: 182044, PageCount: 12, ChunkCount: 48, EmbeddingModel: "parlance-lexical-2",
			DurationMs: 2140, ReadyAt: timestamppb.New(exampleTime),
		}
	},
	TurnPersistenceFailed: func() proto.Message {
		return &TurnPersistenceFailedData{
			SessionId: exampleSession, TurnId: exampleTurn, AgentId: exampleAgent, Recovered: true, FailedAt: timestamppb.New(exampleTime),
		}
	},
	WebhookDisabled: func() proto.Message {
		return &WebhookDisabledData{
			EndpointId: "we_01jgk2m0q5example0endpoi", Url: "https://example.org/hook", Reason: "failures", ConsecutiveFailures: 10,
			LastSuccessAt: timestamppb.New(exampleTime.AddDate(0, 0, -8)), DisabledAt: timestamppb.New(exampleTime),
		}
	},
}

// exampleTranscription is a short call with a tool, an analysis and something to remember.
func exampleTranscription() proto.Message {
	began := exampleTime.Add(-90 * time.Second)
	return &PostCallTranscriptionData{
		AgentId: exampleAgent, ConversationId: exampleSession, SessionId: exampleSession, Status: "done",
		UserId: "customer-42", AgentVersion: 3, Modality: "text",
		Transcript: []*parlancev1.TranscriptEntry{
			{
				Role: "user", Message: "Where is my order A-1001?", TurnId: exampleTurn, TimeInCallSecs: 4, Feedback: "like",
				ToolCalls: []*parlancev1.TranscriptToolCall{{
					RequestId: "call_1", ToolName: "order_status", ParamsAsJson: `{"order_id":"A-1001"}`, ToolHasBeenCalled: true,
				}},
				ToolResults: []*parlancev1.TranscriptToolResult{{
					RequestId: "call_1", ToolName: "order_status", ResultValue: `{"status":"shipped"}`, ToolLatencyMs: 84,
				}},
				ConversationTurnMetrics: map[string]*parlancev1.ElapsedTime{"convai_llm_service_ttfb": {ElapsedTime: 0.41}},
			},
			{Role: "agent", Message: "It was shipped today.", TurnId: exampleTurn, TimeInCallSecs: 6},
		},
		Metadata: &parlancev1.CallMetadata{
			StartTimeUnixSecs: float64(began.Unix()), CallDurationSecs: 90, TerminationReason: "user_hangup", MainLanguage: "en", TextOnly: true,
			TurnCount: 1, InputTokens: 812, OutputTokens: 36,
			Feedback: &parlancev1.CallFeedback{OverallScore: proto.String("like"), Likes: 1, Dislikes: 0},
		},
		Analysis: &parlancev1.CallAnalysis{
			CallSuccessful: "success", TranscriptSummary: "The customer asked where an order is and was told that it was shipped.", Status: "done",
			EvaluationCriteriaResults: object("answered", map[string]any{
				"criteria_id": "answered", "result": "success", "rationale": "The status was given.",
			}),
			DataCollectionResults: object("order_id", map[string]any{
				"data_collection_id": "order_id", "value": "A-1001", "rationale": "The customer named it.",
			}),
		},
		ConversationInitiationClientData: &parlancev1.ConversationInitiation{
			ConversationConfigOverride: object("agent", map[string]any{"language": "en"}), DynamicVariables: map[string]string{"plan": "gold"},
		},
		Memory: &parlancev1.CallMemory{
			Extraction: "done", Forgotten: []string{"mem_01jgk2m0q5example0forgot"},
			Learnt: []*parlancev1.LearntMemory{{
				Id: "mem_01jgk2m0q5example0memory", Kind: "note", Text: "Has an open order, A-1001.", Category: "orders",
				Status: "active", CreatedBy: "model", TurnId: exampleTurn,
			}},
		},
	}
}

// object is a Struct of one member.
func object(name string, value map[string]any) *structpb.Struct {
	made, err := structpb.NewStruct(map[string]any{name: value})
	if err != nil {
		return nil // plain values always convert
	}
	return made
}
