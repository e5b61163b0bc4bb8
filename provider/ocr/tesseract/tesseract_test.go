package tesseract_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/ocr/tesseract"
)

// letter has a heading, two paragraphs and a table.
var letter = write(26, 40, 530, "Opening hours") +
	write(12, 40, 480, "The library is open on working days from nine", "to seven. It is closed on Sundays.") +
	write(12, 40, 410, "Books may be kept for four weeks and renewed", "twice unless somebody waits for them.") +
	write(12, 40, 330, "Monday") + write(12, 240, 330, "closed") +
	write(12, 40, 310, "Tuesday") + write(12, 240, 310, "evening")

func TestRead(t *testing.T) {
	t.Parallel()
	reader := newReader(t, tesseract.Options{})
	if name := reader.Name(nil); !strings.HasPrefix(name, "tesseract ") || !strings.HasSuffix(name, " eng") {
		t.Errorf("name %q", name)
	}
	for _, row := range []struct {
		name, format string
		degrees      int
	}{{"png", "png", 0}, {"jpeg", "jpeg", 0}, {"webp", "webp", 0}, {"on its side", "png", 90}, {"on its head", "jpeg", 180}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := reader.Read(t.Context(), bytes.NewReader(picture(t, row.format, letter, row.degrees)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if wide := got.WidthPixels > got.HeightPixels; got.WidthPixels*got.HeightPixels != 875*1240 || wide != (row.degrees == 90) {
				t.Errorf("%d × %d pixels", got.WidthPixels, got.HeightPixels)
			}
			var all []string
			for _, p := range got.Paragraphs {
				all = append(all, strings.Split(p.Text, "\n")...)
				if p.LineHeight < 10 {
					t.Errorf("height %v of %q", p.LineHeight, p.Text)
				}
			}
			want := []string{
				"Opening hours",
				"The library is open on working days from nine", "to seven. It is closed on Sundays.",
				"Books may be kept for four weeks and renewed", "twice unless somebody waits for them.",
			}
			if diff := cmp.Diff(want, all[:min(len(want), len(all))]); diff != "" {
				t.Error(diff)
			}
			for _, word := range []string{"Monday", "closed", "Tuesday", "evening"} {
				if !strings.Contains(strings.Join(all[min(len(want), len(all)):], "\n"), word) {
					t.Errorf("%q is missing in %q", word, all)
				}
			}
			if table := strings.Join(all, "\n"); row.degrees == 0 && !strings.Contains(table, "Monday\tclosed\nTuesday\tevening") {
				t.Errorf("the cells are not apart: %q", table)
			}
			if len(got.Paragraphs) < 3 || got.Paragraphs[0].LineHeight < 1.5*got.Paragraphs[1].LineHeight {
				t.Errorf("the heading does not stand out: %+v", got.Paragraphs)
			}
		})
	}
}

