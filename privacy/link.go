package privacy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/idgen"
	"parlance.dev/parlance/platform/postgres"
)

// DownloadPath is where files are read: DownloadPath + the id of the request.
const DownloadPath = "/downloads/exports/"

// Links makes and checks the URLs of files, which are read without a key.
type Links struct {
	// PublicURL is where callers reach the service.
	PublicURL string
	// Key authenticates the URLs.
	Key []byte
}

// URL returns the URL of the file of a request until it expires.
func (l Links) URL(id ID, expires time.Time) string {
	query := url.Values{"expires": {strconv.FormatInt(expires.Unix(), 10)}, "signature": {l.sign(id, expires.Unix())}}
	return l.PublicURL + DownloadPath + string(id) + "?" + query.Encode()
}

func (l Links) sign(id ID, expires int64) string {
	mac := hmac.New(sha256.New, l.Key)
	_, _ = fmt.Fprintf(mac, "%s\n%d", id, expires) // a hash returns no error
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// DownloadURL returns the URL of the file of a request; empty when there is none to read.
func (s *Service) DownloadURL(r Request) string {
	if !r.readable(s.Now()) {
		return ""
	}
	return s.Links.URL(r.ID, r.ExpiresAt)
}

// File is the file of an export.
type File struct {
	// Name is the name to store it under.
	Name      string
	SizeBytes int64
	SHA256    string
	Content   io.ReadCloser
}

// Open returns the file that a URL names by its id and query. The caller closes it.
// Errors: NotFound for a URL that was not made here, has expired, or whose file was deleted.
func (s *Service) Open(ctx context.Context, id ID, query url.Values) (File, error) {
	gone := fault.New(fault.ResourceNotFound,
		"The link is not complete, has expired, or its file was deleted. GET the privacy request for a new one, or make another request.")
	expires, err := strconv.ParseInt(query.Get("expires"), 10, 64)
	signed := hmac.Equal([]byte(query.Get("signature")), []byte(s.Links.sign(id, expires)))
	if err != nil || !signed || !idgen.Valid(idgen.DSAR, string(id)) || s.Now().Unix() >= expires {
		return File{}, gone
	}
	var request Request
	err = s.DB.NewSelect().Model(&request).Comment(postgres.AllTenants("the signed URL names the request")).Where("p.id = ?", id).Scan(ctx)
	if postgres.NoRows(err) || err == nil && !request.readable(s.Now()) {
		return File{}, gone
	}
	if err != nil {
		return File{}, fmt.Errorf("read privacy request: %w", err)
	}
	content, err := s.Bucket.Get(ctx, request.FileKey)
	if err != nil {
		return File{}, fmt.Errorf("open an export: %w", err)
	}
	return File{Name: string(id) + ".zip", SizeBytes: request.SizeBytes, SHA256: request.SHA256, Content: content}, nil
}
