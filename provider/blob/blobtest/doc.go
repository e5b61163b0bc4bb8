// Package blobtest is the conformance suite of blob.Bucket: every implementation runs it.
package blobtest
