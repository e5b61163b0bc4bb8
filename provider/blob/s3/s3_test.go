package s3

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, says string }{
		{"s3://bucket?region=eu-central-1", ""},
		{"s3://bucket/some/prefix/?endpoint=http://minio:9000", ""},
		{"s3://bucket?endpoint=https://files.example&region=garage", ""},
		{"s3://bucket", "neither an endpoint nor a region"},
		{"s3://Bucket_?region=x", "does not allow"},
		{"s3://?region=x", "does not allow"},
		{"s3://bucket/../x?region=x", "prefix"},
		{"s3://id:key@bucket?region=x", "PARLANCE_S3_ACCESS_KEY_ID"},
		{"s3://bucket?endpoint=minio:9000", "https://host"},
		{"s3://bucket?endpoint=https://minio/path", "https://host"},
		{"s3://bucket?endpoint=https://id:key@minio", "https://host"},
		{"s3://bucket?region=x&acl=public", `unknown parameter "acl"`},
		{"s3:bucket", "must be a URL"},
	} {
		err := CheckURL(row.url)
		said := fmt.Sprint(err)
		if (err == nil) != (row.says == "") || row.says != "" && !strings.Contains(said, row.says) || strings.Contains(said, "id:key") {
			t.Errorf("%s: got %v, want an error saying %q", row.url, err, row.says)
		}
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, endpoint, region string }{
		{"s3://b-1?region=eu-central-1", "https://s3.eu-central-1.amazonaws.com", "eu-central-1"},
		{"s3://b-1?region=cn-north-1", "https://s3.cn-north-1.amazonaws.com.cn", "cn-north-1"},
		{"s3://b-1?endpoint=https://s3.dualstack.eu-west-1.amazonaws.com", "https://s3.dualstack.eu-west-1.amazonaws.com", "eu-west-1"},
		{"s3://b-1?endpoint=http://minio:9000/", "http://minio:9000", "us-east-1"},
	} {
		at, err := parse(row.url)
		if err != nil || at.endpoint.String() != row.endpoint || at.region != row.region {
			t.Errorf("%s: got %s in %s, %v; want %s in %s", row.url, at.endpoint, at.region, err, row.endpoint, row.region)
		}
	}
}

// TestAnswers: what a store refuses is said with the setting to correct.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status     int
		code, says string
	}{
		{http.StatusNotFound, "NoSuchKey", ""},
		{http.StatusNotFound, "NoSuchBucket", "correct PARLANCE_BLOB_URL"},
		{http.StatusForbidden, "InvalidAccessKeyId", "correct PARLANCE_S3_ACCESS_KEY_ID"},
		{http.StatusForbidden, "SignatureDoesNotMatch", "correct PARLANCE_S3_SECRET_ACCESS_KEY"},
		{http.StatusForbidden, "RequestTimeTooSkewed", "clocks"},
		{http.StatusForbidden, "AccessDenied", "s3:ListBucket"},
		{http.StatusBadRequest, "AuthorizationHeaderMalformed", "correct region in PARLANCE_BLOB_URL to mars-1"},
		{http.StatusMovedPermanently, "PermanentRedirect", "correct region in PARLANCE_BLOB_URL to mars-1"},
		{http.StatusNotImplemented, "NotImplemented", "501 NotImplemented"},
	} {
		t.Run(row.code, func(t *testing.T) {
			t.Parallel()
			store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				refuse(w, row.status, row.code)
			}))
			t.Cleanup(store.Close)
			b, err := Open(t.Context(), config(t, store.URL))
			if row.says == "" {
				if err != nil || b.Close() != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v, want an error saying %q", err, row.says)
			}
		})
	}
}

// TestBusyStore is asked a few times, and then the caller is told to come back.
func TestBusyStore(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
	}))
	t.Cleanup(store.Close)
	if _, err := Open(t.Context(), config(t, store.URL)); fault.ReasonOf(err) != fault.ServiceUnavailable {
		t.Errorf("got %v, want %s", err, fault.ServiceUnavailable)
	}
	if n := requests.Load(); n != maxTries {
		t.Errorf("%d requests, want %d", n, maxTries)
	}
}

func TestUnknownAuthority(t *testing.T) {
	t.Parallel()
	store := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(store.Close)
	if _, err := Open(t.Context(), config(t, store.URL)); err == nil || !strings.Contains(err.Error(), "PARLANCE_EGRESS_CA_FILE") {
		t.Errorf("got %v, want an error that names PARLANCE_EGRESS_CA_FILE", err)
	}
}

// TestNoKeys: without a key no request goes out, least of all one without a signature.
func TestNoKeys(t *testing.T) {
	t.Parallel()
	if _, err := new(search).RetrieveWithCredContext(nil); err == nil || !strings.Contains(err.Error(), "PARLANCE_S3_ACCESS_KEY_ID") {
		t.Errorf("got %v, want an error that names PARLANCE_S3_ACCESS_KEY_ID", err)
	}
	half := config(t, "http://127.0.0.1:1")
	half.SecretAccessKey = ""
	if _, err := Open(t.Context(), half); err == nil || !strings.Contains(err.Error(), "set together") {
		t.Errorf("got %v, want an error that asks for both", err)
	}
}

func config(t *testing.T, endpoint string) Config {
	t.Helper()
	guard, err := publicnet.New(publicnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Config{URL: "s3://files?endpoint=" + endpoint, AccessKeyID: "id", SecretAccessKey: "secret", Guard: guard}
}

// refuse answers as stores do.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>said the store</Message><Region>mars-1</Region></Error>", code)
}
