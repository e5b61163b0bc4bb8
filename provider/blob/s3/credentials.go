package s3

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"parlance.dev/parlance/platform/publicnet"
)

// credentialsTimeout bounds one call of AWS's services for credentials.
const credentialsTimeout = 5 * time.Second

// newCredentials returns the configured key. Without one it looks where AWS's programs look: in
// the environment and, for AWS, at the service of the machine, container or cluster.
func newCredentials(config Config, a address) (*credentials.Credentials, error) {
	id, secret := config.AccessKeyID, config.SecretAccessKey
	if id.IsSet() != secret.IsSet() {
		return nil, errors.New("PARLANCE_S3_ACCESS_KEY_ID and PARLANCE_S3_SECRET_ACCESS_KEY must be set together")
	}
	if id.IsSet() {
		return credentials.NewStaticV4(id.Reveal(), secret.Reveal(), ""), nil
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}}
	if a.amazon() {
		client, err := roleClient(config.Guard, a.region)
		if err != nil {
			return nil, err
		}
		providers = append(providers, &credentials.IAM{Client: client, Region: a.region})
	}
	return credentials.New(&search{providers: providers}), nil
}

// roleClient reaches what AWS's programs ask for the credentials of a role, and nothing else.
func roleClient(guard *publicnet.Guard, region string) (*http.Client, error) {
	sts := "https://sts." + region + ".amazonaws.com"
	return guard.OperatorClient([]string{
		"http://169.254.169.254",                      // EC2's metadata
		"http://169.254.170.2",                        // ECS's tasks
		"http://169.254.170.23",                       // EKS's pod identities
		"https://sts.amazonaws.com", sts, sts + ".cn", // web identities
	}, publicnet.ClientOptions{Timeout: credentialsTimeout})
}

// search returns the first credentials that a provider has. Unlike credentials.Chain it fails when
// there are none, instead of sending requests without a signature.
type search struct {
	providers []credentials.Provider
	found     credentials.Provider
}

// RetrieveWithCredContext implements credentials.Provider.
func (s *search) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	var failed error
	for _, provider := range s.providers {
		value, err := provider.RetrieveWithCredContext(cc)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			s.found = provider
			return value, nil
		}
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return credentials.Value{}, fmt.Errorf("%w: %w", errNoCredentials, failed)
	}
	return credentials.Value{}, errNoCredentials
}

// Retrieve implements credentials.Provider.
func (s *search) Retrieve() (credentials.Value, error) { return s.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (s *search) IsExpired() bool { return s.found == nil || s.found.IsExpired() }
