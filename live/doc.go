// Package live holds the part of a session that exists on one node only: its sockets, and the
// answer that is being given to them.
//
// One engine owns a session on a node. It runs one function at a time, so its state needs no
// locks. A socket talks to it through a [Live], whatever the dialect of its frames:
//
//	admission, err := s.Admit(ctx, AdmitParams{…})  before the HTTP upgrade: 401, 403, 409
//	live, err := s.Join(ctx, admission)             after it; replaces an older socket
//	for { event, err := live.Next(ctx) … }          in a goroutine; io.EOF after Closed
//	live.Do(ctx, UserMessage{…}) …                  for each frame that the socket reads
//	live.Leave(HungUp or Dropped)                   always, once the socket is gone
//
// Events come in this order. What is in brackets may be missing or repeated:
//
//	[greeting] ( [ItemAdded]… ResponseStarted [content] ResponseDone )… Closed
//	greeting = ResponseStarted MessageStarted TextDelta MessageDone ResponseDone
//	content  = MessageStarted TextDelta… MessageDone
//	         | ToolStarted [ApprovalRequested] ToolDone
//	         | ClientToolCalled
//
// The calls of one round run side by side: every ToolStarted of the round comes before its first
// ToolDone, and the ToolDones come in the order of the ToolStarteds. At most one response is in
// progress; a Respond that comes meanwhile waits, and is not an error.
//
// # Lost sockets and lost nodes
//
//	attached ──Leave──► gone
//	   └──Detach──► away ──► gone: a socket of its channel came, 120 s are over, or the session ended
//
// A socket that is lost detaches and leaves its Live behind, and the answer continues. The next
// socket of its channel on this node takes over the answer and the client's tools. A turn whose
// node is lost is resumed by the node where the client is now, and its socket is told that the
// first answer has failed. While another node gives an answer, this one watches the turn's row and
// tells its own sockets how the answer ended.
//
// Nodes notify each other through the notices of package sessions. A node that lost its listening
// connection checks its sessions when the connection is back, and with each heartbeat.
//
// # Handed over
//
// While a person has the session, Responds are answered by LeftToOperator, and what was said is
// stored as a turn without an answer. A Respond that comes while something is being stored waits
// for that: it is answered by the model if the person has given the session back meanwhile. The
// person's messages come as ItemAdded. HandoverChanged says when that begins and ends.
//
// # Files
//
//	command, item_command, event            what sockets and the engine exchange
//	inbox, live, live_queue                 a socket's end, and how it reaches the engine
//	answer, engine                          the engine's state
//	send … resume, close, join, handover    what the engine does
//	dispatch, late                          which of it a command is about
//	service, admission, notices, heartbeat  the doors
//
// Events: none. Tables: session_connections, which belongs to package sessions.
//
// The package does not parse frames (server/realtime) or take turns (package turns).
package live
