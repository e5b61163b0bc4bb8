package workspaces_test

import (
	"strings"
	"testing"

	"parlance.dev/parlance/workspaces"
)

// TestPrices: a price buys one plan, and a plan can have several prices.
func TestPrices(t *testing.T) {
	t.Parallel()
	parse := func(first, second string) (workspaces.Plans, error) {
		return workspaces.ParsePlans([]byte(`{"a": {"kb_storage_bytes": 1, "kb_upload_bytes": 1, "stripe_price_ids": ` + first + `},
			"b": {"kb_storage_bytes": 1, "kb_upload_bytes": 1, "stripe_price_ids": ` + second + `}}`))
	}
	plans, err := parse(`["price_1", "price_2"]`, `["price_3"]`)
	if err != nil {
		t.Fatal(err)
	}
	for price, want := range map[string]string{"price_1": "a", "price_2": "a", "price_3": "b", "price_4": "", "": ""} {
		if got := plans.WithPrice(price); got != want {
			t.Errorf("%q buys %q, want %q", price, got, want)
		}
	}
	for _, prices := range [][2]string{{`["price_1"]`, `["price_1"]`}, {`["price_1", "price_1"]`, `[]`}, {`[""]`, `null`}} {
		if _, err := parse(prices[0], prices[1]); err == nil || !strings.Contains(err.Error(), "stripe_price_ids") {
			t.Errorf("%v: %v", prices, err)
		}
	}
}
