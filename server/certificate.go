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

// certificateCheck is how long a certificate is served before its files are looked at again, when
// a connection is made. Other programs renew certificates: they rename, link or write the files.
const certificateCheck = time.Second

// CertificateConfig says which certificate to serve; all are required.
type CertificateConfig struct {
	// CertFile is the chain, KeyFile the private key, in PEM.
	CertFile, KeyFile string
	Log               *slog.Logger
	Now               func() time.Time
}

// Certificate is a certificate and key that are read again when their files change. A pair that
// does not match or cannot be read is logged once, and the current pair is kept: renewals write
// the two files one after the other. Safe for concurrent use.
type Certificate struct {
	config  CertificateConfig
	current atomic.Pointer[tls.Certificate]

	// reading guards what follows.
	reading sync.Mutex
	checked time.Time
	// seen is the hash of the content that was tried last, valid or not.
	seen [sha256.Size]byte
}

// LoadCertificate reads the files for the first time. Error: they hold no valid pair.
func LoadCertificate(config CertificateConfig) (*Certificate, error) {
	c := &Certificate{config: config}
	if _, err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// Get implements tls.Config.GetCertificate.
func (c *Certificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.reading.TryLock() { // only one connection reads; the others use the current pair
		due := c.config.Now().Sub(c.checked) >= certificateCheck
		if due {
			c.refresh(hello.Context())
		}
		c.reading.Unlock()
	}
	return c.current.Load(), nil
}

// Reload reads the files now, as after SIGHUP.
func (c *Certificate) Reload(ctx context.Context) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.seen = [sha256.Size]byte{} // what is wrong is logged again
	c.refresh(ctx)
}

func (c *Certificate) refresh(ctx context.Context) {
	changed, err := c.read()
	switch {
	case err != nil && changed:
		c.config.Log.ErrorContext(ctx, "new TLS certificate is not valid, the old one is kept", telemetry.KeyError, err)
	case changed:
		leaf := c.current.Load().Leaf
		c.config.Log.InfoContext(ctx, "TLS certificate read", "not_after", leaf.NotAfter, "names", leaf.DNSNames)
	}
}

// read loads the pair that is in the files, unless the same content has been tried.
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
