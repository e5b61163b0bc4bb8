package app_test

import (
	"os"
	"strings"
	"testing"

	"parlance.dev/parlance/app"
)

func TestBlobURL(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, id, spill, says string }{
		{"file:///var/lib/parlance/blobs", "", "/var/lib/parlance/spill", ""},
		{"s3://files/some/prefix?region=eu-central-1", "id", "", ""},
		{"s3://files", "", "", "PARLANCE_BLOB_URL names neither an endpoint nor a region"},
		{"s3://id:key@files?region=x", "", "", "PARLANCE_BLOB_URL must not hold keys"},
		{"gs://files", "", "", "file or s3"},
	} {
		settings := map[string]string{
			"PARLANCE_BLOB_URL": row.url, "PARLANCE_S3_ACCESS_KEY_ID": row.id, "PARLANCE_S3_SECRET_ACCESS_KEY": row.id,
		}
		config, err := load(settings)
		if row.says == "" && (err != nil || config.BlobURL != row.url || config.Spill() != row.spill) {
			t.Errorf("%s: got %s, spill %q, %v", row.url, config.BlobURL, config.Spill(), err)
		}
		if row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "id:key")) {
			t.Errorf("%s: got %v, want an error saying %q", row.url, err, row.says)
		}
	}
	_, err := load(map[string]string{"PARLANCE_BLOB_URL": "s3://files?region=x", "PARLANCE_S3_ACCESS_KEY_ID": "id"})
	if err == nil || !strings.Contains(err.Error(), "must be set together") {
		t.Errorf("half a key: got %v", err)
	}
}

func load(settings map[string]string) (app.Config, error) {
	return app.Load(app.Source{ReadFile: os.ReadFile, LookupEnv: func(name string) (string, bool) {
		value, ok := settings[name]
		return value, ok
	}})
}
