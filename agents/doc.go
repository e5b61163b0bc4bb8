// Package agents is who holds a conversation: instructions, model, voice, retrieval, tools,
// guards and limits.
//
// Each save makes an immutable version, counted from 1; a session records the version it runs
// and keeps it, whatever is saved later.
//
// Tables: agents (the latest version, denormalised), agent_versions. Events: none.
package agents
