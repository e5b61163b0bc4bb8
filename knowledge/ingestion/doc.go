// Package ingestion makes chunks of sources: it reads, cuts, embeds and indexes them.
//
//	          ┌───────────── reprocess ─────────────┐
//	          ▼                                     │
//	upload ─► queued ─claim─► processing ─commit─► ready
//	            ▲                │   │
//	            └── outage ──────┘   └─ fault of the document, or the fifth attempt ─► failed
//
// Whether a source is being worked on is decided in Postgres: a run claims the row with a token of
// its own and writes every five seconds that it is alive. A row that is silent for a minute may be
// claimed by another run; the earlier one notices at its next write and writes nothing more.
//
// What costs is done once: pages read by OCR (source_pages) and vectors of an outside model
// (staged_vectors) are kept until the source is ready, for the run after a broken one (resume.go).
//
// Which model answers is noted for each workspace (workspace_embeddings). When the installation's
// model changes, plan.go queues the sources (source_reembeddings), reembed.go embeds the chunks'
// text beside the vectors that answer (next_vectors), and with the last source one transaction puts
// the new vectors in their place (flip.go). A query sees the one or the other.
//
// Tables: sources, chunks, source_pages, staged_vectors, embedding_models, workspace_embeddings,
// source_reembeddings, next_vectors; by package search source_words, source_postings, source_codes.
//
// Event: kb.source_ingested. It reads no formats (package document), makes no vectors
// (provider/embedding) and enqueues no tasks: package worker calls Ingest, Reembed and the sweeps.
package ingestion
