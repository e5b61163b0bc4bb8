package speechtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/speech"
)

const (
	// waitShort is for what never comes, waitLong for what comes on any machine.
	waitShort = 30 * time.Millisecond
	waitLong  = time.Minute
	// wrongKey is refused by every fake, which repeats it.
	wrongKey = "sk-wrong-9876543210"
)

// patient are time-outs that nothing in the suite reaches.
var patient = speech.Timeouts{Connect: waitLong, Transcript: waitLong, FirstAudio: waitLong, BetweenAudio: waitLong}

// Tone is a second of speech at a rate: a saw, whose samples all differ from their neighbours.
func Tone(samples int) []int16 {
	tone := make([]int16, samples)
	for i := range tone {
		tone[i] = int16(i*257 - 20000)
	}
	return tone
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-got +want):\n%s", what, diff)
	}
}

// hungUp checks that err is the end of the caller's context, and not a fault of the service.
func hungUp(t *testing.T, err error) {
	t.Helper()
	if _, isFault := errors.AsType[*fault.Error](err); isFault || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// failed checks that err is a fault with words in its message, and that it says no key.
func failed(t *testing.T, err error, reason fault.Reason, words string) *fault.Error {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Reason != reason || !strings.Contains(f.Message, words) {
		t.Fatalf("error %v, want %s with %q", err, reason, words)
	}
	for _, key := range []string{Key, wrongKey} {
		if strings.Contains(err.Error(), key) {
			t.Errorf("the error says the key: %v", err)
		}
	}
	return f
}

// badEnds are the ends of an answer that are an error.
var badEnds = map[string]End{
	"error": EndError, "cut": EndCut, "garbage": EndGarbage, "endless": EndEndless, "closed": EndClosed,
}

// saysKey is a body that repeats the key, where codes are looked for too.
const saysKey = `{"error":{"code":"` + Key + `","type":"` + Key + `"},"err_code":"` + Key + `","detail":{"status":"` + Key + `"}}`

// refusalRows are the refusals of both suites.
var refusalRows = []struct {
	name    string
	refusal Refusal
	reason  fault.Reason
	words   string
	after   time.Duration
}{
	{"forbidden", Refusal{Status: 403, Body: saysKey}, fault.UpstreamFailed, "(status 403) refused the API key", 0},
	{"no credit", Refusal{Status: 402}, fault.UpstreamFailed, "(status 402) has no credit left", 0},
	{"no such model", Refusal{Status: 404}, fault.UpstreamFailed, "(status 404) has no such model or voice", 0},
	{"bad request", Refusal{Status: 400}, fault.UpstreamFailed, "(status 400) did not accept the request", 0},
	{"rate limited", Refusal{Status: 429, RetryAfter: "17"}, fault.ServiceUnavailable, "(status 429) is limiting our rate", 17 * time.Second},
	{"overloaded", Refusal{Status: 503, RetryAfter: "17"}, fault.ServiceUnavailable, "(status 503) is overloaded", 17 * time.Second},
	{"server error", Refusal{Status: 500}, fault.UpstreamFailed, "(status 500) could not answer", 0},
	{"no JSON", Refusal{Status: 502, Body: "<html>Bad Gateway</html>"}, fault.UpstreamFailed, "(status 502)", 0},
}
