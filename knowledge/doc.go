// Package knowledge is the knowledge base: sources, their chunks, and what an agent may find in them.
//
//	          ┌───────────── reprocess ─────────────┐
//	          ▼                                     │
//	upload ─► queued ─claim─► processing ─commit─► ready
//	            ▲                │   │
//	            └── outage ──────┘   └─ fault of the document, or the fifth attempt ─► failed
//
// An upload holds room in its plan (upload_holds) for the bytes it is known to have before they are
// stored, and for more as they come; one transaction then counts them (workspaces.kb_used_bytes),
// writes the row and appends the event. Both lock the workspace's row, so the quota is exact, and
// equal bytes of a workspace share one blob. A hold ends with its upload, or two minutes after its
// server died. A blob that no row came to own is remembered in stray_blobs from before its first byte
// until it is deleted, so that a crash leaks nothing.
//
// Whether a source is being worked on is decided here, in Postgres: a run claims the row with a
// token of its own and says every five seconds that it is alive. A row silent for a minute may
// be claimed by another run; the earlier one notices at its next write and writes nothing more.
//
// What costs is done once: pages read by OCR (source_pages) and vectors of an outside model
// (staged_vectors) are kept until the source is ready, for the run after a broken one.
//
// A source that was ready once stays attachable and queryable with its chunks while it is
// reprocessed, and also when that fails: the new chunks replace the old ones in one step.
//
// A query compares vectors of one model only, among the sources attached to the agent: one by one
// (nearest.go); for an agent that sees more than 2,000 chunks by codes of the vectors first, which are
// kept in memory, and then the best few hundred of them one by one (codes.go, coded.go, shelf.go); above
// 500,000 through an index of the workspace's own (vectorindex.go). What has no codes yet, or is newer
// than the index, is compared beside them.
//
// While all sources of an agent are in the process's memory (resident.go, residents.go), a search asks Postgres
// which they are and for the texts of what it found; the ranking is inmemory.go's, with the same outcome.
//
// Which model that is, is said for each workspace (workspace_embeddings). When the installation's
// model changes, the chunks' text is embedded anew beside the vectors that answer (next_vectors),
// source by source (source_reembeddings), and with the last of them one transaction puts the new
// vectors in their place: plan.go, reembed.go, flip.go. A query sees the one or the other.
//
// An evaluation asks questions with known answers and remembers where each answer stood.
//
// Hybrid ranking fuses that order with BM25 over an index of words of our own (postings.go, bm25.go):
// the source's language decides its words, and how rare a word is is counted over exactly the
// sources that the agent sees. Tend indexes what an earlier version has ingested.
//
// Tables: sources, chunks, source_words, source_postings, source_codes, source_attachments, vector_indexes, stray_blobs, upload_holds,
// knowledge_evaluations, source_pages, staged_vectors, embedding_models, workspace_embeddings,
// source_reembeddings, next_vectors. Events: kb.source_ingested, _source.queued, _blob.orphaned.
// It reads no formats (package document), makes no vectors (provider/embedding), enqueues no
// tasks (package worker calls Ingest, Reembed, SweepBlob and the sweeps).
package knowledge
