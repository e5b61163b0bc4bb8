package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"

	"parlance.dev/parlance/cli/intake"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// bytesWords is a size as people say it.
func bytesWords(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	unit := 0
	for bytes >= 999.5 && unit < len(units)-1 {
		bytes /= 1000
		unit++
	}
	if unit == 0 || bytes >= 99.5 {
		return fmt.Sprintf("%.0f %s", bytes, units[unit])
	}
	return fmt.Sprintf("%.1f %s", bytes, units[unit])
}

// ageWords is how long ago something was.
func ageWords(age time.Duration) string {
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%d s", max(int(age.Seconds()), 0))
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age.Hours()))
	}
	return fmt.Sprintf("%d d", int(age.Hours()/24))
}

// tookWords is how long something took.
func tookWords(took time.Duration) string {
	if took < time.Minute {
		return fmt.Sprintf("%.1f s", took.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(took.Minutes()), int(took.Seconds())%60)
}

// countWords is a number with its noun.
func countWords(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// typeWords is a media type as people call it.
func typeWords(mediaType string) string {
	name, _, _ := strings.Cut(mediaType, ";")
	short := map[string]string{
		"application/pdf": "PDF", "text/markdown": "Markdown", "text/plain": "text", "text/html": "HTML", "application/json": "JSON",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX", "application/epub+zip": "EPUB",
		"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP",
	}[name]
	if short == "" {
		return name
	}
	return short
}

// holdsWords is what a ready source holds, with what could not be read.
func holdsWords(source *parlancev1.Source) string {
	words := countWords(int(source.GetChunkCount()), "chunk", "chunks")
	if pages := int(source.GetPageCount()); pages > 0 {
		read := countWords(pages, "page", "pages")
		switch scanned := int(source.GetOcrPageCount()); {
		case scanned >= pages:
			read += " by OCR"
		case scanned > 0:
			read += fmt.Sprintf(" (%d by OCR)", scanned)
		}
		words = read + ", " + words
	}
	if warnings := len(source.GetWarnings()); warnings > 0 {
		words += ", " + countWords(warnings, "warning", "warnings")
	}
	return words
}

// stageWords is what is being done with a source, with the page while pages are read.
func stageWords(source *parlancev1.Source) string {
	if source.GetStatus() != "processing" {
		return source.GetStatus()
	}
	stage := source.GetStage()
	switch stage {
	case "":
		return "starting"
	case "ocr":
		stage = "OCR"
	case "chunking", "embedding":
		return stage
	}
	if source.GetPageCount() > 0 {
		stage += fmt.Sprintf(" page %d of %d", source.GetPagesDone(), source.GetPageCount())
	}
	return stage
}

// placeWords say where a passage is in its source.
func placeWords(heading string, first, last int32) string {
	var places []string
	if heading != "" {
		places = append(places, heading)
	}
	switch {
	case first > 0 && last > first:
		places = append(places, fmt.Sprintf("pages %d–%d", first, last))
	case first > 0:
		places = append(places, fmt.Sprintf("page %d", first))
	}
	return strings.Join(places, ", ")
}

// causeWords is what went wrong with an item, in a sentence.
func (k *kb) causeWords(err error) string {
	if _, ok := errors.AsType[*connect.Error](err); ok {
		return strings.TrimPrefix(k.where.explainCall("", err).Error(), ": ")
	}
	return err.Error()
}

// adviceFor says what to do about an item that failed; empty where the cause says it.
func adviceFor(code string, source *parlancev1.Source) string {
	again := "parlance kb reprocess " + source.GetId()
	switch code {
	case string(fault.QuotaKBStorage):
		return "remove sources that nobody needs (parlance kb rm), or change the plan"
	case string(fault.QuotaKBUploadSize):
		return "split the file, or change the plan"
	case "encrypted":
		return "save it without a password and add it again"
	case "corrupt", "binary", "wrong-type":
		return "open it in the program it was made with, save it again, and add that"
	case "empty":
		if source.GetMediaType() == "application/pdf" {
			return again + " --force-ocr reads its pages as pictures"
		}
		return "there is nothing in it to answer from"
	case "too-many-pages", "too-many-chunks", "too-large", "too-complex":
		return "split it into several files"
	case "embedding-refused":
		return "the embedding server refuses its text: take the passage out that the message names"
	case "timeout", "internal":
		return "try again: " + again
	}
	return ""
}

// failureOf is what an item failed of: the code and its words.
func (k *kb) failureOf(state intake.State) (code, words, advice string) {
	code = intake.CodeOf(state.Err)
	return code, k.causeWords(state.Err), adviceFor(code, state.Source)
}
