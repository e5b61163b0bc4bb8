// Package recordings keeps the sound of voice sessions, for agents that have it switched on.
//
//	voice socket ── samples, cuts, marks ──► Recorder ── segments ──► bucket, with a row each
//	                                         (memory)
//
// A recording is all that was recorded of one session. Each voice socket of the session is a part
// of it, and the parts follow each other without a pause. A part is stored in segments of 20
// seconds while the socket is open, so a lost server loses what it had not stored yet: less than 30
// seconds. Sound is stereo, 16 kHz, 16 bits: the user left, the agent right.
//
// Sound is placed by audio time: milliseconds since the beginning of the socket's sound, as its
// engine counts samples. Where nothing was said, there is silence, and long silence needs no file.
//
//	             all is stored
//	recording ────────────────────► ready ─────────┐
//	    │                                          ├── retention, erasure ──► erased
//	    └── server lost, or the bucket could ──► incomplete
//	        not be written for two minutes
//
// The row of a segment is written before its file, with the time after which the file is deleted
// unless its writer has said that it is stored (due_at). So no file is left without a row: Sweep
// deletes the files that are due. Deleting a session, a workspace or a tenant makes all files of it
// due, by a trigger; Erase deletes them at once.
//
// Tables: recording_parts, recording_segments. Events: none.
//
// The package does not say the notice of a recording, and does not decide when words were spoken:
// the engine of the voice socket does.
package recordings
