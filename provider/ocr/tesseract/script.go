package tesseract

import (
	"bytes"
	"context"
	"image"
	"regexp"
	"strconv"

	"parlance.dev/parlance/platform/sandbox"
)

const (
	// scriptData is the language data that scripts are told by.
	scriptData = "osd"
	// minScriptConfidence: below it, Korean was taken for Cyrillic and blurred English for Fraktur.
	minScriptConfidence = 0.9
)

var scriptPattern = regexp.MustCompile(`(?m)^Script: (\w+)\nScript confidence: ([\d.]+)$`)

// scriptOf names the script of a picture, but for Latin. It is empty when that cannot be told, as
// with few letters, where the program fails.
func scriptOf(ctx context.Context, box *sandbox.Box, size image.Config) string {
	var out bytes.Buffer
	if err := box.Run(ctx, command(size, &out, "--psm", "0")); err != nil {
		return ""
	}
	found := scriptPattern.FindStringSubmatch(out.String())
	if found == nil || found[1] == "Latin" {
		return ""
	}
	if confidence, err := strconv.ParseFloat(found[2], 64); err != nil || confidence < minScriptConfidence {
		return ""
	}
	return found[1]
}
