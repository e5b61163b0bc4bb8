package ocr_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"parlance.dev/parlance/provider/ocr"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"eng": {"eng"}, "eng, deu": {"eng", "deu"}, "eng+chi_sim+eng": {"eng", "chi_sim"}, "script/Latin": {"script/Latin"}, "": nil,
		"-x": nil, "eng;rm": nil, "../eng": nil, "a/b/c": nil,
	} {
		got, err := ocr.CheckLanguages(ocr.SplitLanguages(list))
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil && list != "") {
			t.Errorf("%q: %v %s", list, err, diff)
		}
	}
}
