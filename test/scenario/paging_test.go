package scenario

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"parlance.dev/parlance/gen/parlance/v1/parlancev1rest"
	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/test/harness"
)

// lists are the routes whose answers come in pages, with the name of their array. What a list is
// is read off the messages, so that a new one is tested without being named.
func lists() map[*route.Route]string {
	found := map[*route.Route]string{}
	for i := range parlancev1rest.Routes {
		r := &parlancev1rest.Routes[i]
		if r.Request.ProtoReflect().Descriptor().Fields().ByName("page_token") == nil {
			continue
		}
		fields := r.Response.ProtoReflect().Descriptor().Fields()
		for j := range fields.Len() {
			if fields.Get(j).IsList() {
				found[r] = string(fields.Get(j).Name())
			}
		}
	}
	return found
}

// pathOf is the path of a list in the world.
func (w *world) pathOf(r *route.Route) string {
	path := r.Pattern
	for _, name := range variables(r.Pattern) {
		path = strings.Replace(path, "{"+name+"}", fmt.Sprint(w.values[name]), 1)
	}
	return path
}

// sizeParameter is page_size, or what the list has in its place.
func sizeParameter(r *route.Route) string {
	if r.Request.ProtoReflect().Descriptor().Fields().ByName("page_size") == nil {
		return "limit"
	}
	return "page_size"
}

// TestPageTokensCannotBeForged walks every list with tokens that it did not make for this very
// question: garbage, another list's, another tenant's, other filters', changed ones.
func TestPageTokensCannotBeForged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger := w.NewTenant(t, "")
	w.Do(t, "POST", w.owner.In("/agents"), `{"name":"second"}`).Must(t, 201)
	genuine := map[*route.Route]string{}
	for r := range lists() {
		if next := w.Do(t, r.Method, w.pathOf(r)+"?"+sizeParameter(r)+"=1", nil).Must(t, 200).Text("next_page_token"); next != "" {
			genuine[r] = next
		}
	}
	if len(genuine) < 5 {
		t.Fatalf("only %d lists have a second page", len(genuine))
	}
	inner := base64.RawURLEncoding.EncodeToString([]byte(`{"t":1,"i":"\u0000","c":"x"}`))
	for r := range lists() {
		forged := []string{
			"x", inner,
			base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("\x00", 16) + inner)), "1", long(5000), "%00", "%FF",
		}
		for other, token := range genuine {
			if other != r {
				forged = append(forged, token)
			}
		}
		if own := genuine[r]; own != "" {
			forged = append(forged, own[:len(own)-1], own+"A", flipped(own, 0), flipped(own, len(own)/2), flipped(own, len(own)-2), own+"=")
			w.Do(t, r.Method, w.pathOf(r)+"?page_token="+own, nil).Must(t, 200)
		}
		for _, token := range forged {
			checkProblem(t, w.Do(t, r.Method, w.pathOf(r)+"?page_token="+token, nil), 400, "invalid-request")
		}
	}
	agents, sessions := "/v1/workspaces/"+stranger.WorkspaceID+"/tools", "/v1/sessions"
	for r, token := range genuine {
		if r.Pattern == "/v1/workspaces/{workspace_id}/tools" {
			checkProblem(t, w.Do(t, "GET", agents+"?page_token="+token, nil, harness.Key(stranger.Admin)), 400, "invalid-request")
			got := w.Do(t, "GET", w.pathOf(r)+"?include_hidden=true&page_token="+token, nil)
			checkProblem(t, got, 400, "invalid-request")
			if !slices.Equal(got.Problem.Fields(), []string{"page_token"}) {
				t.Errorf("fields %v", got.Problem.Fields())
			}
		}
		if r.Pattern == sessions {
			checkProblem(t, w.Do(t, "GET", sessions+"?status=failed&page_token="+token, nil), 400, "invalid-request")
		}
	}
}

// flipped is the token with another letter at i.
func flipped(token string, i int) string {
	other := "A"
	if token[i] == 'A' {
		other = "B"
	}
	return token[:i] + other + token[i+1:]
}

