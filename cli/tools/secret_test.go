package tools

import "testing"

func TestSecretFromEnvironment(t *testing.T) {
	t.Setenv("PARLANCE_TEST_SHOP_TOKEN", " tok \n")
	got, err := readSecret(t.Context(), "env:PARLANCE_TEST_SHOP_TOKEN", "", nil)
	if got != "tok" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
