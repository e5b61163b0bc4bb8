package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// modulePath is the module of this repository, which has the SDK for Go.
const modulePath = "parlance.dev/parlance"

// sdks makes what the clients of each language are handed out as.
func (r release) sdks(ctx context.Context) error {
	return errors.Join(r.npmPackage(ctx), r.goModule(ctx), r.pythonSource(ctx))
}

// npmPackage builds sdk/typescript as it is in the commit, under the release's version.
func (r release) npmPackage(ctx context.Context) error {
	folder := filepath.Join(r.dist, "bin", "npm")
	if err := r.checkOut(ctx, folder, "sdk/typescript", "gen/typescript"); err != nil {
		return err
	}
	sdk := filepath.Join(folder, "sdk", "typescript")
	for _, args := range [][]string{
		{"version", "--no-git-tag-version", "--allow-same-version", r.version},
		{"ci", "--no-audit", "--no-fund", "--loglevel=error"},
		{"pack", "--loglevel=error", "--pack-destination", r.dist},
	} {
		if _, err := output(ctx, sdk, "npm", args...); err != nil {
			return fmt.Errorf("packing the SDK for TypeScript: %w", err)
		}
	}
	return nil
}

// goModule makes the tree of a module proxy with this module, from which `go get` gets sdk/go.
// Source: https://go.dev/ref/mod#goproxy-protocol.
func (r release) goModule(ctx context.Context) error {
	folder := filepath.Join(r.dist, "goproxy", filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // files to hand out
		return fmt.Errorf("making the module proxy: %w", err)
	}
	source := filepath.Join(r.dist, "bin", "module")
	if err := r.checkOut(ctx, source); err != nil {
		return err
	}
	version := module.Version{Path: modulePath, Version: "v" + r.version}
	var packed bytes.Buffer
	if err := zip.CreateFromDir(&packed, version, source); err != nil {
		return fmt.Errorf("packing the Go module: %w", err)
	}
	gomod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return fmt.Errorf("reading go.mod: %w", err)
	}
	info, err := json.Marshal(map[string]string{"Version": version.Version, "Time": r.date.Format(time.RFC3339)})
	if err != nil {
		return fmt.Errorf("describing the Go module: %w", err)
	}
	for name, content := range map[string][]byte{
		"list": []byte(version.Version + "\n"), version.Version + ".info": info,
		version.Version + ".mod": gomod, version.Version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil { //nolint:gosec // a file to hand out
			return fmt.Errorf("writing the module proxy: %w", err)
		}
	}
	return nil
}

// pythonSource packs sdk/python as it is in the commit.
func (r release) pythonSource(ctx context.Context) (err error) {
	folder := filepath.Join(r.dist, "bin", "python")
	if err := r.checkOut(ctx, folder, "sdk/python"); err != nil {
		return err
	}
	name := "parlance-python-" + r.version
	file, err := os.Create(filepath.Join(r.dist, name+".tar.gz"))
	if err != nil {
		return fmt.Errorf("making the source archive: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	packed := gzip.NewWriter(file)
	entries := tar.NewWriter(packed)
	root := filepath.Join(folder, "sdk", "python")
	files, err := filesBelow(root)
	if err != nil {
		return err
	}
	for _, from := range files {
		to, err := filepath.Rel(root, from)
		if err != nil {
			return fmt.Errorf("naming %s: %w", from, err)
		}
		if err := r.add(entries, from, name+"/"+filepath.ToSlash(to)); err != nil {
			return err
		}
	}
	return errors.Join(entries.Close(), packed.Close())
}

// checkOut writes folders of the commit, or all of it, below to, so that what is not committed is
// not released.
func (r release) checkOut(ctx context.Context, to string, folders ...string) error {
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // files to hand out
		return fmt.Errorf("making %s: %w", to, err)
	}
	archive := exec.CommandContext(ctx, "git", append([]string{"archive", r.commit}, folders...)...) //nolint:gosec // paths of ours
	unpack := exec.CommandContext(ctx, "tar", "-x")
	archive.Dir, unpack.Dir = r.root, to
	var complaints strings.Builder
	archive.Stderr, unpack.Stderr = &complaints, &complaints
	content, err := archive.Output()
	if err != nil {
		return fmt.Errorf("reading the commit: %w\n%s", err, complaints.String())
	}
	unpack.Stdin = bytes.NewReader(content)
	if err := unpack.Run(); err != nil {
		return fmt.Errorf("unpacking the commit: %w\n%s", err, complaints.String())
	}
	return nil
}
