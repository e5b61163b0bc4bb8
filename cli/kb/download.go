package kb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/cli/term"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

func newDownload() *cobra.Command {
	var output string
	var force bool
	cmd := &cobra.Command{
		Use: "download SOURCE", Short: "Get the stored file back", Args: command.ExactArgs("SOURCE"),
		Long: `Writes the stored bytes of a source into a file of its name in the current folder, or where
--output says; - is the standard output. A file that exists is left alone unless --force is given.`,
		Example: `  parlance kb download handbook.pdf
  parlance kb download src_01j… -o - | pdftotext - -`,
		RunE: withKB(func(ctx context.Context, k *kb, args []string) error {
			source, err := k.source(ctx, args[0])
			if err != nil {
				return err
			}
			if output == "-" {
				return k.fetch(ctx, source, k.Screen.Out)
			}
			return k.download(ctx, source, output, force)
		}),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write; - is the standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return cmd
}

// download writes a source into a temporary file and renames it when it is complete.
func (k *kb) download(ctx context.Context, source *parlancev1.Source, path string, force bool) (err error) {
	if path == "" {
		path = fileName(source.GetName())
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		path = filepath.Join(path, fileName(source.GetName()))
	}
	if _, statErr := os.Lstat(path); !force && !errors.Is(statErr, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: give --force to replace it, or another --output", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".parlance-download-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the file is incomplete
		}
	}()
	err = k.fetch(ctx, source, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	k.Screen.Line("%s  %s", term.Clean(path), term.Bytes(float64(source.GetSizeBytes())))
	return nil
}

// fetch copies the bytes of a source.
func (k *kb) fetch(ctx context.Context, source *parlancev1.Source, to io.Writer) error {
	stream, err := k.knowledge.DownloadSource(ctx, &parlancev1.DownloadSourceRequest{WorkspaceId: k.WorkspaceID, SourceId: source.GetId()})
	if err != nil {
		return k.Explain("download "+source.GetName(), err)
	}
	defer func() { _ = stream.Close() }() // the stream has ended
	for stream.Receive() {
		if _, err := to.Write(stream.Msg().GetData()); err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return k.Explain("download "+source.GetName(), err)
	}
	return nil
}

// fileName makes a file name of a source's name, which anybody may have chosen: the last part of a
// path, without characters that are special to a file system or shell.
func fileName(name string) string {
	name = strings.ReplaceAll(term.Clean(name), `\`, "/")
	if !strings.Contains(name, "://") { // a page has its address in its name
		name = name[strings.LastIndex(name, "/")+1:]
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/:*?"<>|`, r) || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, name)
	name = strings.Trim(name, " .")
	if name == "" {
		return "source"
	}
	return name
}
