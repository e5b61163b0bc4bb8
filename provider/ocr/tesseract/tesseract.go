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
	// large has room for one large picture.
	large *semaphore.Weighted
}

// LanguageError says which languages have no data here.
type LanguageError struct {
	Missing, Installed []string
}

// Error says what to install.
func (e *LanguageError) Error() string {
	packages := make([]string, len(e.Missing))
	for i, language := range e.Missing {
		packages[i] = "tesseract-ocr-" + strings.ReplaceAll(strings.ToLower(language), "_", "-")
	}
	return fmt.Sprintf("tesseract has no data for %s (it has %s): install %s on Debian and Ubuntu, tesseract-lang with Homebrew, or name "+
		"another language",
		strings.Join(e.Missing, ", "), strings.Join(e.Installed, ", "), strings.Join(packages, " "))
}

var (
	versionPattern  = regexp.MustCompile(`\d+\.\d+[\w.\-]*`)
	languagePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(/[A-Za-z0-9_]+)?$`)
)

// ParseLanguages splits a list like "eng,deu" or "eng+deu".
func ParseLanguages(list string) ([]string, error) {
	var languages []string
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '+' || r == ' ' }) {
		if !languagePattern.MatchString(name) {
			return nil, fmt.Errorf("%q is not the name of a language of tesseract, such as eng or chi_sim", name)
		}
		if !slices.Contains(languages, name) {
			languages = append(languages, name)
		}
	}
	return languages, nil
}

// New asks the program for its version and languages.
// Errors: *LanguageError; sandbox.NotStarted when the program is not installed.
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
	if text, err = r.ask(ctx, "--list-langs"); err != nil {
		return nil, err
	}
	installed := strings.Split(strings.TrimSpace(text), "\n")[1:] // the first line says what they are
	missing := slices.DeleteFunc(slices.Clone(r.languages), func(name string) bool { return slices.Contains(installed, name) })
	if len(missing) > 0 {
		return nil, &LanguageError{Missing: missing, Installed: installed}
	}
	return r, nil
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
func (r *Reader) Name() string {
	return strings.TrimSpace(program + " " + r.version + " " + strings.Join(r.languages, "+"))
}

// Read implements ocr.Reader.
func (r *Reader) Read(ctx context.Context, picture io.Reader) (text ocr.Text, err error) {
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
	if err := box.Run(ctx, command(size, r.languages, &table)); err != nil {
		return ocr.Text{}, faultOf(err)
	}
	return table.end(), nil
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

func command(size image.Config, languages []string, to io.Writer) sandbox.Command {
	pixels := size.Width * size.Height
	seconds := baseCPUSeconds + pixels/pixelsPerSecond
	return sandbox.Command{
		Program: program,
		Args:    []string{fileName, "-", "-l", strings.Join(languages, "+"), "--psm", "1", "-c", "tessedit_create_tsv=1"},
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
	fault := &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is damaged: it could not be decoded.", Cause: end}
	switch end.Kind {
	case sandbox.TimeLimit:
		fault.Kind, fault.Message = ocr.Timeout, "Reading the text in the picture took too long."
	case sandbox.CPULimit, sandbox.MemoryLimit, sandbox.OutputLimit:
		fault.Kind, fault.Message = ocr.TooComplex, "Reading the text in the picture needed more than one picture may."
	}
	return fault
}
