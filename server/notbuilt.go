package server

import (
	"maps"
	"net/http"
	"slices"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/route"
	"parlance.dev/parlance/server/interceptor"
	"parlance.dev/parlance/server/problem"
	"parlance.dev/parlance/server/rest"
	"parlance.dev/parlance/workspaces"
)

// notBuilt are REST routes of the interface that no service answers yet. They answer
// not-implemented and say why. They are not in the OpenAPI document, which describes what works.
var notBuilt = []struct {
	method, pattern string
	// scope is what the caller's key needs.
	scope workspaces.Scope
	why   string
}{
	{"POST", "/v1/workspaces/{workspace_id}/callback-schedules", workspaces.ScopeOperator, noCallbacks},
	{"GET", "/v1/workspaces/{workspace_id}/callback-schedules", workspaces.ScopeRead, noCallbacks},
	{"GET", "/v1/workspaces/{workspace_id}/callback-schedules/{schedule_id}", workspaces.ScopeRead, noCallbacks},
	{"PATCH", "/v1/workspaces/{workspace_id}/callback-schedules/{schedule_id}", workspaces.ScopeOperator, noCallbacks},
	{"DELETE", "/v1/workspaces/{workspace_id}/callback-schedules/{schedule_id}", workspaces.ScopeOperator, noCallbacks},
}

const noCallbacks = "Callbacks are not built yet: nobody is called."

// withNotBuilt adds the routes of notBuilt to those of the facade, behind the gate.
func withNotBuilt(c rest.Config, gate interceptor.Gate, problems problem.Writer) rest.Config {
	manual, policies := map[string]http.Handler{}, interceptor.Policies{}
	maps.Copy(manual, c.Manual)
	maps.Copy(policies, gate.Policies)
	c.Routes = slices.Clone(c.Routes)
	for _, missing := range notBuilt {
		name := missing.method + " " + missing.pattern // in place of a procedure: other protocols have none
		c.Routes = append(c.Routes, route.Route{Method: missing.method, Pattern: missing.pattern, Procedure: name, Manual: true})
		manual[name] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			problems.Write(w, r, fault.New(fault.NotImplemented, "%s", missing.why))
		})
		rate := "write"
		if missing.method == http.MethodGet {
			rate = "read"
		}
		policies[name] = interceptor.Policy{Scope: missing.scope, Rate: rate}
	}
	gate.Policies = policies
	c.Manual, c.Admit = manual, gate.Admit
	return c
}
