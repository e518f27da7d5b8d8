package card

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

var update = flag.Bool("update", false, "rewrite the cards in testdata")

func testAgent() task.Agent {
	return task.Agent{
		Name: "sums", Description: "Adds what it is given, <exactly> & at once.", Version: "1.2.0",
		Skills: []task.Skill{{
			AgentSkill: sdk.AgentSkill{
				ID: "add", Name: "Add", Description: "Adds numbers.", Tags: []string{"math", "sum"},
				Examples: []string{"Add 1 and 2.", "Add nothing."},
			},
			Input: "the numbers", Output: "their sum",
			InputSchema: []byte(`{"type":"object","required":["numbers"]}`), OutputSchema: []byte(`{"type":"object"}`),
		}},
		InputModes: []string{"text/plain", "application/json"},
	}
}

func testKey(tb testing.TB) *Key {
	tb.Helper()
	raw, err := os.ReadFile("testdata/key.pem")
	if err != nil {
		tb.Fatal(err)
	}
	key, err := ParseKey(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func testAuth() *Auth {
	return &Auth{
		Schemes: sdk.NamedSecuritySchemes{
			"bearer": sdk.HTTPAuthSecurityScheme{Scheme: "bearer", BearerFormat: "JWT"},
			"header": sdk.APIKeySecurityScheme{Location: sdk.APIKeySecuritySchemeLocationHeader, Name: "X-Key"},
		},
		Requirements: sdk.SecurityRequirementsOptions{{"bearer": nil}},
		Login:        true,
	}
}

func variants(t *testing.T) map[string]Options {
	t.Helper()
	return map[string]Options{
		"open": {URL: "https://agents.example/a2a_sums"},
		"full": {
			URL: "https://agents.example/a2a_sums/", Push: true, Extended: true, Auth: testAuth(), Key: testKey(t),
			Provider:      &sdk.AgentProvider{Org: "TrueCost", URL: "https://truecost.dev"},
			Documentation: "https://truecost.dev/agents", Limits: Limits{BodyBytes: 10 << 20, Deadline: 5 * time.Minute},
		},
		"modern": {URL: "http://127.0.0.1:5001/a2a_sums", Modern: true, Auth: testAuth()},
	}
}

// Every card of an agent under each configuration, as a reader sees it.
func TestCards(t *testing.T) {
	t.Parallel()
	for name, opt := range variants(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cards, err := New(testAgent(), opt)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{}
			add := func(path string, text []byte) {
				var b bytes.Buffer
				if err := json.Indent(&b, text, "", "  "); err != nil {
					t.Errorf("%s is no JSON: %v", path, err)
				}
				got.Files = append(got.Files, txtar.File{Name: path, Data: append(b.Bytes(), '\n')})
			}
			for _, path := range []string{Path, EarlyPath, KeysPath} {
				w := httptest.NewRecorder()
				if cards.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://evil.example/a2a_sums"+path, nil)); w.Code == http.StatusOK {
					add(path, w.Body.Bytes())
				}
			}
			if extended, err := cards.Extended(t.Context(), task.Caller{ID: "anna"}); err == nil {
				add("extended", extended)
			} else if !errors.Is(err, sdk.ErrExtendedCardNotConfigured) || opt.Extended {
				t.Errorf("Extended = %v", err)
			}
			short, err := wire.Compact(ShortOf(testAgent()))
			if err != nil {
				t.Fatal(err)
			}
			add("short", short)
			file := "testdata/" + name + ".txtar"
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
				t.Errorf("cards of %s (-want +got)\n%s", name, diff)
			}
			again, err := New(testAgent(), opt)
			if err != nil || !bytes.Equal(again.Public(), cards.Public()) {
				t.Errorf("the second making of a card differs from the first (%v)", err)
			}
		})
	}
}

// Whoever reads 1.0 from a card finds what a card of 1.0 says.
func TestTheSDKReadsCards(t *testing.T) {
	t.Parallel()
	cards, err := New(testAgent(), variants(t)["open"])
	if err != nil {
		t.Fatal(err)
	}
	var card sdk.AgentCard
	if err := json.Unmarshal(cards.Public(), &card); err != nil {
		t.Fatal(err)
	}
	if card.Name != "sums" || len(card.SupportedInterfaces) != 4 || !card.Capabilities.Streaming || card.Capabilities.PushNotifications || card.Skills[0].ID != "add" {
		t.Errorf("card = %+v", card)
	}
}

// The extended card is not for nobody, unless nobody need say who they are.
func TestExtendedIsNotForNobody(t *testing.T) {
	t.Parallel()
	opt := Options{URL: "https://agents.example/a2a_sums", Extended: true}
	for _, auth := range []*Auth{nil, testAuth()} {
		opt.Auth = auth
		cards, err := New(testAgent(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cards.Extended(t.Context(), task.Caller{}); (err == nil) != (auth == nil) || err != nil && fault.KindOf(err) != fault.Unknown {
			t.Errorf("Extended(nobody) with auth %v = %v", auth != nil, err)
		}
		if _, err := cards.Extended(t.Context(), task.Caller{ID: "anna"}); err != nil {
			t.Errorf("Extended(anna) = %v", err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*task.Agent, *Options)
		want   string
	}{
		{"no address", func(_ *task.Agent, o *Options) { o.URL = "" }, "not absolute"},
		{"a path", func(_ *task.Agent, o *Options) { o.URL = "/a2a_sums" }, "not absolute"},
		{"a query", func(_ *task.Agent, o *Options) { o.URL += "?a=b" }, "not absolute"},
		{"no skill", func(a *task.Agent, _ *Options) { a.Skills = nil }, "a skill"},
		{"no description", func(a *task.Agent, _ *Options) { a.Description = "" }, "description"},
		{"a skill without tags", func(a *task.Agent, _ *Options) { a.Skills[0].Tags = nil }, "tags"},
		{"a schema that is none", func(a *task.Agent, _ *Options) { a.Skills[0].OutputSchema = []byte("{") }, "schema"},
		{"a scheme nobody knows", func(_ *task.Agent, o *Options) { o.Auth = &Auth{Schemes: sdk.NamedSecuritySchemes{"x": nil}} }, "scheme"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, o := testAgent(), Options{URL: "https://agents.example/a2a_sums"}
			tt.change(&a, &o)
			if _, err := New(a, o); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error with %q", err, tt.want)
			}
		})
	}
}
