// Package poppler reads PDF files with the programs of poppler, each run in a sandbox:
//
//	pdfinfo ──► pages, faults of the file
//	pdftohtml -xml ──► pieces of text with their places ──► columns ──► lines ──► blocks
//	pdftoppm ──► a grey picture of a page without text ──► provider/ocr
//
// pdftohtml gives the places, sizes and weights of letters for half the computing of pdftotext,
// whose own order loses tables and headings. What is read in which order is decided here: order.go
// finds columns, lines.go puts pieces together, blocks.go and tables.go make paragraphs and rows.
// turned.go reads what does not run from left to right, which pdftohtml gives without its extent,
// and fused.go takes cells apart that it joined. Decision 0048 has how well, by task eval:pages.
//
// A page that ends a program is left out and the rest is read without it. Nothing that a program
// writes is believed: numbers of pages, sizes and pictures are checked.
package poppler
