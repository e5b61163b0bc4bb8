// Package s3 keeps blobs in a bucket of Amazon S3 or of any store that speaks its API: MinIO,
// Ceph, Garage, R2, versitygw.
//
// A [Bucket] is made from a URL, s3://bucket/prefix?endpoint=https://host&region=name, and keys.
// A blob is one object. Small blobs are stored by one request, larger ones in parts; both appear
// at once or not at all, because the store makes an object visible when it is complete. Every
// request carries the SHA-256 of its body, which the store checks. Nothing is kept on this
// machine: an upload needs memory for one part, a download for none.
//
// A process that is killed during an upload leaves parts that nobody sees and that cost storage;
// Tidy removes them. Objects get no access rules of their own: whether a bucket is public is the
// bucket's policy.
package s3
