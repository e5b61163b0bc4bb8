// Package demo makes the objects that `parlance dev` shows to newcomers: a tenant on the enterprise
// plan with one workspace, an admin key, the agent Ada, a small knowledge base about Parlance, and
// the tool order_status with its endpoint.
//
//	Seed ─► tenant, agent, tool, sources (a worker ingests them) ─► AttachWhenReady
//
// Both functions can run again and make only what is missing. Changes to the agent and the tool are
// kept; documents that differ from those in this binary are replaced.
package demo
