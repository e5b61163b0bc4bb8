// Package privacy answers what people may ask of the data that is kept about them: a copy of all of
// it, and its erasure. It also deletes single sessions.
//
//	            claimed by a worker          the file is in the bucket, or all is erased
//	queued ─────────────────────► processing ────────────────────────────────────────► ready
//	  ▲                               │
//	  └── the worker died or failed ──┴── [maxAttempts] times ──► failed
//
// A user is the user_id of a workspace's sessions. What is kept of a user is listed in inventory.go,
// table by table; a test compares that list with the schema, so that a new table is not forgotten.
//
// An export is a ZIP file of JSON in the bucket, read from one snapshot of the database and streamed,
// so that its size does not matter. Whoever has its URL can read it until it expires.
//
// An erasure ends the user's open sessions, deletes sessions in batches, then everything else, and
// counts again what is left. Its request stays without the user's id: the tombstone.
//
// Tables: privacy_requests, privacy_files. Events: dsar.ready.
package privacy
