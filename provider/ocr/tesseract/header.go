package tesseract

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // registers the format
	_ "image/png"  // registers the format
	"io"

	_ "golang.org/x/image/webp" // registers the format

	"parlance.dev/parlance/provider/ocr"
)

// webpHeadBytes is the length of the beginning of a WEBP file that says whether it is animated.
const webpHeadBytes = 21

// readHeader reads the width and height of a picture without decoding it. Errors: *ocr.Fault.
func readHeader(r io.Reader) (image.Config, error) {
	in := bufio.NewReader(r)
	head, _ := in.Peek(webpHeadBytes) // a shorter file is no WEBP
	size, format, err := image.DecodeConfig(in)
	switch {
	case format == "":
		return size, &ocr.Fault{Kind: ocr.Corrupt, Message: "The file is not a PNG, JPEG or WEBP picture, or its header is damaged.", Cause: err}
	case err != nil:
		return size, &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is damaged: its header cannot be read.", Cause: err}
	case size.Width <= 0 || size.Height <= 0:
		return size, &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is damaged: its header says that it is empty."}
	case size.Width > maxSide || size.Height > maxSide || size.Width*size.Height > maxPixels:
		return size, &ocr.Fault{Kind: ocr.TooLarge, Message: fmt.Sprintf(
			"The picture has %d × %d pixels; at most %d million, and %d on a side, can be read.",
			size.Width, size.Height, maxPixels/1_000_000, maxSide)}
	case format == "webp" && isAnimated(head):
		return size, &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is animated; save one of its pictures by itself."}
	}
	return size, nil
}

// isAnimated reads the flag of the extended header: leptonica decodes no animated WEBP.
func isAnimated(head []byte) bool {
	const flags, animation = webpHeadBytes - 1, 0x02
	return len(head) == webpHeadBytes && bytes.HasPrefix(head[12:], []byte("VP8X")) && head[flags]&animation != 0
}
