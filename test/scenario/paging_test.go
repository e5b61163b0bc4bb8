package scenario

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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

// listed reads a list page by page, two rows each, and returns what field has in them. between is
// called after every page but the last.
func listed(t *testing.T, env *harness.Env, path, array, field string, between func()) (found []string) {
	t.Helper()
	token := ""
	for i := 0; i == 0 || token != ""; i++ {
		if i > 30 {
			t.Fatalf("%s does not end", path)
		}
		page := env.Do(t, "GET", env.Tenant.In(path)+"&page_size=2&page_token="+token, nil).Must(t, 200)
		for j := range page.List(array) {
			found = append(found, page.Text(array, j, field))
		}
		if token = page.Text("next_page_token"); token != "" && between != nil {
			between()
		}
	}
	return found
}

// TestListsInOrder reads lists in every order, and narrowed by a text.
func TestListsInOrder(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	names := []string{"bob", "Ada", "bob", "bob", "Zoë", "100%_off", "ada"}
	byName := []string{"100%_off", "Ada", "Zoë", "ada", "bob", "bob", "bob"}
	rows := []struct {
		path, array, create, body string
	}{
		{"/agents", "agents", "/agents", `{"name":%q}`},
		{"/knowledge-base/sources", "sources", "/knowledge-base/sources/inline", `{"name":%q,"content":"Text."}`},
	}
	for _, row := range rows {
		ids := map[string]string{} // id to name
		var created []string
		for _, name := range names {
			made := env.Do(t, "POST", env.Tenant.In(row.create), fmt.Sprintf(row.body, name))
			if made.Status != 201 && made.Status != 202 {
				t.Fatalf("%s: %d %s", row.create, made.Status, made.Body)
			}
			created = append(created, made.Text("id"))
			ids[made.Text("id")] = name
		}
		byID := func(a, b string) int { return cmp.Or(strings.Compare(ids[a], ids[b]), strings.Compare(a, b)) }
		sorted := slices.SortedFunc(slices.Values(created), byID)
		for orderBy, want := range map[string][]string{
			"created_at": created, "created_at desc": reversed(created), "": reversed(created),
			"updated_at": created, "updated_at desc": reversed(created),
			"name": sorted, "name desc": reversed(sorted),
		} {
			got := listed(t, env, row.path+"?order_by="+url.QueryEscape(orderBy), row.array, "id", nil)
			if !slices.Equal(got, want) {
				t.Errorf("%s by %q: %v, want %v", row.path, orderBy, got, want)
			}
		}
		if got := listed(t, env, row.path+"?order_by=name", row.array, "name", nil); !slices.Equal(got, byName) {
			t.Errorf("%s by name: %q", row.path, got)
		}
		for q, want := range map[string][]string{
			"aDA": {"Ada", "ada"}, "ZOË": {"Zoë"}, "%": {"100%_off"}, "0%_o": {"100%_off"}, "_": {"100%_off"}, `\`: nil, "": byName, "nobody": nil,
		} {
			got := listed(t, env, row.path+"?order_by=name&q="+url.QueryEscape(q), row.array, "name", nil)
			if !slices.Equal(got, want) {
				t.Errorf("%s with %q: %q, want %q", row.path, q, got, want)
			}
		}
	}
	agent := env.Do(t, "GET", env.Tenant.In("/agents?order_by=created_at"), nil).Must(t, 200).Text("agents", 0, "id")
	env.Do(t, "PATCH", env.Tenant.In("/agents/"+agent), `{"language":"de"}`).Must(t, 200)
	if got := listed(t, env, "/agents?order_by=updated_at+desc", "agents", "id", nil); len(got) != len(names) || got[0] != agent {
		t.Errorf("by the last change: %v, want %s first", got, agent)
	}
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// TestCatalogInOrder: built-in tools have no times, and stand at the beginning of an order by time.
func TestCatalogInOrder(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	var created []string
	for _, slug := range []string{"zoo", "find_order", "Zoo2", "aaa"} {
		tool := fmt.Sprintf(`{"slug":%q,"description":"Orders of 50%% Ärger","kind":"http","webhook_url":"http://127.0.0.1:1/x"}`, slug)
		env.Do(t, "POST", env.Tenant.In("/tools"), tool).Must(t, 201)
		created = append(created, slug)
	}
	builtins := func(path string) []string {
		list := listed(t, env, path, "tools", "slug", nil)
		return slices.DeleteFunc(list, func(slug string) bool { return slices.Contains(created, slug) })
	}
	for _, hidden := range []string{"", "&include_hidden=true"} {
		fixed := builtins("/tools?q=" + hidden)
		sorted := slices.Sorted(slices.Values(slices.Concat(fixed, created)))
		for orderBy, want := range map[string][]string{
			"": slices.Concat(fixed, reversed(created)), "created_at": slices.Concat(fixed, created),
			"created_at desc": slices.Concat(fixed, reversed(created)), "updated_at": slices.Concat(fixed, created),
			"updated_at desc": slices.Concat(fixed, reversed(created)), "name": sorted, "name desc": reversed(sorted),
		} {
			got := listed(t, env, "/tools?order_by="+url.QueryEscape(orderBy)+hidden, "tools", "slug", nil)
			if !slices.Equal(got, want) {
				t.Errorf("tools by %q: %q, want %q", orderBy, got, want)
			}
		}
	}
	for q, want := range map[string][]string{
		"50%": reversed(created), "äRGER": reversed(created), "ORDER": reversed(created), "zoo": {"Zoo2", "zoo"},
		"END_call": {"end_call"}, "nobody": nil,
	} {
		got := listed(t, env, "/tools?q="+url.QueryEscape(q), "tools", "slug", nil)
		if !slices.Equal(got, want) {
			t.Errorf("tools with %q: %q, want %q", q, got, want)
		}
	}
}

// TestListsRefuse: unknown orders, texts that are too long or invalid, and tokens of another query.
func TestListsRefuse(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	for i := range 3 {
		env.Do(t, "POST", env.Tenant.In("/agents"), fmt.Sprintf(`{"name":"a%d"}`, i)).Must(t, 201)
		env.Do(t, "POST", env.Tenant.In("/knowledge-base/sources/inline"), fmt.Sprintf(`{"name":"a%d","content":"Text."}`, i)).Must(t, 202)
	}
	for _, path := range []string{"/agents", "/tools", "/knowledge-base/sources"} {
		path = env.Tenant.In(path)
		for query, field := range map[string]string{
			"order_by=size": "order_by", "order_by=name+asc": "order_by", "order_by=name%3B--": "order_by",
			"q=" + long(201): "q", "q=a%00": "q", "q=%FF": "q",
		} {
			got := env.Do(t, "GET", path+"?"+query, nil)
			checkProblem(t, got, 400, "invalid-request")
			if !slices.Equal(got.Problem.Fields(), []string{field}) {
				t.Errorf("%s?%s: fields %v", path, query, got.Problem.Fields())
			}
			if field == "order_by" && !strings.Contains(string(got.Body), "updated_at desc") {
				t.Errorf("%s?%s does not name the orders: %s", path, query, got.Body)
			}
		}
		env.Do(t, "GET", path+"?q="+strings.Repeat("ä", 200), nil).Must(t, 200)
		token := env.Do(t, "GET", path+"?q=a&order_by=name&page_size=1", nil).Must(t, 200).Text("next_page_token")
		env.Do(t, "GET", path+"?q=a&order_by=name&page_size=2&page_token="+token, nil).Must(t, 200)
		for _, other := range []string{"order_by=name", "q=a", "q=a&order_by=name+desc", "q=b&order_by=name", "q=A&order_by=name", "x"} {
			other = strings.TrimSuffix(other, "x") // the default list
			checkProblem(t, env.Do(t, "GET", path+"?"+other+"&page_token="+token, nil), 400, "invalid-request")
		}
	}
}

// TestPagesUnderRenames: a row that is renamed while a list is read by name can be missed or
// repeated. The others are listed once, also among rows that are added.
func TestPagesUnderRenames(t *testing.T) {
	t.Parallel()
	env := harness.Start(t, harness.Options{WithoutWorker: true})
	ids := map[string]string{}
	create := func(name string) string {
		return env.Do(t, "POST", env.Tenant.In("/agents"), fmt.Sprintf(`{"name":%q}`, name)).Must(t, 201).Text("id")
	}
	for _, name := range []string{"a", "same", "same", "same", "same", "same", "y", "z"} {
		ids[create(name)] = name
	}
	first := env.Do(t, "GET", env.Tenant.In("/agents?order_by=name"), nil).Must(t, 200)
	ahead, behind := first.Text("agents", 7, "id"), first.Text("agents", 0, "id")
	changes := []func(){
		func() { env.Do(t, "PATCH", env.Tenant.In("/agents/"+ahead), `{"name":"0"}`).Must(t, 200) },
		func() { env.Do(t, "PATCH", env.Tenant.In("/agents/"+behind), `{"name":"zz"}`).Must(t, 200) },
		func() { create("same") },
	}
	seen := map[string]int{}
	for _, id := range listed(t, env, "/agents?order_by=name", "agents", "id", func() {
		if len(changes) > 0 {
			changes[0]()
			changes = changes[1:]
		}
	}) {
		seen[id]++
	}
	for id, name := range ids {
		want := map[string]int{ahead: 0, behind: 2}
		if _, renamed := want[id]; !renamed {
			want[id] = 1
		}
		if seen[id] != want[id] {
			t.Errorf("%s (%s) was listed %d times, want %d", id, name, seen[id], want[id])
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
