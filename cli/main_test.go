package cli

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// runVariable makes the test binary be parlance itself, with the arguments it was given: tests
// of signals and of what is left running need a process of its own.
const runVariable = "PARLANCE_TEST_RUN_CLI"

func TestMain(m *testing.M) {
	if os.Getenv(runVariable) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Execute(ctx, IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// ran is what a command did.
type ran struct {
	code     int
	out, err string
}

// execute runs a command with this input.
func execute(t *testing.T, input string, args ...string) ran {
	t.Helper()
	var out, errs bytes.Buffer
	code := Execute(t.Context(), IO{In: strings.NewReader(input), Out: &out, Err: &errs}, args)
	return ran{code, out.String(), errs.String()}
}

// wants fails the test unless the command ended with the code and its output has the texts.
func (r ran) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", r.code, code, r.out, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("the output lacks %q:\n%s%s", text, r.out, r.err)
		}
	}
}
