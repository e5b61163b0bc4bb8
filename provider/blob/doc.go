// Package blob keeps the bytes of uploaded files and exports in a bucket named by a URL.
//
// A [Bucket] is five operations on whole blobs under slash-separated keys. A Put is atomic:
// a reader of the key sees the old blob, the new one or none, never a part, and a Put that
// fails leaves nothing behind. Keys are checked by [CheckKey], so that no key reaches outside
// its bucket.
//
// file:///path is built here, on os.Root, rather than with gocloud.dev: five operations do
// not pay for the minute its drivers add to a cold build. Package s3 keeps blobs in a bucket of
// an S3 store. Every implementation passes package blobtest.
package blob
