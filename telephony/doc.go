// Package telephony has the calls of agents over the telephone.
//
//	Callbacks ── CreateTx, Place ──►┐                    ┌── Asked: somebody calls one of our numbers
//	                                ▼                    ▼
//	                            provider/carrier ◄──► Receive
//	                                                     │   Asked: a session, and its media socket
//	                                                     ├── status, machine, how a transfer goes
//	                                                     ▼
//	                                                 phone_calls ── OnEnd ──► package callbacks
//
// The life of a call:
//
//	dialing ──► ringing ──► in_progress ──► completed
//	   └───────────┴──► busy, no_answer, failed, canceled
//
// A status is only ever followed by one to its right, so that what a carrier says twice or late
// changes nothing.
//
// # Nothing is dialed twice
//
// A row says that a number is being dialed before the carrier is asked to. When the process dies in
// between, or the carrier's answer is lost, the carrier is asked whether it has such a call
// (Sweep): then that is the one, else it is placed. Webhooks name the row, so that most calls are
// known without asking.
//
// # Transfers
//
//	"" ──► requested ──► ringing ──► connected
//	            │           └──► failed: the caller comes back to the agent, or the call is over
//	            └──► "": the session does not ask for it any more
//
// A handover that a session asks for (sessions/handover) becomes a transfer. It is made when the
// agent has said what it had to say: the media socket tells (TransferNow), Sweep makes the rest.
//
// Webhooks name the transfer that they are about, and what is read of a call is locked before it is
// changed: what comes late or twice, or in another order, changes nothing. A transfer of which
// nothing is heard is given up when its caller still talks to the agent.
//
// # Deleted calls
//
// The row of a call goes with its user, session, workspace or tenant. A trigger of the database
// notes one that goes on in deleted_calls, without whom it is with, and Sweep hangs it up; so does
// whoever learns the carrier's id of one that was being placed: Place, or a webhook.
//
// Tables: phone_calls, deleted_calls. Events: none. Meters: pstn_minutes, each minute that is
// begun.
//
// The package knows no carrier's wire (provider/carrier), hears nothing (package voice), and does
// not decide whom to call when (telephony/callbacks).
package telephony
