package tesseract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/ocr"
)

const program = "tesseract"

const (
	// maxBytes of a picture's file.
	maxBytes = 256 << 20
	// maxPixels is that of a page of A3 at 600 dots an inch, and a half more.
	maxPixels = 100_000_000
	// maxSide is what tesseract can count.
	maxSide = 32767
	// manyPixels are read one picture at a time: 11 bytes of memory for each pixel were seen.
	manyPixels = 25_000_000

	// A picture's memory and time: seen were 110 MB and 2.3 s for a full page of 3.5 million pixels,
	// 965 MB and 10 s for one of 93 million.
	baseMemoryBytes  = 512 << 20
	memoryPerPixel   = 24
	baseCPUSeconds   = 60
	pixelsPerSecond  = 500_000
	wallPerCPUSecond = 6 // other work on the same cores comes first
)

// Options of a Reader.
type Options struct {
	Sandbox *sandbox.Sandbox
	// Languages by tesseract's names; empty is English.
	Languages []string
}

// Reader implements ocr.Reader.
type Reader struct {
	sandbox   *sandbox.Sandbox
	version   string
	languages []string
	// installed are the languages at the start; there may be more by now.
	installed []string
	// large has room for one large picture.
	large *semaphore.Weighted
}

var versionPattern = regexp.MustCompile(`\d+\.\d+[\w.\-]*`)

// New asks the program for its version and languages.
// Errors: *ocr.LanguageError; sandbox.NotStarted when the program is not installed.
func New(ctx context.Context, o Options) (*Reader, error) {
	r := &Reader{sandbox: o.Sandbox, languages: o.Languages, large: semaphore.NewWeighted(1)}
	if len(r.languages) == 0 {
		r.languages = []string{"eng"}
	}
	text, err := r.ask(ctx, "--version")
	if err != nil {
		return nil, err
	}
	r.version = versionPattern.FindString(text)
	if r.installed, err = r.Installed(ctx); err != nil {
		return nil, err
	}
	if err := ocr.CheckInstalled(r.languages, r.installed); err != nil {
		return nil, err
	}
	return r, nil
}

// Installed implements ocr.Reader. It asks the program.
func (r *Reader) Installed(ctx context.Context) ([]string, error) {
	text, err := r.ask(ctx, "--list-langs")
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(text), "\n")[1:], nil // the first line says what they are
}

// ask runs the program for what it says about itself; old versions say it on stderr.
func (r *Reader) ask(ctx context.Context, question string) (string, error) {
	box, err := r.sandbox.Open(ctx)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = box.Run(ctx, sandbox.Command{Program: program, Args: []string{question}, Stdout: &out})
	return out.String(), errors.Join(err, box.Close())
}

// Name implements ocr.Reader.
func (r *Reader) Name(languages []string) string {
	return strings.TrimSpace(program + " " + r.version + " " + r.joined(languages))
}

// joined are the languages as the program takes them; none: the reader's own.
func (r *Reader) joined(languages []string) string {
	if len(languages) == 0 {
		languages = r.languages
	}
	return strings.Join(languages, "+")
}

// Read implements ocr.Reader.
func (r *Reader) Read(ctx context.Context, picture io.Reader, languages []string) (text ocr.Text, err error) {
	if err := r.check(ctx, languages); err != nil {
		return ocr.Text{}, err
	}
	box, err := r.sandbox.Open(ctx)
	if err != nil {
		return ocr.Text{}, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	size, err := put(ctx, box, picture)
	if err != nil {
		return ocr.Text{}, err
	}
	if size.Width*size.Height >= manyPixels {
		if err := r.large.Acquire(ctx, 1); err != nil {
			return ocr.Text{}, err
		}
		defer r.large.Release(1)
	}
	table := tsv{text: ocr.Text{WidthPixels: size.Width, HeightPixels: size.Height}}
	if err := box.Run(ctx, command(size, &table, "-l", r.joined(languages), "--psm", "1", "-c", "tessedit_create_tsv=1")); err != nil {
		return ocr.Text{}, faultOf(err)
	}
	text = table.end()
	if len(text.Paragraphs) > 0 && text.Confidence < ocr.LowConfidence && slices.Contains(r.installed, scriptData) {
		text.Script = scriptOf(ctx, box, size)
	}
	return text, ctx.Err()
}

// check makes sure that the languages are installed. Errors: *ocr.Fault, ours.
func (r *Reader) check(ctx context.Context, languages []string) error {
	if ocr.CheckInstalled(languages, r.installed) == nil {
		return nil
	}
	installed, err := r.Installed(ctx)
	if err != nil {
		return err
	}
	if missing, ok := errors.AsType[*ocr.LanguageError](ocr.CheckInstalled(languages, installed)); ok {
		return missing.Fault()
	}
	return nil
}

const fileName = "picture"

// put stores the picture in the box and reads its header.
func put(ctx context.Context, box *sandbox.Box, picture io.Reader) (image.Config, error) {
	err := box.Put(ctx, fileName, picture, maxBytes)
	if errors.Is(err, sandbox.ErrTooLarge) {
		return image.Config{}, &ocr.Fault{Kind: ocr.TooLarge, Message: fmt.Sprintf("The picture is larger than %d MiB.", maxBytes>>20)}
	}
	if err != nil {
		return image.Config{}, err
	}
	file, err := box.OpenFile(fileName)
	if err != nil {
		return image.Config{}, err
	}
	defer file.Close() //nolint:errcheck // read only
	return readHeader(file)
}

func command(size image.Config, to io.Writer, args ...string) sandbox.Command {
	pixels := size.Width * size.Height
	seconds := baseCPUSeconds + pixels/pixelsPerSecond
	return sandbox.Command{
		Program: program,
		Args:    append([]string{fileName, "-"}, args...),
		Env:     []string{"OMP_THREAD_LIMIT=1"},
		Stdout:  to, OutputBytes: 64 << 20, FileBytes: 1 << 20, Processes: 4,
		CPUSeconds:  seconds,
		WallTime:    time.Duration(seconds) * time.Second * wallPerCPUSecond,
		MemoryBytes: baseMemoryBytes + int64(pixels)*memoryPerPixel,
	}
}

// missingData is what tesseract says when its language data went away: no fault of the picture.
var missingData = regexp.MustCompile(`(?i)error opening data file|failed loading language|couldn't load any languages`)

// faultOf tells a fault of the picture from ours.
func faultOf(err error) error {
	end, ok := errors.AsType[*sandbox.Error](err)
	if !ok || end.Kind.Ours() || missingData.MatchString(end.Stderr) {
		return err
	}
	switch end.Kind {
	case sandbox.TimeLimit:
		return &ocr.Fault{Kind: ocr.Timeout, Message: "Reading the text in the picture took too long.", Cause: end}
	case sandbox.CPULimit, sandbox.MemoryLimit, sandbox.OutputLimit:
		return &ocr.Fault{Kind: ocr.TooComplex, Message: "Reading the text in the picture needed more than one picture may.", Cause: end}
	default:
		return &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is damaged: it could not be decoded.", Cause: end}
	}
}
