// Package document turns the bytes of a source into text with blocks; package chunking cuts it.
//
//	bytes ──Parse──► Document (text + ordered blocks)
//
// It has over 5,000 lines because every format writes its blocks by the same builder and its tables
// by the same grid, and EPUB chapters, Markdown and pages of the web are read by the same walk.
//
// It has no database, no network, no clock; the same bytes give the same text. PDF files and
// pictures are read by the programs behind [Readers], everything else here. Archives over 16 MiB
// pass through a temporary file, which is gone when Parse returns.
// [Resolve] and [Sniff] stand before it, at the upload: they decide the media type and refuse
// content that contradicts it (fault.KBUnsupportedMediaType). What is wrong with an accepted
// document is an [Error] with a kind and a sentence for the person who uploaded it; such an
// error is final, the same bytes fail again.
//
// A [Block] is a range of the extracted text, counted in characters (Unicode
// code points): text[CharStart:CharEnd] is its content, exactly.
//
// What is kept of each format:
//
//   - Text: UTF-8, UTF-16 and UTF-32 with and without their mark, and the encodings of the web,
//     declared or guessed from the bytes (charset.go). Paragraphs end at blank lines.
//   - Markdown: CommonMark with tables, read as the HTML that it makes with the HTML in it. Rows of
//     tables stay as they are written.
//   - HTML: what stands for a reader: not scripts, styles, hidden parts, navigation, and the frame
//     of the site (htmlskip.go has the rules). A page that is nothing else is read without them.
//     The title heads a page that has no h1. Links that lead to another site keep their address.
//   - JSON: "key: value" lines under headings of the keys above; arrays of small objects are
//     tables; NDJSON is an array. Numbers stay as written and double keys stay.
//   - DOCX: headings by style or outline level, lists with their numbers, merged cells repeated in
//     each row, notes after the block that refers to them, text boxes, results of fields. Tracked
//     deletions, headers, footers, comments, hidden text and tables of contents are left out.
//   - PDF: columns are read one after the other (provider/pdf/poppler). Headings are told by the
//     size and weight of their letters. Words broken at the end of a line are joined, a paragraph
//     goes on over pages, and lines that return in the margins stay once. A page without a usable
//     text layer is read from its picture; one that cannot be read is a warning, as long as others
//     can.
//   - Pictures: their paragraphs, headings by the height of their lines.
//   - EPUB 2 and 3: chapters in the order of the spine, under headings of the table of contents.
//
// Tables have a line a row, "a | b"; the rows of a table that does not fit one chunk name their
// columns, "Name: a | Size: b", where it has a header (table.go). PDF files and pictures have
// pages.
//
// Every size is counted while it is read, whatever a file says of itself: bytes unpacked, parts of
// an archive, elements within each other, the length of a tag, the text in all. XML with a
// document type that declares something is refused, so no entity expands. Archives in archives are
// not opened. A page nested over 512 deep is read token by token.
//
// PDF and images answer Unsupported where no reader is given.
package document
