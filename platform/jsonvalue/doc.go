// Package jsonvalue decodes and encodes JSON of any shape, with numbers as they were written.
package jsonvalue
