package command

import (
	"context"
	"fmt"
	"time"

	"parlance.dev/parlance/app"
	"parlance.dev/parlance/platform/devstack"
	"parlance.dev/parlance/platform/redis"
	"parlance.dev/parlance/server"
)

// stopTimeout limits how long a command waits for its private servers to stop.
const stopTimeout = 20 * time.Second

// Process describes the process of a command that serves.
type Process struct {
	Config app.Config
	// Version is the version of the program.
	Version string
	// Component is server, worker or dev.
	Component string
}

// Open joins the parts of the process. Close them with Close.
func (p Process) Open(ctx context.Context) (*app.App, error) {
	log, err := app.OpenLogger(p.Config)
	if err != nil {
		return nil, err
	}
	redis.LogTo(log, p.Config.RedisURL.Reveal())
	return app.Open(ctx, p.Config, app.Params{Version: p.Version, Log: log, Component: p.Component})
}

// Close closes the parts and returns err, or the error of closing when err is nil.
func Close(opened *app.App, err error) error {
	if closed := opened.Close(); err == nil && closed != nil {
		return fmt.Errorf("close: %w", closed)
	}
	return err
}

// LoadCertificate reads the TLS certificate that the settings name.
func LoadCertificate(config app.Config) (*server.Certificate, error) {
	log, err := app.OpenLogger(config)
	if err != nil {
		return nil, err
	}
	certificate, err := server.LoadCertificate(server.CertificateConfig{
		CertFile: config.TLSCertFile, KeyFile: config.TLSKeyFile, Log: log, Now: time.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("read PARLANCE_TLS_CERT_FILE and PARLANCE_TLS_KEY_FILE: %w", err)
	}
	return certificate, nil
}

// StopStack releases private servers, also after the command was interrupted.
func StopStack(ctx context.Context, stack *devstack.Stack) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	_ = stack.Stop(ctx) // the lock of its users ends with this process in any case
}
