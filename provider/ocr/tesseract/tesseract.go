package tesseract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
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
	// Turn waits for one of as many turns as there are cores, and returns how to give it back; nil
	// is a line of the Reader's own. Large pictures are read one at a time besides.
	Turn func(ctx context.Context) (leave func(), err error)
}

// Reader implements ocr.Reader.
type Reader struct {
	sandbox   *sandbox.Sandbox
	version   string
	languages []string
	installed []string
	turn      func(ctx context.Context) (leave func(), err error)
	large     *semaphore.Weighted
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
	r := &Reader{sandbox: o.Sandbox, languages: o.Languages, turn: o.Turn, large: semaphore.NewWeighted(1)}
	if len(r.languages) == 0 {
		r.languages = []string{"eng"}
	}
	if r.turn == nil {
		r.turn = ownTurns()
	}
	text, err := r.ask(ctx, "--version")
	if err != nil {
		return nil, err
	}
	r.version = versionPattern.FindString(text)
	if text, err = r.ask(ctx, "--list-langs"); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	r.installed = lines[1:] // below a line that says what they are
	if err := r.check(r.languages); err != nil {
		return nil, err
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

func (r *Reader) check(languages []string) error {
	missing := slices.DeleteFunc(slices.Clone(languages), func(name string) bool { return slices.Contains(r.installed, name) })
	if len(missing) > 0 {
		return &LanguageError{Missing: missing, Installed: r.installed}
	}
	return nil
}

// Name implements ocr.Reader.
func (r *Reader) Name() string {
	return strings.TrimSpace(program + " " + r.version + " " + strings.Join(r.languages, "+"))
}

// Read implements ocr.Reader.
func (r *Reader) Read(ctx context.Context, image io.Reader, o ocr.Options) (text ocr.Text, err error) {
	languages := o.Languages
	if len(languages) == 0 {
		languages = r.languages
	}
	if err := r.check(languages); err != nil {
		return ocr.Text{}, err
	}
	box, err := r.sandbox.Open(ctx)
	if err != nil {
		return ocr.Text{}, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	size, err := put(ctx, box, image)
	if err != nil {
		return ocr.Text{}, err
	}
	leave, err := r.wait(ctx, size)
	if err != nil {
		return ocr.Text{}, err
	}
	defer leave()
	table := tsv{text: ocr.Text{WidthPixels: size.width, HeightPixels: size.height}}
	if err := box.Run(ctx, command(size, languages, &table)); err != nil {
		return ocr.Text{}, faultOf(err)
	}
	return table.end(), nil
}

// ownTurns is one line for all.
func ownTurns() func(context.Context) (func(), error) {
	turns := semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0)))
	return func(ctx context.Context) (func(), error) {
		if err := turns.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		return func() { turns.Release(1) }, nil
	}
}

// wait returns when it is the picture's turn. A large one waits for the one before it first, so
// that it holds no turn meanwhile.
func (r *Reader) wait(ctx context.Context, size header) (leave func(), err error) {
	if size.pixels() < manyPixels {
		return r.turn(ctx)
	}
	if err := r.large.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	giveBack, err := r.turn(ctx)
	if err != nil {
		r.large.Release(1)
		return nil, err
	}
	return func() { giveBack(); r.large.Release(1) }, nil
}

const fileName = "picture"

// put stores the picture in the box and reads its header.
func put(ctx context.Context, box *sandbox.Box, image io.Reader) (header, error) {
	err := box.Put(ctx, fileName, image, maxBytes)
	if errors.Is(err, sandbox.ErrTooLarge) {
		return header{}, &ocr.Fault{Kind: ocr.TooLarge, Message: fmt.Sprintf("The picture is larger than %d MiB.", maxBytes>>20)}
	}
	if err != nil {
		return header{}, err
	}
	file, err := box.OpenFile(fileName)
	if err != nil {
		return header{}, err
	}
	defer file.Close() //nolint:errcheck // read only
	return readHeader(file)
}

func command(size header, languages []string, to io.Writer) sandbox.Command {
	seconds := baseCPUSeconds + size.pixels()/pixelsPerSecond
	return sandbox.Command{
		Program: program,
		Args:    []string{fileName, "-", "-l", strings.Join(languages, "+"), "--psm", "1", "-c", "tessedit_create_tsv=1"},
		Env:     []string{"OMP_THREAD_LIMIT=1"},
		Stdout:  to, OutputBytes: 64 << 20, FileBytes: 1 << 20, Processes: 4,
		CPUSeconds:  seconds,
		WallTime:    time.Duration(seconds) * time.Second * wallPerCPUSecond,
		MemoryBytes: baseMemoryBytes + int64(size.pixels())*memoryPerPixel,
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
