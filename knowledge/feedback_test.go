package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"parlance.dev/parlance/knowledge"
)

// TestFeedback: what the best passages talk about counts, once there are passages enough to tell
// apart. "kin" shares no word with the question, and all with the passages that answer it.
func TestFeedback(t *testing.T) {
	t.Parallel()
	f := setUp(t, "large", nil)
	agent := f.agent(f.ref)
	add := func(name, content string) {
		f.attach(f.ref, agent, knowledge.UsageAuto, f.ready(f.ref, name, content))
	}
	for i := range 5 {
		add(fmt.Sprint("answer ", i), fmt.Sprintf("The turbine hums while rotor blades and bearings vibrate, report %d.", i))
	}
	add("kin", "Rotor blades and bearings vibrate.")
	others := strings.Fields("apple bridge candle desert engine forest garden harbour island jacket kitchen ladder market needle orchard")
	for i := range 40 {
		add(fmt.Sprint("other ", i), fmt.Sprintf("A %s stands beside the %s number %d.", others[i%len(others)],
			others[(i*7+1)%len(others)], i))
	}
	place := func() int {
		found := f.ask(agent, knowledge.QueryParams{Question: "turbine", TopK: 50, Ranking: knowledge.RankHybrid})
		return 1 + slices.IndexFunc(found, func(f knowledge.Found) bool { return f.SourceName == "kin" })
	}
	if at := place(); at == 6 {
		t.Error("46 passages, and feedback put kin behind the answers")
	}
	for i := range 10 {
		add(fmt.Sprint("more ", i), fmt.Sprintf("Nothing of note on page %d of the ledger.", i))
	}
	if at := place(); at != 6 {
		t.Errorf("kin stands at %d; want 6, behind the answers", at)
	}
}
