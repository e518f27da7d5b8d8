package main

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	pb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
)

func TestCards(t *testing.T) {
	t.Parallel()
	agent := start(t, config{})
	resp := do(t, http.MethodGet, agent+"/.well-known/agent-card.json", nil, nil) //nolint:bodyclose // do closes it with the test
	etag := resp.Header.Get("ETag")
	if etag == "" || resp.Header.Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("the card has the headers %v", resp.Header)
	}
	if again := do(t, http.MethodGet, agent+"/.well-known/agent-card.json", nil, http.Header{"If-None-Match": {etag}}); again.StatusCode != http.StatusNotModified { //nolint:bodyclose // do closes it with the test
		t.Errorf("the same card again: %s, want 304", again.Status)
	}
	var card pb.AgentCard
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	strict(t, body, &card) // and nothing of another version
	if c := card.GetCapabilities(); !c.GetStreaming() || !c.GetPushNotifications() || !c.GetExtendedAgentCard() || len(card.GetSkills()) == 0 {
		t.Errorf("the card is %s", body)
	}
	for _, b := range bindings(t, agent) {
		var extended pb.AgentCard
		b.must(t, "GetExtendedAgentCard", object{}, &extended)
		if extended.GetName() != card.GetName() {
			t.Errorf("%s: the extended card is %v", b.name, &extended)
		}
	}
	old := get(t, agent+"/.well-known/agent.json", nil)
	var m map[string]json.RawMessage
	if err := json.Unmarshal(old, &m); err != nil || m["url"] == nil {
		t.Errorf("the card of the older versions is %s: %v", old, err)
	}
}

// A card of all versions is what the agents of the pipeline have.
func TestUnionCard(t *testing.T) {
	t.Parallel()
	agent := start(t, config{union: true})
	var m struct {
		SupportedInterfaces []json.RawMessage `json:"supportedInterfaces"`
		URL                 string            `json:"url"`
		ProtocolVersion     string            `json:"protocolVersion"`
		PreferredTransport  string            `json:"preferredTransport"`
	}
	body := get(t, agent+"/.well-known/agent-card.json", nil)
	if err := json.Unmarshal(body, &m); err != nil || len(m.SupportedInterfaces) < 2 || m.URL == "" || m.ProtocolVersion == "" || m.PreferredTransport != "JSONRPC" {
		t.Errorf("the card is %s: %v", body, err)
	}
}

func TestWithoutPush(t *testing.T) {
	t.Parallel()
	agent := start(t, config{noPush: true})
	for _, b := range bindings(t, agent) {
		b.refuses(t, "CreateTaskPushNotificationConfig", object{"taskId": "t", "url": "https://example.com"}, "PUSH_NOTIFICATION_NOT_SUPPORTED")
		b.refuses(t, "ListTaskPushNotificationConfigs", object{"taskId": "t"}, "PUSH_NOTIFICATION_NOT_SUPPORTED")
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	agent := start(t, config{})
	for _, b := range bindings(t, agent) {
		params := object{"message": message("tck-complete-task")}
		for version, want := range map[string]*wrong{
			"1.0.1": nil,
			"99.0":  {code: errorCodes["VERSION_NOT_SUPPORTED"].rpc, reason: "VERSION_NOT_SUPPORTED"},
		} {
			resp := b.send(t, b, "SendMessage", params, http.Header{"A2a-Version": {version}}) //nolint:bodyclose // do closes it with the test
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			_, got := b.parse(t, resp, body)
			if want != nil && b.name == "HTTP+JSON" {
				want.code = errorCodes["VERSION_NOT_SUPPORTED"].rest
			}
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%s %s: %+v, want %+v", b.name, version, got, want)
			}
		}
	}
}
