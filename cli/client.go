package cli

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/fault"
)

// Names in dev.env, and of the variables that commands which call an installation read.
const (
	envBaseURL   = "PARLANCE_BASE_URL"
	envAPIKey    = "PARLANCE_API_KEY"
	envWorkspace = "PARLANCE_WORKSPACE_ID"
	envAgent     = "PARLANCE_AGENT_ID"
)

// installation is where a command that is a client of the public API finds it.
type installation struct {
	// base has no /v1.
	base        string
	apiKey      string
	workspaceID string
	agentID     string
	// caFile is trusted beside the system's; empty: none.
	caFile string
}

// addInstallation gives a command the flags that say which installation it calls.
func addInstallation(cmd *cobra.Command) {
	cmd.Flags().String("base-url", "", "base URL of the installation, ending in /v1 ["+envBaseURL+"]")
	cmd.Flags().String("api-key", "", "API key ["+envAPIKey+"]")
	cmd.Flags().String("data-dir", "", "use the parlance dev with this data directory, when no base URL and key are given")
	cmd.Flags().String("ca-file", "", "certificate authorities (PEM) to trust beside the system's")
}

// findInstallation reads flags, then the environment, then dev.env; a data directory that is
// named goes before the environment.
func findInstallation(cmd *cobra.Command, lookupEnv func(string) (string, bool)) (installation, error) {
	dir, err := dataDirOf(cmd)
	if err != nil {
		return installation{}, err
	}
	written, err := readEnvFile(filepath.Join(dir, devEnvName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return installation{}, err
	}
	value := func(flag, name string) string {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			return f.Value.String()
		}
		if v, ok := lookupEnv(name); ok && v != "" && !cmd.Flags().Changed("data-dir") {
			return v
		}
		return written[name]
	}
	found := installation{
		base: strings.TrimSuffix(strings.TrimSuffix(value("base-url", envBaseURL), "/"), "/v1"), apiKey: value("api-key", envAPIKey),
		workspaceID: value("workspace", envWorkspace), agentID: value("agent", envAgent), caFile: value("ca-file", ""),
	}
	if found.agentID == "default" { // that of the installation, also where a flag says so
		found.agentID = value("", envAgent)
	}
	if found.base == "" || found.apiKey == "" {
		return installation{}, usageError{fmt.Errorf(
			"no installation to talk to: there is no %s in %s. Start `parlance dev`, give --data-dir if it runs with another data directory, or --base-url and --api-key", devEnvName, dir)}
	}
	if local := filepath.Join(dir, localTLSDir, "ca.pem"); found.caFile == "" && fileExists(local) {
		found.caFile = local
	}
	return found, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readEnvFile reads NAME=value lines; # begins a comment.
func readEnvFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	values := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		name, value, found := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if found && !strings.HasPrefix(name, "#") {
			values[name] = value
		}
	}
	return values, lines.Err()
}

// client is for the installation's Connect stubs. It has no time-out of its own: answers stream.
func (i installation) client() (*http.Client, error) {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: time.Minute,
	}
	if i.caFile != "" {
		pem, err := os.ReadFile(i.caFile)
		if err != nil {
			return nil, fmt.Errorf("read --ca-file: %w", err)
		}
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		roots.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}, nil
}

// options put the key on every call.
func (i installation) options() []connect.ClientOption {
	return []connect.ClientOption{connect.WithInterceptors(bearer(i.apiKey))}
}

// bearer authorizes calls with an API key.
type bearer string

// WrapUnary implements connect.Interceptor.
func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		req.Header().Set("Authorization", "Bearer "+string(b))
		return next(ctx, req)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		conn.RequestHeader().Set("Authorization", "Bearer "+string(b))
		return conn
	}
}

// WrapStreamingHandler implements connect.Interceptor; there are no handlers here.
func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// explainCall says what went wrong with a call, and what to do where that is known.
func (i installation) explainCall(doing string, err error) error {
	refused, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch refused.Code() {
	case connect.CodeUnavailable:
		if !connect.IsWireError(err) {
			return fmt.Errorf("%s: nothing answers at %s. Is `parlance dev` running?", doing, i.base)
		}
	case connect.CodeUnauthenticated:
		return fmt.Errorf("%s: %s Keys of a data directory that was deleted or of another installation do not work: give --api-key, or take the one `parlance dev` prints", doing, refused.Message())
	case connect.CodeCanceled:
		return context.Canceled
	}
	if fault.Reason(refused.Message()) == fault.InternalError || refused.Message() == "" {
		return fmt.Errorf("%s: %s", doing, refused.Code())
	}
	return fmt.Errorf("%s: %s", doing, refused.Message())
}
