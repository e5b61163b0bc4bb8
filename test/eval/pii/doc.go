// Command pii measures what package platform/pii finds of a labelled set, and what it takes for
// personal data that is none. It writes the figures into docs/retention.md.
package main
