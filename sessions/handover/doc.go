// Package handover hands conversations over to people and back.
//
//	                 the model's transfer_to_person,
//	                 a guard that escalates
//	the agent has it ────────────────────────────────► requested
//	   ▲    │                                              │
//	   │    └───────────────── TakeOver ──┬────────────────┘
//	   │                                  ▼
//	   └──────────── Release ───── a person has it: Say
//
// While a person has a conversation the model is not asked: package turns stores what the user
// says as turns without an answer. What the person says is a turn of its own, with one message of
// the role operator.
//
// All of it is in the session's row, which each operation locks. Nodes are notified with
// sessions.NoticeHandover, and tell the sockets.
//
// Tables: sessions and turns, which belong to package sessions.
// Events: _session.handover_requested.
package handover
