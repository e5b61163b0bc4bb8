// Package agents is who holds a conversation: instructions, model, voice, retrieval, tools,
// guards and limits.
//
// Each save makes an immutable version, counted from 1; a session records the version it runs
// and keeps it, whatever is saved later.
//
// A draft is settings of an agent that are not published. Only sessions that ask for it use it, and
// publishing makes it the next version.
//
//	no draft ─save─► draft, revision 1, 2, … ─publish─► next version, no draft
//	                                         └discard─► no draft
//
// Tables: agents (the latest version, denormalised), agent_versions, agent_drafts. Events: none.
package agents
