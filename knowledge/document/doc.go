// Package document turns the bytes of a source into text, and text into chunks.
//
//	bytes ──Parse──► Document (text + ordered blocks) ──Cut──► chunks, ready to embed
//
// It is pure: no database, no network, no clock; the same bytes give the same chunks.
// [Resolve] and [Sniff] stand before it, at the upload: they decide the media type and refuse
// content that contradicts it (fault.KBUnsupportedMediaType). What is wrong with an accepted
// document is an [Error] with a kind and a sentence for the person who uploaded it; such an
// error is final, the same bytes fail again.
//
// A [Block] and a [Chunk] are ranges of the extracted text, counted in characters (Unicode
// code points): text[CharStart:CharEnd] is their content, exactly.
//
// Parsed now: text/plain and text/markdown. The other accepted types are in the table of
// mediatype.go and answer Unsupported until their parser is written.
package document
