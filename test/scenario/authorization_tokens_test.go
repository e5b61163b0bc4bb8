package scenario

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"parlance.dev/parlance/test/harness"
)

// foreignTokens uses a page token or cursor of the victim's list or feed for another tenant's.
func (m *matrix) foreignTokens(t *testing.T) {
	lists := 0
	for _, method := range m.methods {
		in, out := method.Input().Fields(), method.Output().Fields()
		if in.ByName("after") != nil {
			for _, p := range rpcs() {
				got, _ := m.call(t, p, method, m.stranger.message(t, method, map[string]any{"after": m.victim.values["after"]}), m.stranger.owner.Admin)
				if got.Reason != "invalid-request" {
					t.Errorf("%s, %s with another tenant's cursor: %d %s", method.Name(), p.name, got.Status, got.Body)
				}
				m.showsNothing(t, p.name+", another tenant's cursor", got, nil)
			}
		}
		if in.ByName("page_token") == nil || out.ByName("next_page_token") == nil {
			continue
		}
		change := map[string]any{"page_size": 1}
		if in.ByName("page_size") == nil {
			change = map[string]any{"limit": 1}
		}
		if in.ByName("after") != nil {
			change["after"] = "" // from the beginning
		}
		page, _ := m.call(t, rpcs()[1], method, m.victim.message(t, method, change), m.victim.owner.Admin)
		change["page_token"] = (harness.Response{Body: page.Body}).Text("nextPageToken")
		if change["page_token"] == "" {
			continue
		}
		lists++
		for _, p := range rpcs() {
			for who, w := range map[string]*world{"another tenant": m.stranger, "another workspace": m.apart} {
				got, ok := m.call(t, p, method, w.message(t, method, change), w.owner.Admin)
				narrowed := in.ByName("workspace_id") != nil && !slices.Contains([]protoreflect.Name{"ListSessions", "ListAuditEntries"}, method.Name())
				if ok && (w == m.stranger || narrowed) && got.Reason != "invalid-request" {
					t.Errorf("%s, %s, %s with the page token: got %d %s", method.Name(), p.name, who, got.Status, got.Body)
				}
				if w == m.stranger {
					m.showsNothing(t, p.name+", another tenant's page token", got, nil)
				}
			}
		}
	}
	if lists < 7 {
		t.Errorf("only %d lists have a second page", lists)
	}
}
