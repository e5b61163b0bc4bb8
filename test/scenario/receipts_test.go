package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parlance.dev/parlance/test/child"
	"parlance.dev/parlance/test/harness"
)

// TestReceiptHash: a caller finds the receipt's hash again from the answer of the REST API, in Go
// and with the commands of docs/receipts.md.
func TestReceiptHash(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	agent := env.Do(t, "POST", env.Tenant.In("/agents"), `{"name":"Ada","first_message":"Hello!"}`).Must(t, 201).Text("id")
	session := env.Do(t, "POST", "/v1/sessions", `{"agent_id":"`+agent+`","user_id":"u","modality":"text"}`).Must(t, 201).Text("id")
	turn := env.Do(t, "POST", "/v1/sessions/"+session+"/turns", `{"text":"/tool skip_turn {}"}`).Must(t, 200).Text("turn_id")
	answer := env.Do(t, "GET", "/v1/sessions/"+session+"/turns/"+turn+"/receipt", nil).Must(t, 200)
	if answer.Text("tool_calls", 0, "status") != "succeeded" || answer.Text("model_calls", 0,
		"provider") != "extractive" || answer.Text("begun_by") != "user" {
		t.Errorf("receipt %s", answer.Body)
	}
	var receipt map[string]any
	if err := json.Unmarshal(answer.Body, &receipt); err != nil {
		t.Fatal(err)
	}
	hash, _ := receipt["hash"].(string)
	delete(receipt, "hash")
	canonical, err := json.Marshal(receipt) // sorts keys; nothing here is escaped for HTML
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(canonical)
	if got := hex.EncodeToString(sum[:]); got != hash {
		t.Errorf("hash %s, want %s of %s", hash, got, canonical)
	}
	transcript := env.Do(t, "GET", "/v1/sessions/"+session+"/transcript", nil).Must(t, 200)
	if got := transcript.Text("turns", 1, "receipt_hash"); got != hash {
		t.Errorf("the transcript says %q", got)
	}
	if len(transcript.Text("turns", 0, "receipt_hash")) != 64 {
		t.Error("the greeting has no receipt")
	}
	file := filepath.Join(t.TempDir(), "receipt.json")
	changed := filepath.Join(t.TempDir(), "changed.json")
	for name, content := range map[string][]byte{file: answer.Body, changed: bytes.Replace(answer.Body,
		[]byte(`"extractive"`), []byte(`"gpt"`), 1)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("../../docs/receipts.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for paragraph := range strings.SplitSeq(string(page), "\n\n") {
		command := strings.ReplaceAll(strings.TrimPrefix(paragraph, "    "), "\n    ", "\n")
		program, _, _ := strings.Cut(command, " ")
		if program != "python3" && program != "node" {
			continue
		}
		if _, err := exec.LookPath(program); err != nil {
			continue // the other one, and Go, show the same
		}
		ran++
		for from, want := range map[string]string{file: "true", changed: "false"} {
			var said bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command, "receipt.json", from))
			cmd.Stdout, cmd.Stderr = &said, &said
			ended, err := child.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			<-ended
			if got := strings.ToLower(strings.TrimSpace(said.String())); got != want {
				t.Errorf("%s says %q (%v), want %s", program, said.String(), cmd.ProcessState, want)
			}
		}
	}
	if ran == 0 {
		t.Log("neither python3 nor node is here")
	}
}
