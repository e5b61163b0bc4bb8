// Package pdf is the contract of what reads PDF files: a [Reader] gives their pages in order, each
// with the text of its text layer or, where that holds none, of its picture. The adapters are
// packages below it.
//
// A [Fault] is about the file itself and is final; any other error is about us or the machine.
// What the blocks mean, headings and tables among them, is decided by knowledge/document.
package pdf
