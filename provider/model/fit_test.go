package model_test

import (
	"testing"

	"parlance.dev/parlance/provider/model"
)

// TestFitCostsNothing: what is fit already is handed on as it is.
func TestFitCostsNothing(t *testing.T) { // not in parallel: it counts allocations
	tool := model.Tool{Name: "look", InputSchema: []byte(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`)}
	allocations := testing.AllocsPerRun(100, func() {
		_, _, _ = tool.WireSchema(), model.WireName(tool.Name), model.WireID("call_01jzz5v9k2m3n4p5q6r7s8t9w0")
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func BenchmarkWireSchema(b *testing.B) {
	tool := model.Tool{
		InputSchema: []byte(
			`{"type":"object","properties":{"place":{"type":"string","maxLength":80},"day":{"type":"string",` +
				`"description":"The day of which the weather is wanted, as 2026-08-04."}},` +
				`"required":["place"],"additionalProperties":false}`,
		),
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = tool.WireSchema()
	}
}
