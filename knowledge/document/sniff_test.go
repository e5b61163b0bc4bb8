package document_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/knowledge/document"
)

// packed is an archive of files in order: names and contents by turns.
func packed(t *testing.T, files ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		method := zip.Deflate
		if files[i] == "mimetype" {
			method = zip.Store
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// wide is text in UTF-16, with its mark if asked to.
func wide(order binary.AppendByteOrder, mark bool, text string) string {
	if mark {
		text = "\ufeff" + text
	}
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

const nul = "\x00"

// TestSniffTable holds what files are against what they are called.
func TestSniffTable(t *testing.T) {
	t.Parallel()
	text := []string{"text/plain", "text/markdown", "text/html", "application/json"}
	all := append([]string{
		"application/pdf", document.ApplicationDOCX, document.ApplicationEPUB, "image/png",
		"image/jpeg", "image/webp",
	}, text...)
	pdf := "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"
	docx := packed(t, "[Content_Types].xml", "<Types/>", "_rels/.rels", "<Relationships/>", "word/document.xml", "<w:document/>")
	epub := packed(t, "mimetype", "application/epub+zip", "META-INF/container.xml", "<container/>")
	riff := func(kind string) string { return "RIFF\x24\x00\x00\x00" + kind + strings.Repeat(nul, 40) }
	for name, row := range map[string]struct {
		content string
		// accepted are the types that it may be called; it is refused as all others.
		accepted []string
	}{
		"PDF":              {pdf, []string{"application/pdf"}},
		"PDF all ASCII":    {"%PDF-1.4\n1 0 obj\n<< >>\nendobj\n", []string{"application/pdf"}},
		"PDF after a mark": {"\xef\xbb\xbf" + pdf, []string{"application/pdf"}},
		"PDF after lines":  {"\r\n\r\n" + pdf, []string{"application/pdf"}},
		"PDF after a head": {"PJL header\x1b%-12345X\n" + pdf, []string{"application/pdf"}},
		"PDF in a program": {"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8" + strings.Repeat(nul, 47) + pdf, nil},
		"PDF in a picture": {"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01" + pdf, []string{"image/jpeg"}},
		"about PDF":        {"A PDF begins with %PDF-1.7, as every reader knows.", text},
		"PNG":              {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02", []string{"image/png"}},
		"PNG cut":          {"\x89PNG\r\n\x1a\n", []string{"image/png"}},
		"JPEG":             {"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01", []string{"image/jpeg"}},
		"WEBP":             {"RIFF\x24\x00\x00\x00WEBPVP8 " + strings.Repeat(nul, 30), []string{"image/webp"}},
		"DOCX":             {docx, []string{document.ApplicationDOCX}},
		"EPUB":             {epub, []string{document.ApplicationEPUB}},
		"ZIP":              {packed(t, "notes.txt", "Some text."), nil},
		"ZIP of programs":  {packed(t, "setup.exe", "MZ", "word/document.xml", "x"), nil},
		"JAR":              {packed(t, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n", "A.class", "x"), nil},
		"APK":              {packed(t, "AndroidManifest.xml", "x", "classes.dex", "x"), nil},
		"XLSX":             {packed(t, "[Content_Types].xml", "<Types/>", "_rels/.rels", "<R/>", "xl/workbook.xml", "<workbook/>"), nil},
		"PPTX":             {packed(t, "[Content_Types].xml", "<Types/>", "_rels/.rels", "<R/>", "ppt/presentation.xml", "<p/>"), nil},
		"ODT":              {packed(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", "<x/>"), nil},
		"EXE":              {"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8" + strings.Repeat(nul, 47), nil},
		"ELF":              {"\x7fELF\x02\x01\x01" + strings.Repeat(nul, 60), nil},
		"Mach-O":           {"\xcf\xfa\xed\xfe\x07\x00\x00\x01" + strings.Repeat(nul, 24), nil},
		"class":            {"\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x1d\x0a\x00", nil},
		"gzip":             {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x4c", nil},
		"bzip2":            {"BZh91AY&SY\x00\x01\x02\x03", nil},
		"xz":               {"\xfd7zXZ\x00\x00\x04", nil},
		"7z":               {"7z\xbc\xaf\x27\x1c\x00\x04", nil},
		"RAR":              {"Rar!\x1a\x07\x01\x00", nil},
		"zstd":             {"\x28\xb5\x2f\xfd\x04\x58", nil},
		"tar": {"a.txt" + strings.Repeat(nul, 95) +
			"0000644\x000000000\x000000000\x0000000000004\x0014371573104\x00011350\x00 0" + strings.Repeat(nul, 100) +
			"ustar\x0000" + strings.Repeat(nul, 247), nil},
		"MP3 with ID3": {"ID3\x03\x00\x00\x00\x00\x00\x21TIT2" + strings.Repeat(nul, 30), nil},
		"MP3 bare":     {"\xff\xfb\x90\x64\x00\x0f\xf0\x00\x00\x69\x00\x00", nil},
		"MP4":          {"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", nil},
		"HEIC":         {"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", nil},
		"AVIF":         {"\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif", nil},
		"OGG":          {"OggS\x00\x02" + strings.Repeat(nul, 22), nil},
		"WAV":          {riff("WAVE"), nil},
		"AVI":          {riff("AVI "), nil},
		"TTF":          {"\x00\x01\x00\x00\x00\x0f\x00\x80\x00\x03\x00\x70", nil},
		"OTF":          {"OTTO\x00\x0b\x00\x80\x00\x03", nil},
		"WOFF2":        {"wOF2\x00\x01\x00\x00\x00\x00", nil},
		"GIF":          {"GIF89a\x01\x00\x01\x00\x80\x00\x00", nil},
		"BMP":          {"BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00", nil},
		"TIFF":         {"II*\x00\x08\x00\x00\x00\x0c\x00", nil},
		"ICO":          {"\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00", nil},
		"PSD":          {"8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03", nil},
		"old DOC":      {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat(nul, 504), []string{document.ApplicationDOCX}},
		"RTF":          {"{\\rtf1\\ansi\\deff0 {\\fonttbl}Hello}", nil},
		"SQLite":       {"SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20", nil},
		"wasm":         {"\x00asm\x01\x00\x00\x00", nil},
		"PostScript":   {"%!PS-Adobe-3.0\n%%Title: x\n", nil},
		"pickle":       {"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94", nil},
		"random":       {"\x93\x01\xfe\x00\x81\x1c\x07\x00\x90\x9f\x05\x8d\x02\xfa\x11\x00\xc3", nil},
		"zeros":        {strings.Repeat(nul, 4096), nil},

		"plain text":        {"Opening hours: Monday to Friday.\n", text},
		"Markdown":          {"# Hours\n\n- Monday\n", text},
		"HTML":              {"<!DOCTYPE html><html><body><p>Hi</p></body></html>", []string{"text/plain", "text/markdown", "text/html"}},
		"JSON":              {`{"hours": [9, 12]}`, text},
		"UTF-8 with mark":   {"\ufeffGrüße aus Köln", text},
		"UTF-16LE":          {wide(binary.LittleEndian, true, "Grüße aus Köln, und mehr davon."), text},
		"UTF-16BE":          {wide(binary.BigEndian, true, "Grüße aus Köln, und mehr davon."), text},
		"UTF-16LE unmarked": {wide(binary.LittleEndian, false, "A text that nobody has marked."), text},
		"Latin-1":           {"Gr\xfc\xdfe aus K\xf6ln, sch\xf6ne Stadt", text},
		"KOI8":              {"\xf0\xd2\xc9\xd7\xc5\xd4, \xcb\xc1\xcb \xc4\xc5\xcc\xc1?", text},
		"Shift-JIS":         {"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81\x42", text},
		"begins as MZ":      {"MZ is how programs begin, and this sentence too.", text},
		"begins as BM":      {"BMW builds cars.", text},
		"begins as GIF":     {"GIF89a is a format of pictures.", text},
		"begins as a key":   {"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", text},
		"a script":          {"#!/bin/sh\necho hello\n", text},
		"CSV":               {"a,b\n1,2\n3,4\n", text},
		"XML":               {"<?xml version=\"1.0\"?><a>text</a>", text},
		"SVG":               {"<svg xmlns=\"http://www.w3.org/2000/svg\"><text>Hi</text></svg>", text},
		"form feeds":        {"Page one\fPage two", text},
		"empty":             {"", all},
	} {
		accepted := map[string]bool{}
		for _, mediaType := range row.accepted {
			accepted[mediaType] = true
		}
		for _, mediaType := range all {
			err := document.Sniff(mediaType, []byte(row.content))
			if accepted[mediaType] != (err == nil) {
				t.Errorf("%s called %s: got %v", name, mediaType, err)
			}
			if err != nil && (!fault.IsReason(err, fault.KBUnsupportedMediaType) || !strings.Contains(fault.From(err).Message, mediaType)) {
				t.Errorf("%s called %s: %v does not say what it was called", name, mediaType, err)
			}
		}
	}
}
