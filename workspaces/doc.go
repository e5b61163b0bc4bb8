// Package workspaces is tenancy: tenants and their plans, workspaces, API keys, and the
// answer to "may this key touch that?".
//
//	tenant (plan) ──┬── workspace ── agents, tools, sources, endpoints, sessions
//	                └── API key (scope, perhaps one workspace)
//
// A caller is a [Principal], made from a key by [Service.Authenticate]. A workspace of its
// tenant is a [Ref], made by [Service.Resolve] only: every other noun takes a Ref and writes
// its ids into every statement, so that another tenant's row is not found rather than refused.
//
// [Credentials] keeps workspaces' own keys at outside parties, sealed.
//
// Tables: tenants, workspaces, api_keys, tombstones, provider_credentials. Events: none.
package workspaces