// TestLayers: each layer shows the program what it needs.
func TestLayers(t *testing.T) {
	t.Parallel()
	data := picture(t, "webp", letter, 0)
	for _, layer := range []string{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.OwnUser, sandbox.Landlock, sandbox.LimitsOnly} {
		s, err := sandbox.New(t.Context(), sandbox.Options{Layers: []string{layer}})
		if err != nil {
			t.Logf("not here: %v", err)
			continue
		}
		text, err := newReader(t, tesseract.Options{Sandbox: s}).Read(t.Context(), bytes.NewReader(data), nil)
		if err != nil || len(text.Paragraphs) == 0 || text.Paragraphs[0].Text != "Opening hours" {
			t.Errorf("%s: %+v, %v", layer, text, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadNothing(t *testing.T) {
	t.Parallel()
	got, err := newReader(t, tesseract.Options{}).Read(t.Context(), bytes.NewReader(picture(t, "png", "", 0)), nil)
	if err != nil || len(got.Paragraphs) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestFaults has a row for each way a picture can be wrong.
func TestFaults(t *testing.T) {
	t.Parallel()
	reader := newReader(t, tesseract.Options{})
	good := picture(t, "png", letter, 0)
	jpeg := picture(t, "jpeg", letter, 0)
	webp := picture(t, "webp", letter, 0)
	for name, row := range map[string]struct {
		data []byte
		want ocr.FaultKind
	}{
		"empty":                 {nil, ocr.Corrupt},
		"a list of files":       {[]byte("/etc/passwd\n/etc/hosts\n"), ocr.Corrupt},
		"a TIFF":                {[]byte("II*\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ocr.Corrupt},
		"PNG, header only":      {good[:30], ocr.Corrupt},
		"PNG, 50,000 × 50,000":  {pngOf(50_000, 50_000, good), ocr.TooLarge},
		"PNG, 40,000 × 10":      {pngOf(40_000, 10, good), ocr.TooLarge},
		"PNG, 2³² - 1 wide":     {pngOf(1<<32-1, 1, good), ocr.Corrupt},
		"PNG, no width":         {pngOf(0, 10, good), ocr.Corrupt},
		"PNG, other chunk":      {append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIDAT"), good[16:]...), ocr.Corrupt},
		"JPEG, three bytes":     {jpeg[:3], ocr.Corrupt},
		"JPEG, no frame":        {[]byte("\xff\xd8\xff\xda\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ocr.Corrupt},
		"JPEG, 60,000 × 60,000": {jpegOf(60_000, 60_000), ocr.TooLarge},
		"JPEG, header only":     {jpegOf(100, 100), ocr.Corrupt},
		"WEBP, twenty bytes":    {webp[:20], ocr.Corrupt},
		"WEBP, header only":     {webp[:40], ocr.Corrupt},
		"WEBP, unknown chunk":   {append([]byte("RIFF\x20\x00\x00\x00WEBPNONE"), webp[16:]...), ocr.Corrupt},
		"WEBP, huge canvas":     {[]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x9c\x00\xff\x9c\x00"), ocr.TooLarge},
		"WEBP, animated":        {[]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x09\x00\x00\x09\x00\x00"), ocr.Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := reader.Read(t.Context(), bytes.NewReader(row.data), nil)
			fault, ok := errors.AsType[*ocr.Fault](err)
			if !ok || fault.Kind != row.want || fault.Message == "" {
				t.Errorf("got %+v, %v", text, err)
			}
		})
	}
}

// pngOf is a PNG with the sizes that its header claims.
func pngOf(width, height uint32, from []byte) []byte {
	out := bytes.Clone(from)
	binary.BigEndian.PutUint32(out[16:], width)
	binary.BigEndian.PutUint32(out[20:], height)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

func jpegOf(width, height uint16) []byte {
	out := []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xff\xc0\x00\x0b\x08")
	out = binary.BigEndian.AppendUint16(out, height)
	out = binary.BigEndian.AppendUint16(out, width)
	return append(out, "\x01\x01\x11\x00\xff\xd9"...)
}

// TestLyingHeaders: what decodes to another size than the header says costs what the header says.
func TestLyingHeaders(t *testing.T) {
	t.Parallel()
	reader := newReader(t, tesseract.Options{})
	good := picture(t, "png", letter, 0)
	for _, lie := range [][2]uint32{{1, 1}, {9_000, 11_000}, {32_000, 3_000}} {
		text, err := reader.Read(t.Context(), bytes.NewReader(pngOf(lie[0], lie[1], good)), nil)
		if fault, ok := errors.AsType[*ocr.Fault](err); err != nil && !ok {
			t.Errorf("%v: %v", lie, err)
		} else if ok {
			t.Logf("%v: %s", lie, fault.Kind)
		} else if len(text.Paragraphs) > 0 {
			t.Errorf("%v: read %+v", lie, text.Paragraphs)
		}
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	newReader(t, tesseract.Options{})
	_, err := tesseract.New(t.Context(), tesseract.Options{Sandbox: newSandbox(t), Languages: []string{"eng", "tlh_klingon"}})
	missing, ok := errors.AsType[*ocr.LanguageError](err)
	if !ok || len(missing.Missing) != 1 || !strings.Contains(err.Error(), "tesseract-ocr-tlh-klingon") ||
		!strings.Contains(err.Error(), "eng") {
		t.Errorf("got %v", err)
	}
}

// TestReadInLanguages reads the letter in a language that it is not in, and in one that is missing.
func TestReadInLanguages(t *testing.T) {
	t.Parallel()
	reader := newReader(t, tesseract.Options{})
	if installed, err := reader.Installed(t.Context()); err != nil || !slices.Contains(installed, "eng") {
		t.Fatalf("installed are %q, %v", installed, err)
	}
	if name := reader.Name([]string{"osd", "eng"}); !strings.HasSuffix(name, " osd+eng") {
		t.Errorf("name %q", name)
	}
	data := picture(t, "png", letter, 0)
	english, err := reader.Read(t.Context(), bytes.NewReader(data), []string{"eng"})
	if err != nil || english.Confidence < 90 || english.Confidence > 100 || english.Script != "" {
		t.Errorf("in English: %v of 100, script %q, %v", english.Confidence, english.Script, err)
	}
	// osd has the letters of all scripts and the words of no language.
	other, err := reader.Read(t.Context(), bytes.NewReader(data), []string{"osd"})
	if err != nil || cmp.Equal(english.Paragraphs, other.Paragraphs) || other.Confidence > english.Confidence-10 {
		t.Errorf("in another language: %v of 100, %v: %v", other.Confidence, err, other.Paragraphs)
	}
	_, err = reader.Read(t.Context(), bytes.NewReader(data), []string{"eng", "tlh_klingon"})
	fault, ok := errors.AsType[*ocr.Fault](err)
	if !ok || fault.Kind != ocr.Unsupported || !strings.Contains(fault.Message, "install tesseract-ocr-tlh-klingon") {
		t.Errorf("in a missing language: %v", err)
	}
	if _, ok := errors.AsType[*ocr.LanguageError](err); !ok {
		t.Errorf("in a missing language: %v", err)
	}
}

// TestLowConfidence: letters that are mirrored are those of no script that the reader knows.
func TestLowConfidence(t *testing.T) {
	t.Parallel()
	mirrored := "q -1 0 0 1 420 0 cm\n" + letter + "Q\n"
	got, err := newReader(t, tesseract.Options{}).Read(t.Context(), bytes.NewReader(picture(t, "png", mirrored, 0)), nil)
	if err != nil || len(got.Paragraphs) == 0 || got.Confidence >= ocr.LowConfidence || got.Confidence <= 0 {
		t.Errorf("%v of 100, %v: %v", got.Confidence, err, got.Paragraphs)
	}
}

// TestOurFaults are no faults of the picture: it may be read later.
func TestOurFaults(t *testing.T) {
	t.Parallel()
	reader := newReader(t, tesseract.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := reader.Read(ctx, bytes.NewReader(picture(t, "png", letter, 0)), nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	gone := errors.New("the bucket is away")
	_, err = reader.Read(t.Context(), io.MultiReader(strings.NewReader("\x89PNG"), failing{gone}), nil)
	if _, fault := errors.AsType[*ocr.Fault](err); fault || !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if got := sandbox.KindOf(sandboxError(t)); !got.Ours() {
		t.Errorf("a missing program is %q", got)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func sandboxError(t *testing.T) error {
	t.Helper()
	box, err := newSandbox(t).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	return box.Run(t.Context(), sandbox.Command{Program: "no-such-tesseract"})
}
