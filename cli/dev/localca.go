package dev

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	localCALife   = 10 * 365 * 24 * time.Hour
	localCertLife = 365 * 24 * time.Hour
	// localCertLeft is the remaining life at which a certificate is replaced.
	localCertLeft = 30 * 24 * time.Hour
)

// localCA is the certificate authority of one data directory, and its certificate for localhost.
// The key of the authority never leaves the directory.
type localCA struct {
	// Clients trust CAFile. A server on localhost uses CertFile and KeyFile.
	CAFile, CertFile, KeyFile string
}

// openLocalCA finds or makes the authority and its certificate.
func openLocalCA(dir string, now time.Time) (localCA, error) {
	files := localCA{
		CAFile: filepath.Join(dir, "ca.pem"), CertFile: filepath.Join(dir, "localhost.pem"), KeyFile: filepath.Join(dir, "localhost-key.pem"),
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return files, err
	}
	keyFile := filepath.Join(dir, "ca-key.pem")
	authority, err := readPair(files.CAFile, keyFile)
	if err != nil || expires(authority.certificate, now) {
		if authority, err = makePair(caTemplate(now), nil); err != nil {
			return files, fmt.Errorf("make the local certificate authority: %w", err)
		}
		if err := authority.write(files.CAFile, keyFile); err != nil {
			return files, err
		}
	}
	leaf, err := readPair(files.CertFile, files.KeyFile)
	if err == nil && !expires(leaf.certificate, now) && leaf.certificate.CheckSignatureFrom(authority.certificate) == nil {
		return files, nil
	}
	if leaf, err = makePair(localhostTemplate(now), &authority); err != nil {
		return files, fmt.Errorf("make the certificate of localhost: %w", err)
	}
	return files, leaf.write(files.CertFile, files.KeyFile)
}

func expires(certificate *x509.Certificate, now time.Time) bool {
	return now.Add(localCertLeft).After(certificate.NotAfter)
}

func caTemplate(now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: "Parlance local CA", Organization: []string{"Parlance dev on this machine"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(localCALife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

func localhostTemplate(now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: "localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(localCertLife),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// pair is a certificate with its key.
type pair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// makePair makes a certificate that is signed by the authority, or by itself when authority is nil.
func makePair(template *x509.Certificate, authority *pair) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return pair{}, err
	}
	signer := pair{template, key}
	if authority != nil {
		signer = *authority
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.certificate, &key.PublicKey, signer.key)
	if err != nil {
		return pair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	return pair{certificate, key}, err
}

func readPair(certFile, keyFile string) (pair, error) {
	certificate, err := readPEM(certFile)
	if err != nil {
		return pair{}, err
	}
	key, err := readPEM(keyFile)
	if err != nil {
		return pair{}, err
	}
	var p pair
	if p.certificate, err = x509.ParseCertificate(certificate); err != nil {
		return pair{}, err
	}
	p.key, err = x509.ParseECPrivateKey(key)
	return p, err
}

func readPEM(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", path)
	}
	return block.Bytes, nil
}

func (p pair) write(certFile, keyFile string) error {
	key, err := x509.MarshalECPrivateKey(p.key)
	if err != nil {
		return err
	}
	if err := writePrivate(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key})); err != nil {
		return err
	}
	return writePrivate(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw}))
}

// writePrivate replaces a file atomically. Its mode is 0600.
func writePrivate(path string, content []byte) error {
	temporary := path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// egressCAFile writes a file with the local authority and those of the operator, which becomes
// PARLANCE_EGRESS_CA_FILE of `parlance dev`. Tools and webhooks may then have certificates of the
// local authority.
func (l localCA) egressCAFile(operators string) (string, error) {
	content, err := os.ReadFile(l.CAFile)
	if err != nil {
		return "", err
	}
	if operators != "" {
		more, err := os.ReadFile(operators)
		if err != nil {
			return "", fmt.Errorf("read PARLANCE_EGRESS_CA_FILE: %w", err)
		}
		content = append(append(content, '\n'), more...)
	}
	path := filepath.Join(filepath.Dir(l.CAFile), "egress.pem")
	return path, writePrivate(path, content)
}
