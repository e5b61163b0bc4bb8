package poppler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strconv"
	"time"

	"parlance.dev/parlance/platform/sandbox"
	"parlance.dev/parlance/provider/ocr"
	"parlance.dev/parlance/provider/pdf"
)

const (
	// pictureSide is the longer side of a page's picture in pixels: 188 dots an inch on A4.
	pictureSide = 2200
	// minPictureSide: what is thinner holds no line of text, and pdftoppm makes it without a word
	// from pages of a wrong size.
	minPictureSide = 16
	// bareContrast is the least difference of shades, of 255, that text could have.
	bareContrast = 16
	// maxPictureBytes of a grey PNG of that size.
	maxPictureBytes = 32 << 20
)

// picture reads a page from its picture. A page that cannot be read so keeps what text it has, and
// its fault if it has none. Errors: ours.
func (r *reading) picture(ctx context.Context, page *pdf.Page) error {
	drawn, fault, err := r.draw(ctx, page.Number)
	if err != nil {
		return err
	}
	if fault == nil && drawn == nil { // nothing on it
		page.Recognized = true
		return nil
	}
	var text ocr.Text
	if fault == nil {
		text, err = r.options.OCR.Read(ctx, bytes.NewReader(drawn), r.options.OCRLanguages)
		var unread *ocr.Fault
		switch {
		case errors.As(err, &unread):
			fault = &pdf.Fault{Kind: pdf.FaultKind(unread.Kind), Message: "its picture cannot be read.", Cause: unread}
			if unread.Kind == ocr.Unsupported {
				fault.Message = unread.Message
			}
		case err != nil:
			return fmt.Errorf("read the picture of page %d: %w", page.Number, err)
		}
	}
	if fault != nil {
		if len(page.Blocks) == 0 {
			page.Fault = fault
		}
		return nil
	}
	page.Recognized = true
	blocks := blocksOfPicture(text, page.HeightPoints)
	if !r.options.ForceOCR && saysAsMuch(page.Blocks, blocks) {
		page.Confidence = 100
		return nil
	}
	page.Recognition = pdf.Recognition{Blocks: blocks, Confidence: text.Confidence, Script: text.Script}
	return nil
}

// saysAsMuch is whether the little text of a page is all that stands on its picture, or nearly:
// its letters are certain, those of the picture are guessed.
func saysAsMuch(layer, recognized []pdf.Block) bool {
	chars, broken := readability(layer)
	return chars > 0 && !isBroken(chars, broken) && 4*charsOf(recognized) <= 5*chars
}

// draw makes a grey PNG of a page; nil when nothing is on it. Errors: ours.
func (r *reading) draw(ctx context.Context, number int) ([]byte, *pdf.Fault, error) {
	if r.endless.Load() >= int64(r.deps.EndlessPages) {
		return nil, &pdf.Fault{Kind: pdf.TooComplex, Message: "it is not drawn any more after so many pages that take too long."}, nil
	}
	var out bytes.Buffer
	page := strconv.Itoa(number)
	err := r.box.Run(ctx, sandbox.Command{
		Program: "pdftoppm",
		Args:    []string{"-f", page, "-l", page, "-scale-to", strconv.Itoa(pictureSide), "-gray", "-png", file},
		Stdout:  &out, OutputBytes: maxPictureBytes, CPUSeconds: r.deps.PageCPUSeconds,
		WallTime: time.Duration(r.deps.PageCPUSeconds) * wallPerCPU * time.Second,
	})
	if err != nil {
		if fault, ok := errors.AsType[*pdf.Fault](faultOf(err)); ok {
			if fault.Kind == pdf.TooComplex || fault.Kind == pdf.Timeout {
				r.endless.Add(1)
			}
			return nil, &pdf.Fault{Kind: fault.Kind, Message: "it cannot be drawn.", Cause: err}, nil
		}
		return nil, nil, faultOf(err)
	}
	// The program may end well and have written no picture, or a wrong one.
	config, err := png.DecodeConfig(bytes.NewReader(out.Bytes()))
	if err == nil && (config.Width < minPictureSide || config.Height < minPictureSide || max(config.Width, config.Height) > pictureSide+1) {
		err = fmt.Errorf("a picture of %d × %d pixels", config.Width, config.Height)
	}
	var drawn image.Image
	if err == nil {
		drawn, err = png.Decode(bytes.NewReader(out.Bytes()))
	}
	if err != nil {
		return nil, &pdf.Fault{Kind: pdf.Corrupt, Message: "it cannot be drawn.", Cause: err}, nil
	}
	if isBare(drawn) {
		return nil, nil, nil
	}
	return out.Bytes(), nil, nil
}

// isBare says that a picture is of one shade. The grey pictures of some versions are in colours.
func isBare(drawn image.Image) bool {
	var pixels []byte
	channels := 4
	switch drawn := drawn.(type) {
	case *image.Gray:
		pixels, channels = drawn.Pix, 1
	case *image.RGBA:
		pixels = drawn.Pix
	case *image.NRGBA:
		pixels = drawn.Pix
	}
	if len(pixels) == 0 {
		return false
	}
	darkest, lightest := pixels[0], pixels[0]
	for i := 0; i < len(pixels); i += channels {
		darkest, lightest = min(darkest, pixels[i]), max(lightest, pixels[i])
	}
	return lightest-darkest < bareContrast
}

// blocksOfPicture gives what was read the places it has on the page.
func blocksOfPicture(text ocr.Text, heightPoints float64) []pdf.Block {
	scale := 1.0
	if heightPoints > 0 && text.HeightPixels > 0 {
		scale = heightPoints / float64(text.HeightPixels)
	}
	blocks := make([]pdf.Block, 0, len(text.Paragraphs))
	for _, p := range text.Paragraphs {
		blocks = append(blocks, pdf.Block{Text: p.Text, LinePoints: p.LineHeight * scale})
	}
	return blocks
}
