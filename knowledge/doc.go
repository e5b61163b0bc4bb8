// Package knowledge is the knowledge base: sources, their chunks, and what an agent may find in
// them.
//
// An upload holds room in its plan (upload_holds) for the bytes it is known to have before they are
// stored, and for more as they come. One transaction then counts them (workspaces.kb_used_bytes),
// writes the row and appends the event. Both lock the workspace's row, so the quota is exact, and
// equal bytes of a workspace share one blob. A hold ends with its upload, or two minutes after its
// server died. A blob that no row came to own is noted in stray_blobs from before its first byte
// until it is deleted, so that a crash leaks nothing.
//
// A source that was ready once stays attachable and queryable with its chunks while it is
// reprocessed, and also when that fails: the new chunks replace the old ones in one step.
//
// A query asks Postgres what is attached to the agent (attached.go), embeds the question by the
// model that answers in the workspace (models.go), ranks the chunks (package search), and reads the
// texts of the best (texts.go). A turn of a conversation makes passages of them (passages.go).
//
//	ingestion   reads, cuts, embeds and indexes sources
//	evaluation  asks questions with known answers
//	search      finds and ranks chunks
//	webpages    makes and fetches sources that have a URL
//	document    parses files and cuts text
//
// Tables: sources, chunks, source_attachments, stray_blobs, upload_holds, workspace_embeddings.
// Events: _source.queued, _blob.orphaned.
package knowledge
