// Package workspaces is tenancy: tenants and their plans, workspaces, API keys, and what a key may
// use.
//
//	tenant (plan) ──┬── workspace ── agents, tools, sources, endpoints, sessions
//	                └── API key (scope, perhaps one workspace)
//
// A caller is a [Principal], made from a key by [Service.Authenticate]. A workspace of its tenant
// is a [Ref], made only by [Service.Resolve]. Every other package takes a Ref and writes its ids
// into every statement, so that rows of other tenants are not found.
//
// [Credentials] are the keys of workspaces at outside parties, sealed. [UserHashes] replaces the
// ids of end users in records that outlive them.
//
// Tables: tenants, workspaces, api_keys, tombstones, provider_credentials, user_hash_keys. Events:
// none.
package workspaces