// TestForgedPageTokenOverEveryProtocol calls every list procedure in Connect's JSON.
func TestForgedPageTokenOverEveryProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, method := range methods() {
		if method.Input().Fields().ByName("page_token") == nil {
			continue
		}
		request := w.request(method)
		maps.DeleteFunc(request, func(name string, _ any) bool { return name == "after" })
		request["page_token"] = "forged"
		got := w.Do(t, http.MethodPost, "/"+string(method.Parent().FullName())+"/"+string(method.Name()), request)
		if got.Status != 400 || got.Text("code") != connect.CodeInvalidArgument.String() || !strings.Contains(string(got.Body), "page_token") {
			t.Errorf("%s: %d %s", method.Name(), got.Status, got.Body)
		}
	}
}

// TestPagesOfEveryList: sizes at and over their bounds, and empty lists as [].
func TestPagesOfEveryList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.Do(t, "POST", "/v1/workspaces", `{"name":"bare"}`).Must(t, 201).Text("id")
	empty := w.with(map[string]any{"workspace_id": bare})
	for r, array := range lists() {
		path, size := w.pathOf(r), sizeParameter(r)
		for _, value := range []string{"-1", "201", "2147483648", "1.5", ""} {
			got := w.Do(t, r.Method, path+"?"+size+"="+value, nil)
			checkProblem(t, got, 400, "invalid-request")
			if !slices.Equal(got.Problem.Fields(), []string{size}) {
				t.Errorf("%s %s=%s: fields %v", r.Pattern, size, value, got.Problem.Fields())
			}
		}
		if size == "page_size" {
			w.Do(t, r.Method, path+"?page_size=0", nil).Must(t, 200)
		}
		w.Do(t, r.Method, path+"?"+size+"=200", nil).Must(t, 200)
		w.Do(t, r.Method, path+"?page_token=", nil).Must(t, 200) // what clients send for the first page
		got := w.Do(t, r.Method, empty.pathOf(r), nil)
		if got.Status == 200 && got.List(array) == nil {
			t.Errorf("%s: an empty list is no []: %s", r.Pattern, got.Body)
		}
	}
}

// TestPagesUnderInserts: rows that are added while a list is read neither repeat nor hide those
// that were there.
func TestPagesUnderInserts(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	create := func(i int) string {
		return env.Do(t, "POST", env.Tenant.In("/agents"), fmt.Sprintf(`{"name":"a%d"}`, i)).Must(t, 201).Text("id")
	}
	var want, got []string
	for i := range 7 {
		want = append(want, create(i))
	}
	token := ""
	for i := 0; i == 0 || token != "" && i < 20; i++ {
		page := env.Do(t, "GET", env.Tenant.In("/agents?page_size=2&page_token="+token), nil).Must(t, 200)
		for j := range page.List("agents") {
			got = append(got, page.Text("agents", j, "id"))
		}
		token = page.Text("next_page_token")
		create(100 + i)
	}
	seen := map[string]int{}
	for _, id := range got {
		seen[id]++
	}
	for _, id := range want {
		if seen[id] != 1 {
			t.Errorf("%s was listed %d times", id, seen[id])
		}
	}
}

// TestFeedPagesGoOn: a page token of the feed is read on from, also beside the after that the
// reading began with.
func TestFeedPagesGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	feed := w.owner.In("/events")
	first := w.Do(t, "GET", feed+"?page_size=1", nil).Must(t, 200)
	second := w.Do(t, "GET", feed+"?page_size=1&page_token="+first.Text("next_page_token"), nil).Must(t, 200)
	if a, b := first.Text("events", 0, "event_id"), second.Text("events", 0, "event_id"); a == "" || b == "" || a == b {
		t.Errorf("first %q, then %q", a, b)
	}
	from := feed + "?page_size=1&after=0"
	began := w.Do(t, "GET", from, nil).Must(t, 200)
	next := w.Do(t, "GET", from+"&page_token="+began.Text("next_page_token"), nil).Must(t, 200)
	if a, b := began.Text("events", 0, "event_id"), next.Text("events", 0, "event_id"); a == "" || b == "" || a == b {
		t.Errorf("after=0: first %q, then %q", a, b)
	}
}
