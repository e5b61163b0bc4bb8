package model_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/model"
)

// TestRequestHash checks that a prompt is hashed as docs/receipts.md says.
func TestRequestHash(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one", strings.Repeat("two", 1<<17), "", "three"} {
		req := model.Request{System: text, Model: "m", MaxOutputTokens: 5, Messages: []model.Message{{Role: model.RoleUser, Text: text + "?"}}}
		whole := ""
		for _, part := range [][2]string{{"system", text}, {"user", text + "?"}, {"model", "m"}, {"max_output_tokens", "5"}} {
			whole += fmt.Sprintf("%s %d\n%s\n", part[0], len(part[1]), part[1])
		}
		sum := sha256.Sum256([]byte(whole))
		if got, want := req.Hash(), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%.10q: got %s, want %s", text, got, want)
		}
	}
}
