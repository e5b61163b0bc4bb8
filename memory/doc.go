// Package memory is what agents remember of a user from one session to the next: notes (facts) and
// statements (who the user is, and wants to be treated).
//
//	pending ──(the user says yes, an operator approves)──► active ──(another says what is so now)──► superseded
//
// A user is (workspace, user_id), the id byte for byte as sessions have it; nothing here takes a user
// from a model's arguments. Of one slot, the thing that a memory is about, at most one is active (see
// meaning.go), which a unique index holds, so two sessions of one user neither double nor lose one.
// Whoever writes locks the user's row first; it also counts, and says when something was forgotten last.
//
// A memory is stored before it has a vector, if the embedder is away; Sweep embeds it later, and
// deletes what has expired. Until then it is found by its words.
//
// A process keeps the codes of the vectors of users who were searched lately, and each search asks for those that came
// since (codes.go). What a session is given is kept for as long as NOTIFY on [Channel] says nothing else (recall.go).
//
// Tables: memory_users, memories, memory_vectors, memory_embeddings_due; it reads sessions for the list
// of users. No events of its own: package conversation puts what was learnt into post_call_transcription.
//
// It does not decide what a model is shown or obeys (conversation), nor delete sessions (privacy).
package memory
