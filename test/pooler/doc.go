// Package pooler puts PgBouncer between a test and its database. PgBouncer is a package of the
// system's, which go test alone does not install: tests that use it have the build tag pooled, and
// .ci/pooled runs them. With the tag package harness puts one before every installation.
package pooler
