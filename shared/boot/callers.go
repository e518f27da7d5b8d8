package boot

import (
	"fmt"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/identity"
)

// Callers say whose calls the agents take. Without any of it, and outside the
// local system, they take nobody's.
type Callers struct {
	// TokenSecret signs the tokens that POST /login gives to Clients, which are
	// id=sha256:HEX with the hash of each client's secret. Both are random.
	TokenSecret Secret `env:"TRUECOST_TOKEN_SECRET"`
	Clients     string `env:"TRUECOST_CLIENTS"`

	// Issuers are OpenID Connect providers whose tokens are believed: for the
	// address of the agent that is called, or for one of Audiences; and of Subjects
	// alone, if there are any, by subject or verified e-mail address.
	Issuers   []string `env:"TRUECOST_ISSUERS"`
	Audiences []string `env:"TRUECOST_AUDIENCES"`
	Subjects  []string `env:"TRUECOST_SUBJECTS"`

	// Account is the service account that the pipeline calls the agents with, by
	// subject or e-mail address, in tokens of Google's when that is one of Issuers.
	Account string `env:"TRUECOST_ACCOUNT"`
}

// google signs tokens for everybody, and for any address that is asked for.
const google = "https://accounts.google.com"

// callers returns who is believed, or what is wrong with the configuration of it.
func (c Config) callers() (*identity.Authority, error) {
	clients, err := identity.ParseClients(c.Clients)
	if err != nil {
		return nil, fmt.Errorf("TRUECOST_CLIENTS: %w", err)
	}
	believed := identity.Config{
		URL: strings.TrimSuffix(c.AgentsURL, "/"), Secret: string(c.TokenSecret), Clients: clients, Audiences: c.Audiences, Now: now,
	}
	for _, url := range c.Issuers {
		issuer := identity.Issuer{URL: url, Subjects: c.Subjects}
		if url == google {
			issuer.Own = c.Account
			if len(c.Subjects) == 0 && c.Account != "" {
				issuer.Subjects = []string{c.Account} // nobody else
			}
			if len(issuer.Subjects) == 0 {
				return nil, fmt.Errorf("TRUECOST_SUBJECTS: is empty, and %s knows everybody: want who is let in", google)
			}
		}
		believed.Issuers = append(believed.Issuers, issuer)
	}
	if c.LocalAuth {
		believed.Local = callable.UnsignedVerifier
	}
	authority, err := identity.New(believed)
	if err != nil {
		return nil, fmt.Errorf("TRUECOST_TOKEN_SECRET, TRUECOST_CLIENTS, TRUECOST_ISSUERS: %w", err)
	}
	return authority, nil
}

// cardAuth is what the cards say of it: one of the ways is enough. Nil when there
// is none that a stranger could go.
func (c Config) cardAuth() *card.Auth {
	auth := &card.Auth{Schemes: sdk.NamedSecuritySchemes{}, Login: c.TokenSecret != ""}
	if auth.Login {
		auth.Schemes["bearer"] = sdk.HTTPAuthSecurityScheme{
			Scheme: "bearer", BearerFormat: "JWT", Description: "A token from POST /login with the credentials of a client.",
		}
	}
	for n, issuer := range c.Issuers {
		auth.Schemes[sdk.SecuritySchemeName(fmt.Sprintf("issuer%d", n+1))] = sdk.OpenIDConnectSecurityScheme{
			OpenIDConnectURL: strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration",
		}
	}
	if len(auth.Schemes) == 0 {
		return nil
	}
	if !c.LocalAuth {
		if auth.Login {
			auth.Requirements = append(auth.Requirements, sdk.SecurityRequirements{"bearer": {}})
		}
		for n := range c.Issuers {
			auth.Requirements = append(auth.Requirements, sdk.SecurityRequirements{sdk.SecuritySchemeName(fmt.Sprintf("issuer%d", n+1)): {}})
		}
	}
	return auth
}
