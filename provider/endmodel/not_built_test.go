//go:build !onnxruntime || !cgo

package endmodel_test

import (
	"errors"
	"strings"
	"testing"

	"parlance.dev/parlance/provider/endmodel"
)

// TestNotBuilt: a program without onnxruntime says how to build one with it.
func TestNotBuilt(t *testing.T) {
	t.Parallel()
	_, err := endmodel.Open(endmodel.Params{Path: t.TempDir(), Library: "libonnxruntime.so"})
	if endmodel.Built || !errors.Is(err, endmodel.ErrNotBuilt) || !strings.Contains(err.Error(), "-tags onnxruntime") {
		t.Errorf("got %v", err)
	}
}
