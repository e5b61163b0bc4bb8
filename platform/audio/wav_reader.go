package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxWAVHeader is the most that may come before the samples of a WAV file: pictures and comments.
const maxWAVHeader = 1 << 20

// WAVReader reads the bytes of the samples in a WAV file, also of one that is still being written.
// It is an io.Reader: a Decoder of its Format turns what it reads into samples. It ends at the end
// of the samples; a file that is shorter than it says ends early, without an error.
type WAVReader struct {
	// Format is one of Formats.
	Format Format
	// Channels is 1 or 2. Samples of two channels are interleaved.
	Channels int

	source io.Reader
	// left is how many bytes of samples are still to be read, at most.
	left int64
}

// NewWAVReader reads from source up to the samples. It is an error when source is not a WAV file,
// when its samples are not in a known format, or when more than 1 MiB come before them. Chunks that
// are not needed are passed over, and no length that the file says is relied on.
func NewWAVReader(source io.Reader) (*WAVReader, error) {
	header := &io.LimitedReader{R: source, N: maxWAVHeader}
	w := &WAVReader{source: source}
	err := w.readHeader(header)
	if err == nil {
		return w, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends before the samples")
		if header.N == 0 {
			err = fmt.Errorf("its samples do not begin within %d bytes", maxWAVHeader)
		}
	}
	return nil, fmt.Errorf("read a WAV file: %w", err)
}

// Read reads bytes of samples into p.
func (w *WAVReader) Read(p []byte) (int, error) {
	if w.left == 0 {
		return 0, io.EOF
	}
	n, err := w.source.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	return n, err
}

// readHeader reads up to the end of the "data" chunk's header.
func (w *WAVReader) readHeader(header *io.LimitedReader) error {
	var riff [riffHeaderBytes]byte
	if _, err := io.ReadFull(header, riff[:]); err != nil {
		return err
	}
	if string(riff[:4]) != "RIFF" || string(riff[8:]) != "WAVE" {
		return errors.New("it does not begin with RIFF and WAVE")
	}
	end := int64(binary.LittleEndian.Uint32(riff[4:8])) + chunkHeaderBytes // of the file, as it says
	for {
		var chunk [chunkHeaderBytes]byte
		if _, err := io.ReadFull(header, chunk[:]); err != nil {
			return err
		}
		bytes := int64(binary.LittleEndian.Uint32(chunk[4:]))
		padded := bytes + bytes%2
		switch string(chunk[:4]) {
		case "data":
			if !w.Format.IsKnown() {
				return errors.New("nothing before the samples says what they are")
			}
			w.left = bytes
			// A program that does not know the length writes one that no sound reaches, or 0. In
			// the second case the length of the file does not go beyond this header either.
			if bytes == 0 && end <= maxWAVHeader-header.N {
				w.left = wavUnknownLength
			}
			return nil
		case "fmt ":
			fields := make([]byte, min(bytes, maxWAVFormatBytes))
			if _, err := io.ReadFull(header, fields); err != nil {
				return err
			}
			if err := w.readFormat(fields); err != nil {
				return err
			}
			padded -= int64(len(fields))
		}
		if _, err := io.CopyN(io.Discard, header, padded); err != nil {
			return err
		}
	}
}

// maxWAVFormatBytes is the part of a "fmt " chunk that is looked at: the fixed fields, and in an
// extension the code of the encoding, which begins a GUID.
const maxWAVFormatBytes = 26

// readFormat sets Format and Channels by the fields of a "fmt " chunk.
func (w *WAVReader) readFormat(fields []byte) error {
	if len(fields) < wavFormatBytes {
		return fmt.Errorf("its description of the samples has %d bytes, %d are needed", len(fields), wavFormatBytes)
	}
	order := binary.LittleEndian
	code, channels := order.Uint16(fields), order.Uint16(fields[2:])
	rateHz, bits := order.Uint32(fields[4:]), order.Uint16(fields[14:])
	if code == wavExtensible && len(fields) == maxWAVFormatBytes {
		code = order.Uint16(fields[24:])
	}
	for encoding, known := range wavCodes {
		format := Format{Encoding: encoding, RateHz: int(rateHz)}
		if known == code && format.IsKnown() && int(bits) == 8*format.BytesPerSample() && channels >= 1 && channels <= 2 {
			w.Format, w.Channels = format, int(channels)
			return nil
		}
	}
	return fmt.Errorf("its samples are not supported: encoding %d, %d bits, %d Hz, %d channels", code, bits, rateHz, channels)
}

// ReadWAV reads a whole WAV file and mixes its channels. It returns an error as NewWAVReader does,
// and when the samples have more than maxBytes in the file.
func ReadWAV(source io.Reader, maxBytes int) (mono []int16, rateHz int, err error) {
	w, err := NewWAVReader(source)
	if err != nil {
		return nil, 0, err
	}
	encoded, err := io.ReadAll(io.LimitReader(w, int64(maxBytes)+1))
	if err != nil {
		return nil, 0, fmt.Errorf("read the samples of a WAV file: %w", err)
	}
	if len(encoded) > maxBytes {
		return nil, 0, fmt.Errorf("read a WAV file: it has more than %d bytes of samples", maxBytes)
	}
	decoder := Decoder{Format: w.Format}
	samples := decoder.AppendDecode(nil, encoded)
	if w.Channels == 1 {
		return samples, w.Format.RateHz, nil
	}
	return AppendMono(nil, samples, w.Channels), w.Format.RateHz, nil
}
