package kb

import (
	"fmt"
	"strings"

	"parlance.dev/parlance/cli/kb/intake"
	"parlance.dev/parlance/cli/term"
	"parlance.dev/parlance/fault"
	parlancev1 "parlance.dev/parlance/gen/parlance/v1"
)

// typeWords is the common name of a media type.
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

// holdsWords describes the content of a ready source.
func holdsWords(source *parlancev1.Source) string {
	words := term.Count(int(source.GetChunkCount()), "chunk", "chunks")
	if pages := int(source.GetPageCount()); pages > 0 {
		read := term.Count(pages, "page", "pages")
		switch scanned := int(source.GetOcrPageCount()); {
		case scanned >= pages:
			read += " by OCR"
		case scanned > 0:
			read += fmt.Sprintf(" (%d by OCR)", scanned)
		}
		words = read + ", " + words
	}
	if warnings := len(source.GetWarnings()); warnings > 0 {
		words += ", " + term.Count(warnings, "warning", "warnings")
	}
	return words
}

// stageWords describes the stage of an ingestion, with the page while pages are read.
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

// adviceFor says what to do about a failed item, unless the error says it already.
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
	case "fetch-failed":
		return "correct the page or its address, then: parlance kb refresh " + source.GetId()
	case "embedding-refused":
		return "the embedding server refuses its text: take the passage out that the message names"
	case "timeout", "internal":
		return "try again: " + again
	}
	return ""
}

// failureOf returns the code and sentence of an item's error, and advice.
func (k *kb) failureOf(state intake.State) (code, words, advice string) {
	code = intake.CodeOf(state.Err)
	return code, k.Reason(state.Err), adviceFor(code, state.Source)
}
