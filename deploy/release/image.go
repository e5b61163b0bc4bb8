package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the account of the image's processes, as in the Dockerfile.
const nobody = 65532

// authorities is where Linux systems keep the certificates that the image includes.
const authorities = "/etc/ssl/certs/ca-certificates.crt"

// images makes the image for each Linux that was built, as one layout and as files for docker load.
func (r release) images(context.Context) error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	made := 0
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return fmt.Errorf("image for %s: %w", p, err)
		}
		tag, err := name.NewTag("parlance:" + r.version)
		if err != nil {
			return fmt.Errorf("naming the image: %w", err)
		}
		file := filepath.Join(r.dist, fmt.Sprintf("parlance_%s_image_%s.tar", r.version, p.arch))
		if err := tarball.WriteToFile(file, tag, image); err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
		made++
	}
	if made == 0 {
		return nil
	}
	dir := filepath.Join(r.dist, "bin", "image")
	if _, err := layout.Write(dir, index); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	return r.pack(dir, filepath.Join(r.dist, fmt.Sprintf("parlance_%s_image.tar", r.version)))
}

// pack puts a directory's files into a tar.
func (r release) pack(dir, to string) (err error) {
	file, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("packing the image: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	entries := tar.NewWriter(file)
	files, err := filesBelow(dir)
	if err != nil {
		return err
	}
	for _, from := range files {
		at, err := filepath.Rel(dir, from)
		if err != nil {
			return fmt.Errorf("naming %s: %w", from, err)
		}
		if err := r.add(entries, from, filepath.ToSlash(at)); err != nil {
			return err
		}
	}
	return entries.Close()
}

// image is the Dockerfile's last stage for one platform.
func (r release) image(p platform) (v1.Image, error) {
	content, err := r.layer(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		return nil, fmt.Errorf("making the layer: %w", err)
	}
	image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer: layer, History: v1.History{Author: "parlance", CreatedBy: "deploy/release", Created: v1.Time{Time: r.date}},
	})
	if err != nil {
		return nil, fmt.Errorf("adding the layer: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = p.os, p.arch, v1.Time{Time: r.date}
	file.Config = v1.Config{
		Entrypoint: []string{"/usr/local/bin/parlance"}, Cmd: []string{"server"},
		Env: []string{
			"PATH=/usr/local/bin", "PARLANCE_LISTEN=:8080", "PARLANCE_BLOB_URL=file:///var/lib/parlance/blobs",
			"PARLANCE_LOG_FORMAT=json",
		},
		User:         fmt.Sprintf("%d:%d", nobody, nobody),
		Volumes:      map[string]struct{}{"/var/lib/parlance": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		StopSignal:   "SIGTERM",
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/local/bin/parlance", "health"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: 30 * time.Second, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "Parlance", "org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.description": "Runs conversational agents: tools, knowledge, sessions, signed webhooks",
			"org.opencontainers.image.version":     r.version, "org.opencontainers.image.revision": r.commit,
		},
	}
	if image, err = mutate.ConfigFile(image, file); err != nil {
		return nil, fmt.Errorf("setting the configuration: %w", err)
	}
	return image, nil
}

// layer is the root directory of the image as a tar.
func (r release) layer(p platform) ([]byte, error) {
	program, err := os.ReadFile(r.binary(p))
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	certificates, err := os.ReadFile(authorities)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authorities (Debian's package ca-certificates has them): %w", err)
	}
	var out bytes.Buffer
	entries := tar.NewWriter(&out)
	for _, e := range []struct {
		name    string
		mode    int64
		owner   int
		content []byte
	}{
		{"etc/", 0o755, 0, nil},
		{"etc/group", 0o644, 0, []byte("parlance:x:65532:\n")},
		{"etc/passwd", 0o644, 0, []byte("parlance:x:65532:65532:parlance:/var/lib/parlance:/nonexistent\n")},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, certificates},
		{"tmp/", 0o1777, 0, nil},
		{"usr/", 0o755, 0, nil},
		{"usr/local/", 0o755, 0, nil},
		{"usr/local/bin/", 0o755, 0, nil},
		{"usr/local/bin/parlance", 0o755, 0, program},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{"var/lib/parlance/", 0o700, nobody, nil},
		{"var/lib/parlance/blobs/", 0o700, nobody, nil},
	} {
		header := &tar.Header{
			Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.content)),
			ModTime: r.date, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if e.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := entries.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("writing %s: %w", e.name, err)
		}
		if _, err := entries.Write(e.content); err != nil {
			return nil, fmt.Errorf("writing %s: %w", e.name, err)
		}
	}
	if err := entries.Close(); err != nil {
		return nil, fmt.Errorf("ending the layer: %w", err)
	}
	return out.Bytes(), nil
}
