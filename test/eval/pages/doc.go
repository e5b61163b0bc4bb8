// Package main compares the text that is read from PDF files with what a person reads on their
// pages: `task eval:pages`.
//
// testdata/pages has files that other programs made (README.md says how), and beside each NAME.pdf
// the expectation NAME.txt: what a person who looked at the pages as pictures read, in order.
// Hyphenated words are whole there, a running head stands once, and page numbers are left out.
//
// Two figures say how near a text is to an expectation: the share of the expectation's pairs of
// neighbouring words that the text has too, and that of its words. A word is a run of letters or
// digits, without case; in scripts without spaces it is one character. Text that is too much costs
// only the pairs that it comes between.
//
// The same figures are printed for pdftotext, in its own reading order and with -layout. The names
// of columns that document.Parse repeats in each row of a table are left out: they are not on the
// page.
//
// The code was tuned with the pages that are not in aside.
package main
