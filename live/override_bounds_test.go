package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"parlance.dev/parlance/agents"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
	"parlance.dev/parlance/sessions"
)

// TestOverridesHaveTheAgentsBounds: a session's overrides may have the values that an agent may
// have, and no others.
func TestOverridesHaveTheAgentsBounds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	fallbacks := func(n int) string {
		return `{"fallbacks":[` + strings.TrimSuffix(strings.Repeat(`{"provider":"extractive","name":"m"},`, n), ",") + `]}`
	}
	named := func(chars int) string { return `"` + strings.Repeat("ü", chars) + `"` }
	rows := map[string][]string{
		"model": {
			`{"max_output_tokens":200000}`, `{"max_output_tokens":200001}`, `{"max_output_tokens":-1}`, `{"max_output_tokens":1000000000}`,
			`{"name":` + named(200) + `}`, `{"name":` + named(201) + `}`, fallbacks(5), fallbacks(6), fallbacks(50),
			`{"fallbacks":[{"name":` + named(200) + `}]}`, `{"fallbacks":[{"name":` + named(201) + `}]}`,
			`{"temperature":2}`, `{"temperature":2.1}`, `{"temperature":-0.1}`, `{"history_tokens":499}`,
			`{"history_tokens":500}`, `{"history_tokens":200001}`,
		},
		"retrieval": {
			`{"top_k":50}`, `{"top_k":51}`, `{"top_k":-1}`, `{"min_similarity":1}`, `{"min_similarity":1.1}`, `{"min_similarity":-0.1}`,
			`{"ranking":"hybrid"}`, `{"ranking":"best"}`, `{"rerank":true}`,
		},
		"voice": {`{"input_audio_format":"g711_alaw"}`, `{"input_audio_format":"mp3"}`},
	}
	of := map[string]proto.Message{
		"model": &parlancev1.AgentModel{}, "retrieval": &parlancev1.AgentRetrieval{},
		"voice": &parlancev1.AgentVoice{},
	}
	for key, values := range rows {
		for _, value := range values {
			agent := proto.Clone(of[key])
			if err := protojson.Unmarshal([]byte(value), agent); err != nil {
				t.Fatal(err)
			}
			allowed := protovalidate.Validate(agent) == nil
			_, err := f.Create(t.Context(), f.principal, sessions.CreateParams{
				AgentID: f.agent.ID, UserID: "u", Overrides: map[string]json.RawMessage{key: json.RawMessage(value)},
			})
			if err != nil && !fault.IsReason(err, fault.InvalidRequest) {
				t.Fatalf("%s %.60s: %v", key, value, err)
			}
			if (err == nil) != allowed {
				t.Errorf("%s %.60s: an agent may have it: %t; the session: %v", key, value, allowed, err)
			}
		}
	}
	for chars, ok := range map[int]bool{200: true, 201: false} {
		_, err := f.Create(t.Context(), f.principal, sessions.CreateParams{
			AgentID: f.agent.ID, UserID: "u", Overrides: map[string]json.RawMessage{"model": json.RawMessage(named(chars))},
		})
		if (err == nil) != ok {
			t.Errorf("a name of %d characters: %v", chars, err)
		}
	}
}

// TestFallbacksAreReplaced: a session's fallbacks replace the agent's completely.
func TestFallbacksAreReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	own := []agents.ModelRef{{Provider: "anthropic", Name: "a"}, {Provider: "openai", Name: "b"}}
	f.agent = f.newAgent(t, f.ref, agents.Config{Model: agents.Model{Fallbacks: own}})
	for override, want := range map[string][]agents.ModelRef{
		`{"fallbacks":[{"name":"x"}]}`: {{Name: "x"}},
		`{"fallbacks":[]}`:             {},
		`{"name":"m"}`:                 own,
	} {
		made := f.create(t, func(p *sessions.CreateParams) {
			p.Overrides = map[string]json.RawMessage{"model": json.RawMessage(override)}
		})
		if diff := cmp.Diff(want, f.get(t, made.Session.ID).Config.Model.Fallbacks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", override, diff)
		}
	}
	again, err := f.agents.FindFresh(t.Context(), f.principal, f.agent.ID)
	if diff := cmp.Diff(own, again.Config.Model.Fallbacks); err != nil || diff != "" {
		t.Errorf("the agent's own, %v (-want +got):\n%s", err, diff)
	}
}
