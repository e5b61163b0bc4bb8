package sessions

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "", "A é.pdf": "A é.pdf", "a\u2028b\u2029": "a b ", "a\xff\u2029": "a� "} {
		if got := cleanName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// BenchmarkReceipt makes the receipt of a turn with eight passages.
func BenchmarkReceipt(b *testing.B) {
	made := &ReceiptBuilder{calls: []ReceiptModelCall{{Model: "m", Provider: "openai"}}, stages: []ReceiptStage{{Stage: stageModel}}}
	turn := Turn{ID: "turn_1", AgentText: "Yes.", Messages: []Message{{Role: RoleUser, Text: "Is it?"}, {Role: RoleAssistant, Text: "Yes."}}}
	for range 8 {
		turn.Citations = append(turn.Citations, Citation{SourceID: "src_1", SourceName: "A handbook.pdf", ChunkID: "chk_1", Similarity: 0.73125})
		made.Passages = append(made.Passages, Passage{Text: strings.Repeat("A lock is turned to the left, and then again.\n", 20)})
	}
	b.ReportAllocs()
	for b.Loop() {
		turn.SetReceipt(Session{}, made)
	}
}
