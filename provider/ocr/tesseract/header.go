package tesseract

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"parlance.dev/parlance/provider/ocr"
)

// header is what a picture says of itself before it is decoded.
type header struct {
	width, height int
	// animated: leptonica decodes no animated WEBP.
	animated bool
}

func (h header) pixels() int { return h.width * h.height }

// readHeader finds the type by the first bytes and reads the size. Errors: *ocr.Fault.
func readHeader(r io.Reader) (header, error) {
	in := bufio.NewReader(r)
	start, _ := in.Peek(16) // a shorter file is none of these
	var h header
	var err error
	switch {
	case hasAt(start, 0, "\x89PNG\r\n\x1a\n"):
		h, err = pngHeader(in)
	case hasAt(start, 0, "\xff\xd8\xff"):
		h, err = jpegHeader(in)
	case hasAt(start, 0, "RIFF") && hasAt(start, 8, "WEBP"):
		h, err = webpHeader(in)
	default:
		return header{}, &ocr.Fault{Kind: ocr.Corrupt, Message: "The file is not a PNG, JPEG or WEBP picture."}
	}
	switch {
	case err != nil:
		return header{}, &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is damaged: its header cannot be read.", Cause: err}
	case h.width <= 0 || h.height <= 0:
		return header{}, &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is damaged: its header says that it is empty."}
	case h.width > maxSide || h.height > maxSide || h.pixels() > maxPixels:
		return header{}, &ocr.Fault{Kind: ocr.TooLarge, Message: fmt.Sprintf(
			"The picture has %d × %d pixels; at most %d million, and %d on a side, can be read.", h.width, h.height, maxPixels/1_000_000, maxSide)}
	case h.animated:
		return header{}, &ocr.Fault{Kind: ocr.Corrupt, Message: "The picture is animated; save one of its pictures by itself."}
	}
	return h, nil
}

func hasAt(data []byte, at int, want string) bool {
	return len(data) >= at+len(want) && string(data[at:at+len(want)]) == want
}

// pngHeader reads the first chunk, which must be IHDR.
func pngHeader(in io.Reader) (header, error) {
	var b [24]byte // signature, length, "IHDR", width, height
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return header{}, fmt.Errorf("PNG: %w", err)
	}
	if !hasAt(b[:], 12, "IHDR") {
		return header{}, errors.New("PNG: IHDR is not the first chunk")
	}
	width, height := binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
	if width > 1<<31-1 || height > 1<<31-1 {
		return header{}, errors.New("PNG: a side of over 2³¹ pixels")
	}
	return header{width: int(width), height: int(height)}, nil
}

// Markers of JPEG.
const (
	jpegEnd, jpegScan             = 0xd9, 0xda
	jpegFrameFirst, jpegFrameLast = 0xc0, 0xcf
	jpegHuffman, jpegArithmetic   = 0xc4, 0xcc
	jpegExtension                 = 0xc8
)

// jpegHeader goes over the segments to the first frame header.
func jpegHeader(in *bufio.Reader) (header, error) {
	if _, err := in.Discard(2); err != nil {
		return header{}, fmt.Errorf("JPEG: %w", err)
	}
	for {
		marker, length, err := jpegSegment(in)
		if err != nil {
			return header{}, err
		}
		switch {
		case marker == jpegEnd || marker == jpegScan:
			return header{}, errors.New("JPEG: no frame header")
		case marker < jpegFrameFirst || marker > jpegFrameLast, marker == jpegHuffman, marker == jpegArithmetic, marker == jpegExtension:
			if _, err := in.Discard(length); err != nil {
				return header{}, fmt.Errorf("JPEG: %w", err)
			}
			continue
		}
		var b [5]byte // precision, height, width
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return header{}, fmt.Errorf("JPEG: %w", err)
		}
		return header{height: int(binary.BigEndian.Uint16(b[1:])), width: int(binary.BigEndian.Uint16(b[3:]))}, nil
	}
}

// jpegSegment reads a marker, which fill bytes may precede, and the length of what follows.
func jpegSegment(in *bufio.Reader) (marker byte, length int, err error) {
	b, err := in.ReadByte()
	if err != nil || b != 0xff {
		return 0, 0, fmt.Errorf("JPEG: no marker (%w)", errors.Join(err, errors.New("broken")))
	}
	for marker = 0xff; marker == 0xff && err == nil; {
		marker, err = in.ReadByte()
	}
	var size [2]byte
	if err == nil && marker != jpegEnd {
		_, err = io.ReadFull(in, size[:])
	}
	if err != nil {
		return 0, 0, fmt.Errorf("JPEG: %w", err)
	}
	return marker, max(0, int(binary.BigEndian.Uint16(size[:]))-2), nil
}

const webpAnimation = 0x02

// webpHeader reads the first chunk: a frame, or the extended header.
func webpHeader(in io.Reader) (header, error) {
	var b [30]byte // RIFF, size, WEBP, chunk, size, ten bytes of it
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return header{}, fmt.Errorf("WEBP: %w", err)
	}
	chunk := b[20:]
	switch string(b[12:16]) {
	case "VP8X": // flags, three reserved, width-1 and height-1 in three bytes each
		return header{width: 1 + int24(chunk[4:]), height: 1 + int24(chunk[7:]), animated: chunk[0]&webpAnimation != 0}, nil
	case "VP8L": // 0x2f, then 14 bits of width-1, 14 of height-1
		bits := int(binary.LittleEndian.Uint32(chunk[1:]))
		if chunk[0] != 0x2f {
			return header{}, errors.New("WEBP: a broken lossless frame")
		}
		return header{width: 1 + bits&0x3fff, height: 1 + bits>>14&0x3fff}, nil
	case "VP8 ": // tag, start code, 14 bits of width and height
		if !hasAt(chunk, 3, "\x9d\x01\x2a") {
			return header{}, errors.New("WEBP: a broken frame")
		}
		return header{
			width: int(binary.LittleEndian.Uint16(chunk[6:])) & 0x3fff, height: int(binary.LittleEndian.Uint16(chunk[8:])) & 0x3fff,
		}, nil
	}
	return header{}, errors.New("WEBP: an unknown first chunk")
}

func int24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
