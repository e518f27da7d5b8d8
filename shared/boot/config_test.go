package boot

import (
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	c, err := Load(t.Context(), envconfig.MapLookuper(map[string]string{"GOOGLE_CLOUD_PROJECT": "acme", "PIPELINE_MAX_RETRIES": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	if c.AgentsURL != "https://us-central1-acme.cloudfunctions.net" || c.PassScore != 80 || c.MaxRetries != 1 || c.LocalAuth {
		t.Errorf("Load = %+v", c)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := []struct {
		env  map[string]string
		want []string
	}{
		{map[string]string{"A2A_BASE_URL": "nowhere"}, []string{"A2A_BASE_URL", "nowhere"}},
		{map[string]string{"PIPELINE_PASSING_SCORE": "101", "PIPELINE_MAX_RETRIES": "-1"}, []string{"PIPELINE_PASSING_SCORE", "PIPELINE_MAX_RETRIES"}},
		{map[string]string{"TRUECOST_AGENT_TIMEOUT": "-1s"}, []string{"TRUECOST_AGENT_TIMEOUT"}},
		{map[string]string{"TRUECOST_RUN_TIMEOUT": "soon"}, []string{"soon"}},
		{map[string]string{"TRUECOST_CARD_KEY": "hunter2"}, []string{"TRUECOST_CARD_KEY", "PEM"}},
		{map[string]string{"TAVILY_API_KEY": "k", "TAVILY_API_URL": "http://search.example"}, []string{"TAVILY_API_URL", "search.example"}},
		{map[string]string{"TAVILY_API_KEY": "k", "TAVILY_API_URL": "nowhere"}, []string{"TAVILY_API_URL", "nowhere"}},
		{map[string]string{"TAVILY_API_KEY": "k", "TRUECOST_CORPUS": "/srv/docs"}, []string{"TRUECOST_CORPUS", "TAVILY_API_KEY"}},
		{map[string]string{"TRUECOST_LOCAL_AUTH": "true"}, []string{"TRUECOST_LOCAL_AUTH", "FIRESTORE_EMULATOR_HOST"}},
	}
	for _, tt := range tests {
		_, err := Load(t.Context(), envconfig.MapLookuper(tt.env))
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Load(%v) = %v, want an error naming %s", tt.env, err, want)
			}
		}
	}
}

// The faults come in one order, so that two starts say the same.
func TestFaultsHaveAnOrder(t *testing.T) {
	t.Parallel()
	const want = "TRUECOST_AGENT_TIMEOUT: 0s is not a positive duration\n" +
		"TRUECOST_RUN_TIMEOUT: 0s is not a positive duration\n" +
		"TRUECOST_RETRY_PAUSE: 0s is not a positive duration\n" +
		"TRUECOST_STEP_LEASE: 0s is not a positive duration\n" +
		"TRUECOST_TASK_LEASE: 0s is not a positive duration\n" +
		"TRUECOST_OVERDUE: 0s is not a positive duration"
	for range 20 {
		err := Config{AgentsURL: "http://127.0.0.1"}.Validate()
		if err == nil || err.Error() != want {
			t.Fatalf("Validate =\n%v\nwant\n%s", err, want)
		}
	}
}
