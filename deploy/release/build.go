package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// beside are the files that an archive contains next to the program.
var beside = []string{
	"LICENSE", "README.md", "CHANGELOG.md", "docs/deployment.md", "docs/operations.md", "docs/configuration.md",
	"docs/security.md", "docs/observability.md", "docs/clients.md", "deploy/caddy", "deploy/nginx", "deploy/systemd",
}

// programs builds the program for each platform, with its archive and bill of materials.
func (r release) programs(ctx context.Context) error {
	for _, p := range r.platforms {
		fmt.Fprintf(os.Stderr, "building %s …\n", p)
		if err := r.build(ctx, p); err != nil {
			return err
		}
		if err := errors.Join(r.archive(p), r.bill(p)); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// binary is the path of the program for a platform.
func (r release) binary(p platform) string {
	return filepath.Join(r.dist, "bin", r.name(p), "parlance")
}

// build runs the same command as the Dockerfile.
func (r release) build(ctx context.Context, p platform) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "timetzdata",
		"-ldflags", "-s -w -X parlance.dev/parlance/cli.version="+r.version+" -X parlance.dev/parlance/cli.revision="+r.commit,
		"-o", r.binary(p), "./cmd/parlance")
	command.Dir = r.root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("building for %s: %w", p, err)
	}
	return nil
}

// archive packs the program, the files of beside, and the protos.
func (r release) archive(p platform) (err error) {
	file, err := os.Create(filepath.Join(r.dist, r.name(p)+".tar.gz"))
	if err != nil {
		return fmt.Errorf("making the archive: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	packed := gzip.NewWriter(file)
	entries := tar.NewWriter(packed)
	add := func(from, to string) error { return r.add(entries, from, r.name(p)+"/"+to) }
	if err := add(r.binary(p), "parlance"); err != nil {
		return err
	}
	folder := func(path, root string) error {
		files, err := filesBelow(path)
		if err != nil {
			return err
		}
		for _, from := range files {
			to, err := filepath.Rel(root, from)
			if err != nil {
				return fmt.Errorf("naming %s: %w", from, err)
			}
			if err := add(from, filepath.ToSlash(to)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, path := range beside {
		if err := folder(filepath.Join(r.root, path), r.root); err != nil {
			return err
		}
	}
	if err := folder(r.protoFolder(), filepath.Dir(r.protoFolder())); err != nil {
		return err
	}
	return errors.Join(entries.Close(), packed.Close())
}

// add writes one file with the time of the commit and no owner.
func (r release) add(entries *tar.Writer, from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("packing: %w", err)
	}
	mode := int64(0o644)
	if strings.HasSuffix(to, "/parlance") || strings.HasSuffix(to, ".sh") {
		mode = 0o755
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: to, Mode: mode, Size: int64(len(content)), ModTime: r.date, Format: tar.FormatUSTAR}
	if err := entries.WriteHeader(header); err != nil {
		return fmt.Errorf("packing %s: %w", to, err)
	}
	if _, err := entries.Write(content); err != nil {
		return fmt.Errorf("packing %s: %w", to, err)
	}
	return nil
}

// filesBelow lists a file, or the files in a directory, in order.
func filesBelow(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, at)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", path, err)
	}
	slices.Sort(files)
	return files, nil
}

// sums writes SHA256SUMS, and removes temporary files.
func (r release) sums(context.Context) error {
	if err := os.RemoveAll(filepath.Join(r.dist, "bin")); err != nil {
		return fmt.Errorf("removing the unpacked programs: %w", err)
	}
	files, err := filesBelow(r.dist)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, path := range files {
		size, sum, err := measure(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.dist, path)
		if err != nil {
			return fmt.Errorf("naming %s: %w", path, err)
		}
		fmt.Fprintf(&lines, "%x  %s\n", sum, filepath.ToSlash(name))
		fmt.Printf("%6.1f MiB  %s\n", float64(size)/(1<<20), path)
	}
	path := filepath.Join(r.dist, "SHA256SUMS")
	if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil { //nolint:gosec // a file to hand out
		return fmt.Errorf("writing the sums: %w", err)
	}
	return nil
}

func measure(path string) (size int64, sum []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, nil, fmt.Errorf("summing: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	if size, err = io.Copy(hash, file); err != nil {
		return 0, nil, fmt.Errorf("summing %s: %w", path, err)
	}
	return size, hash.Sum(nil), nil
}
