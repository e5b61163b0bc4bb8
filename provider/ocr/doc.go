// Package ocr is the contract of what reads the text in pictures: a [Reader] gives the paragraphs
// of a PNG, JPEG or WEBP file in reading order. The adapters are packages below it.
//
// A [Fault] is about the picture itself and is final; any other error is about us or the machine,
// and the same picture may be read later.
package ocr
