package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"parlance.dev/parlance/cli/command"
	"parlance.dev/parlance/fault"
	"parlance.dev/parlance/platform/publicnet"
	parlance "parlance.dev/parlance/sdk/go"
)

// Installation is what a command calls.
type Installation struct {
	// Base is the base URL without /v1.
	Base        string
	APIKey      string
	WorkspaceID string
	AgentID     string
	// CAFile is trusted in addition to the system's authorities; it may be empty.
	CAFile string
}

// AddInstallation adds the flags that name the installation.
func AddInstallation(cmd *cobra.Command) {
	cmd.Flags().String("base-url", "", "base URL of the installation, ending in /v1 ["+command.EnvBaseURL+"]")
	cmd.Flags().String("api-key", "", "API key ["+command.EnvAPIKey+"]")
	if cmd.Flags().Lookup("data-dir") == nil {
		cmd.Flags().String("data-dir", "", "use the parlance dev with this data directory, when no base URL and key are given")
	}
	cmd.Flags().String("ca-file", "", "certificate authorities (PEM) to trust in addition to the system's")
}

// FindInstallation reads flags, then the environment, then dev.env. When --data-dir is given, its
// dev.env takes precedence over the environment.
func FindInstallation(cmd *cobra.Command, lookupEnv func(string) (string, bool)) (Installation, error) {
	dir, err := command.DataDir(cmd)
	if err != nil {
		return Installation{}, err
	}
	written, err := command.ReadEnvFile(filepath.Join(dir, command.EnvFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Installation{}, err
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
	found := Installation{
		Base:        strings.TrimSuffix(strings.TrimSuffix(value("base-url", command.EnvBaseURL), "/"), "/v1"),
		APIKey:      value("api-key", command.EnvAPIKey),
		WorkspaceID: value("workspace", command.EnvWorkspace),
		AgentID:     value("agent", command.EnvAgent),
		CAFile:      value("ca-file", ""),
	}
	if found.AgentID == "default" { // the flag names the installation's own agent
		found.AgentID = value("", command.EnvAgent)
	}
	if found.Base == "" || found.APIKey == "" {
		return Installation{}, command.Usagef("no installation to talk to: there is no %s in %s. Start `parlance dev`, "+
			"give --data-dir if it runs with another data directory, or --base-url and --api-key", command.EnvFile, dir)
	}
	if u, err := url.Parse(found.Base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Installation{}, command.Usagef("--base-url (%s) must be a URL such as http://127.0.0.1:8080, not %q",
			command.EnvBaseURL, found.Base)
	}
	if local := filepath.Join(dir, command.CAFile); found.CAFile == "" && fileExists(local) {
		found.CAFile = local
	}
	return found, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Client returns an HTTP client for the Connect stubs. It has no time-out, because answers stream.
func (i Installation) Client() (*http.Client, error) {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: time.Minute,
	}
	if i.CAFile != "" {
		roots, err := publicnet.RootsWith(i.CAFile)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}, nil
}

// SDK returns the client of package parlance over an HTTP client, with further options.
func (i Installation) SDK(http *http.Client, change ...func(*parlance.Options)) (*parlance.Client, error) {
	options := parlance.Options{BaseURL: i.Base, APIKey: i.APIKey, HTTPClient: http}
	for _, one := range change {
		one(&options)
	}
	return parlance.New(options)
}

// Options make the Connect stubs send the API key.
func (i Installation) Options() []connect.ClientOption {
	return []connect.ClientOption{connect.WithInterceptors(bearer(i.APIKey))}
}

// bearer is an interceptor that sends an API key.
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

// WrapStreamingHandler implements connect.Interceptor; it is for servers.
func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// Explain turns the error of a call into a sentence, with advice if possible. doing says what the
// call was for.
func (i Installation) Explain(doing string, err error) error {
	if _, ok := errors.AsType[*connect.Error](err); !ok {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if connect.CodeOf(err) == connect.CodeCanceled {
		return context.Canceled
	}
	return fmt.Errorf("%s: %s", doing, i.Reason(err))
}

// Reason is Explain without what the call was for.
func (i Installation) Reason(err error) string {
	refused, ok := errors.AsType[*connect.Error](err)
	switch {
	case !ok:
		return err.Error()
	case refused.Code() == connect.CodeUnavailable && !connect.IsWireError(err):
		return fmt.Sprintf("nothing answers at %s. Is `parlance dev` running?", i.Base)
	case refused.Code() == connect.CodeUnauthenticated:
		return refused.Message() + " Keys of a data directory that was deleted or of another installation do not work: " +
			"give --api-key, or take the one `parlance dev` prints"
	case fault.Reason(refused.Message()) == fault.InternalError || refused.Message() == "":
		return refused.Code().String()
	}
	return refused.Message()
}

// IsFinal reports whether a repeated call would fail in the same way. A failed precondition is not
// final: what it asks for may come about.
func IsFinal(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeNotFound, connect.CodeInvalidArgument,
		connect.CodeUnimplemented:
		return true
	}
	return false
}
