package server

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"parlance.dev/parlance/platform/telemetry"
)

// certificateCheck is how old what is known of the files may be when a connection is made: they are
// read again then. Certificates are renewed by other programs, which rename, link or write them.
const certificateCheck = time.Second

// CertificateConfig says which certificate to serve; all are required.
type CertificateConfig struct {
	// CertFile is the chain, KeyFile the private key, in PEM.
	CertFile, KeyFile string
	Log               *slog.Logger
	Now               func() time.Time
}

// Certificate is a certificate and key that are read again when their files change. A pair that
// does not fit or cannot be read is logged once, and the one before is kept: renewals write two
// files, one after the other. Safe for concurrent use.
type Certificate struct {
	config  CertificateConfig
	current atomic.Pointer[tls.Certificate]

	// What follows is the reader's.
	reading sync.Mutex
	checked time.Time
	// seen is of the content that was tried last, good or bad.
	seen [sha256.Size]byte
}

// LoadCertificate reads the files for the first time, when they must be right.
func LoadCertificate(config CertificateConfig) (*Certificate, error) {
	c := &Certificate{config: config}
	if _, err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// Get implements tls.Config.GetCertificate.
func (c *Certificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.reading.TryLock() { // while another connection looks, the others go on with what there is
		due := c.config.Now().Sub(c.checked) >= certificateCheck
		if due {
			c.refresh(hello.Context())
		}
		c.reading.Unlock()
	}
	return c.current.Load(), nil
}

// Reload reads the files at once, as after SIGHUP.
func (c *Certificate) Reload(ctx context.Context) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.seen = [sha256.Size]byte{} // say again what is wrong
	c.refresh(ctx)
}

func (c *Certificate) refresh(ctx context.Context) {
	changed, err := c.read()
	switch {
	case err != nil && changed:
		c.config.Log.ErrorContext(ctx, "new TLS certificate not taken, the old one is kept", telemetry.KeyError, err)
	case changed:
		leaf := c.current.Load().Leaf
		c.config.Log.InfoContext(ctx, "TLS certificate read", "not_after", leaf.NotAfter, "names", leaf.DNSNames)
	}
}

// read tries what is in the files, unless that has been tried.
func (c *Certificate) read() (changed bool, err error) {
	c.checked = c.config.Now()
	chain, certErr := os.ReadFile(c.config.CertFile)
	key, keyErr := os.ReadFile(c.config.KeyFile)
	err = errors.Join(certErr, keyErr)
	hash := sha256.New()
	for _, content := range [][]byte{chain, key, []byte(fmt.Sprint(err))} {
		fmt.Fprintf(hash, "%d\n", len(content))
		hash.Write(content)
	}
	sum := [sha256.Size]byte(hash.Sum(nil))
	if sum == c.seen {
		return false, nil
	}
	c.seen = sum
	if err != nil {
		return true, err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return true, fmt.Errorf("%s and %s: %w", c.config.CertFile, c.config.KeyFile, err)
	}
	c.current.Store(&pair)
	return true, nil
}
