// Package modeltext makes text that a model reads of what endpoints and servers of tools send:
// bodies are decoded, markup is taken out, long texts are cut, and foreign texts are fenced.
package modeltext
