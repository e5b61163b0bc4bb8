package openai

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parlance.dev/parlance/platform/audio"
)

// readBytes is the largest piece: 341 ms at defaultRate.
const readBytes = 16 << 10

// pcmReader reads the samples of an answer: bare, or in a WAV file with one or two channels, which
// become one.
type pcmReader struct {
	source   io.Reader
	decoder  audio.Decoder
	channels int
	buffer   []byte
	// held is an incomplete frame: the left sample of two.
	held []int16
}

// open looks at the Content-Type and at the first bytes of an answer. Errors: a fault when it is no
// PCM; that of the connection.
func (s *Synthesizer) open(res *http.Response) (*pcmReader, error) {
	kind, params, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // servers that name none send samples
	switch {
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), kind == "audio/mpeg", kind == "audio/ogg", kind == "audio/opus",
		kind == "audio/aac", kind == "audio/flac":
		return nil, s.party.Unreadable(errors.New("Content-Type "+strconv.Quote(kind)), "PCM audio")
	}
	rate, err := strconv.Atoi(params["rate"])
	if err != nil || rate < 8000 || rate > 48000 {
		rate = s.config.Rate
	}
	body := bufio.NewReaderSize(res.Body, readBytes)
	bare := &pcmReader{
		source: body, decoder: audio.Decoder{Format: audio.Format{Encoding: audio.PCM16, RateHz: rate}}, channels: 1,
		buffer: make([]byte, readBytes),
	}
	mark, _ := body.Peek(4) // the next read reports the error
	switch {
	case string(mark) == "RIFF":
		file, err := audio.NewWAVReader(body)
		if err != nil {
			return nil, s.party.Unreadable(err, "PCM audio")
		}
		return &pcmReader{source: file, decoder: audio.Decoder{Format: file.Format}, channels: file.Channels, buffer: bare.buffer}, nil
	case string(mark) == "OggS", string(mark) == "fLaC", strings.HasPrefix(string(mark), "ID3"):
		return nil, s.party.Unreadable(errors.New("the audio begins with "+strconv.Quote(string(mark[:3]))), "PCM audio")
	}
	return bare, nil
}

// next returns what has come, in whole frames, and how many bytes were read. The samples belong to
// the caller. Errors: io.EOF, that of the connection.
func (r *pcmReader) next() (samples []int16, bytes int, err error) {
	bytes, err = r.source.Read(r.buffer)
	samples = r.decoder.AppendDecode(r.held, r.buffer[:bytes])
	if r.channels == 1 {
		return samples, bytes, err
	}
	whole := len(samples) - len(samples)%r.channels
	r.held = slices.Clone(samples[whole:])
	return audio.AppendMono(nil, samples[:whole], r.channels), bytes, err
}
