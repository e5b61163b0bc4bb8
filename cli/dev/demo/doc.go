// Package demo is what `parlance dev` shows a newcomer: a tenant on the enterprise plan with one
// workspace, an admin key, the agent Ada, a small knowledge base about Parlance itself, and the
// tool order_status with the endpoint that answers it.
//
//	Seed ─► rows of tenant, agent, tool, sources (the worker ingests) ─► AttachWhenReady
//
// Both may be run again and make only what is missing; what a person changed in the agent or the
// tool stays, while documents that differ from this binary's are replaced.
package demo
