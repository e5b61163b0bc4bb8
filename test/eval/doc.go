// Command eval measures retrieval over a public test collection and writes the figures to
// docs/benchmarks.md:
//
//	go run ./test/eval -collection ~/collections/cran   # about a minute for 1,400 documents
//	go run ./test/eval -collection DIR -out ''          # only prints
//	PARLANCE_EMBEDDING_API_KEY=… go run ./test/eval -collection DIR \
//	    -embedding-url URL -embedding-model NAME
//
// With -embedding-url the documents and questions get the prefixes that the service gives them.
// TestNeuralRun does all of this but starting Postgres, with a scripted server on the wire.
//
// The documents become sources of a workspace, by the upload, the parser, the chunker, the embedder
// and the indexes that customers use, and each question is asked with similarity and with hybrid
// ranking, at the shipped settings and without a floor. A document stands where its first chunk
// does. Beside them stands a plain BM25 (bm25.go) over the whole documents, with the same analyser
// (platform/lexicon), k1 = 1.2 and b = 0.75. Differences are tested by a paired bootstrap over the
// questions.
//
// Collections are not part of this repository; see load for the forms that are read. How far the
// figures are of unseen questions: the built-in embedder's weights are counted over other texts,
// CISI and CACM among them and Cranfield not; which features it has, and the constants of hybrid
// ranking, were compared on all three. NPL, MED and ADI are for confirming: nothing was chosen on
// them.
package main
