package s3

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/provider/blob"
)

var (
	errNoCredentials = errors.New("there is no key for the bucket: set PARLANCE_S3_ACCESS_KEY_ID and " +
		"PARLANCE_S3_SECRET_ACCESS_KEY, or give the process a role of AWS")
	errSlow = errors.New("the store did not answer in time")
)

// explain says what an error of the client means and which setting mends it.
func (b *Bucket) explain(err error) error {
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return b.explainAnswer(answer)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("the certificate of %s is of an unknown authority: name its CA in PARLANCE_EGRESS_CA_FILE: %w", b.at.endpoint, err)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return unavailable(fmt.Errorf("%s cannot be reached; PARLANCE_BLOB_URL names it: %w", b.at.endpoint, err))
	}
	return err
}

// explainAnswer explains an error that the store answered.
func (b *Bucket) explainAnswer(answer minio.ErrorResponse) error {
	switch answer.Code {
	case minio.NoSuchKey:
		return blob.ErrNotFound
	case minio.NoSuchBucket:
		return fmt.Errorf("%s has no bucket %q: create it, or correct PARLANCE_BLOB_URL: %w", b.at.endpoint, b.at.bucket, answer)
	case "InvalidAccessKeyId", "XAdminUserNotFound": // AWS and others; versitygw
		return fmt.Errorf("%s does not know the access key: correct PARLANCE_S3_ACCESS_KEY_ID: %w", b.at.endpoint, answer)
	case "SignatureDoesNotMatch":
		return fmt.Errorf("the secret does not belong to the access key: correct PARLANCE_S3_SECRET_ACCESS_KEY: %w", answer)
	case "ExpiredToken", "InvalidToken":
		return fmt.Errorf("the credentials are of a session that is over: renew AWS_SESSION_TOKEN, or use "+
			"PARLANCE_S3_ACCESS_KEY_ID: %w", answer)
	case "RequestTimeTooSkewed":
		return fmt.Errorf("the clocks of this machine and of %s differ too much: synchronize them (NTP): %w", b.at.endpoint, answer)
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect":
		return fmt.Errorf("the bucket %q is not in the region %q: correct region in PARLANCE_BLOB_URL%s: %w",
			b.at.bucket, b.at.region, hint(answer.Region), answer)
	case minio.AccessDenied:
		return fmt.Errorf("the access key (PARLANCE_S3_ACCESS_KEY_ID) may not do this in bucket %q: allow s3:ListBucket, "+
			"s3:ListBucketMultipartUploads, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload: %w", b.at.bucket, answer)
	}
	if answer.StatusCode == http.StatusMovedPermanently || answer.StatusCode == http.StatusTemporaryRedirect {
		return fmt.Errorf("the bucket %q is somewhere else: correct endpoint and region in PARLANCE_BLOB_URL%s: %w",
			b.at.bucket, hint(answer.Region), answer)
	}
	err := fmt.Errorf("%s answered %d %s: %w", b.at.endpoint, answer.StatusCode, answer.Code, answer)
	if answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests {
		return unavailable(err)
	}
	return err
}

// unavailable tells callers to come back: the store is away or busy.
func unavailable(err error) error {
	return fault.Wrap(err, fault.ServiceUnavailable, "The store of files does not answer. Try again shortly.")
}

// hint names the region that the store has named.
func hint(region string) string {
	if region == "" {
		return ""
	}
	return " to " + region
}
