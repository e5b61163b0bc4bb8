package s3

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"

	"parlance.dev/parlance/provider/blob"
)

// Scheme is that of the URLs of these buckets.
const Scheme = "s3"

// defaultRegion is what stores without regions expect in a signature.
const defaultRegion = "us-east-1"

// address is the content of a bucket's URL.
type address struct {
	bucket string
	// prefix is empty or ends in a slash.
	prefix   string
	endpoint *url.URL
	region   string
}

// CheckURL returns an error that says how to correct a bucket's URL.
func CheckURL(bucketURL string) error {
	_, err := parse(bucketURL)
	return err
}

// parse reads s3://bucket/prefix?endpoint=https://host&region=name. Without an endpoint it is
// that of AWS in the region.
func parse(bucketURL string) (address, error) {
	u, err := url.Parse(bucketURL)
	if err != nil || u.Scheme != Scheme || u.Opaque != "" || u.Fragment != "" {
		return address{}, errors.New("must be a URL such as s3://bucket/prefix?endpoint=https://host:9000&region=us-east-1")
	}
	if u.User != nil {
		return address{}, errors.New("must not hold keys: they belong in PARLANCE_S3_ACCESS_KEY_ID and PARLANCE_S3_SECRET_ACCESS_KEY")
	}
	a := address{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	if err := s3utils.CheckValidBucketNameStrict(a.bucket); err != nil {
		return address{}, fmt.Errorf("names the bucket %q, which S3 does not allow: %w", a.bucket, err)
	}
	if a.prefix != "" {
		if err := blob.CheckKey(a.prefix); err != nil {
			return address{}, fmt.Errorf("has a prefix that cannot be used: %w", err)
		}
		a.prefix += "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, errors.New("has a part after ? that does not parse")
	}
	for name := range query {
		if !slices.Contains([]string{"endpoint", "region"}, name) {
			return address{}, fmt.Errorf("has the unknown parameter %q: endpoint and region are known", name)
		}
	}
	a.region = query.Get("region")
	return a, a.setEndpoint(query.Get("endpoint"))
}

// setEndpoint sets the endpoint, and the region if the endpoint implies one.
func (a *address) setEndpoint(endpoint string) error {
	if endpoint == "" {
		if a.region == "" {
			return errors.New("names neither an endpoint nor a region: add ?region=eu-central-1 for AWS, or ?endpoint=https://host")
		}
		endpoint = "https://s3." + a.region + ".amazonaws.com"
		if strings.HasPrefix(a.region, "cn-") {
			endpoint += ".cn"
		}
	}
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("has an endpoint that is not https://host, https://host:port or the same with http")
	}
	a.endpoint = &url.URL{Scheme: u.Scheme, Host: u.Host}
	if a.region == "" {
		a.region = s3utils.GetRegionFromURL(*a.endpoint)
	}
	if a.region == "" {
		a.region = defaultRegion
	}
	return nil
}

// amazon reports whether the store is that of AWS.
func (a address) amazon() bool {
	host := a.endpoint.Hostname()
	return strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}

// dualStack reports whether the endpoint is one of AWS's that have IPv6 addresses too.
func (a address) dualStack() bool { return strings.Contains(a.endpoint.Hostname(), ".dualstack.") }

// hosts lists the URLs that the client calls: the endpoint, and the host that has the bucket's name
// in it, as some stores want.
func (a address) hosts() []string {
	return []string{a.endpoint.String(), a.endpoint.Scheme + "://" + a.bucket + "." + a.endpoint.Host}
}
