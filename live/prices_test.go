package live_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/sessions"
	"parlance.dev/parlance/test/rooms"
	"parlance.dev/parlance/usage"
)

// TestCostOfFreeModels: a price of zero is a price, also when tokens are not counted.
func TestCostOfFreeModels(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for file, want := range map[string]*sessions.ReceiptCost{
		`{"extractive":{"input_per_million":"0","output_per_million":"0"}}`:    {Amount: "0", Currency: "USD"},
		`{"extractive":{"input_per_million":"0","output_per_million":"0.01"}}`: nil,
		`{}`: nil,
	} {
		prices, err := usage.ParsePrices([]byte(`{"currency":"USD","models":` + file + `}`))
		if err != nil {
			t.Fatal(err)
		}
		node := f.start(t, rooms.Deps{Prices: prices})
		turn, err := node.Turn(t.Context(), f.principal, f.create(t).Session.ID, "Hello?", nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, f.receipt(t, turn).Cost); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
