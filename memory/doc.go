// Package memory is what agents remember of a user from one session to the next: notes (facts) and
// statements (who the user is, and how they want to be treated).
//
//	pending ──(user or operator confirms)──► active ──(newer one about the same)──► superseded
//
// A user is (workspace, user_id), with the id byte for byte as sessions have it. No user id comes
// from the arguments of a model. A slot is the thing that a memory is about (meaning.go). A unique
// index allows one active memory a slot, so two sessions of one user neither double nor lose one.
// Every writer locks the row of the user first. That row also has the number of memories, and the
// time when something was forgotten last.
//
// A memory is stored without a vector while the embedder is unavailable. Sweep embeds it later, and
// deletes expired ones. Until then it is found by its words.
//
// Tables: memory_users, memories, memory_vectors, memory_embeddings_due. It reads sessions for the
// list of users. It has no events: package conversation puts what was learnt into
// post_call_transcription.
//
// It does not decide what a model is shown (conversation), and does not delete sessions (privacy).
package memory
