// Package redact removes the secrets of a tool from text that comes from outside.
package redact
