// Package pdfmake writes small PDF files for tests: text at places and in columns, tables with and
// without lines, pages that are one picture, and files that are wrong on purpose. It writes what
// the tests need and knows nothing of what reads it.
package pdfmake
