package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// protoFolder is where protos leaves the folder that every archive contains.
func (r release) protoFolder() string { return filepath.Join(r.dist, "bin", "proto") }

// protos makes a folder from which clients can be generated without this repository: the contract,
// the protos that it imports, and the buf.yaml of a module.
func (r release) protos(ctx context.Context) error {
	folder := r.protoFolder()
	command := exec.CommandContext(ctx, "go", "run", "./proto/gendeps", folder) //nolint:gosec // a path of ours
	command.Dir = r.root
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("printing the imported protos: %w", err)
	}
	ours := filepath.Join(r.root, "proto", "parlance")
	if err := os.CopyFS(filepath.Join(folder, "parlance"), os.DirFS(ours)); err != nil {
		return fmt.Errorf("copying the protos: %w", err)
	}
	module, err := os.ReadFile(filepath.Join(r.root, "deploy", "release", "buf.yaml"))
	if err != nil {
		return fmt.Errorf("reading buf.yaml: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "buf.yaml"), module, 0o644); err != nil { //nolint:gosec // a file to hand out
		return fmt.Errorf("writing buf.yaml: %w", err)
	}
	return nil
}
