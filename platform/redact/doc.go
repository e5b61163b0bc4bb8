// Package redact removes the secrets that a request was sent with from what its endpoint answers.
package redact
