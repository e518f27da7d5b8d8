package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/a2a"
)

// built is the folder that program made; TestMain removes it.
var built string

// program is the folder with the truecost command, built once.
var program = sync.OnceValues(func() (string, error) {
	// The command is not linked into this test: reading its folder makes the test
	// cache look at its sources.
	if _, err := os.ReadDir("../../cmd/truecost"); err != nil {
		return "", err
	}
	var err error
	if built, err = os.MkdirTemp("", "truecost-e2e"); err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", built, "truecost.dev/cmd/truecost").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the command: %w\n%s", err, out)
	}
	return built, err
})

// The command line against a system that runs. Estimates whose id begins with
// held wait for their first agent for ever.
func TestScripts(t *testing.T) {
	t.Parallel()
	st := newStage(t, func(_ string, r a2a.Request) bool { return strings.HasPrefix(r.EstimateID, "held") })
	s := start(t, hub.Config{}, st.env())
	st.before(t, s)
	s.scripts(t, "testdata/script", nil)
}

// scripts runs the scripts of a folder in parallel, each as a user of its own;
// the system ends when the last is through.
func (s *system) scripts(t *testing.T, dir string, more map[string]func(*testscript.TestScript, bool, []string)) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	testdata, err := filepath.Abs(inputs)
	if err != nil {
		t.Fatal(err)
	}
	cmds := map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "json": jsonIs}
	maps.Copy(cmds, more)
	t.Run("on a running system", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true,
			Setup: func(env *testscript.Env) error {
				env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
				env.Setenv("TRUECOST_INSPECTOR", "http://"+s.Addresses().Inspector)
				env.Setenv("TRUECOST_USER", filepath.Base(env.WorkDir))
				env.Setenv("FUNCTIONS", s.Addresses().FunctionsURL())
				env.Setenv("TESTDATA", testdata)
				return nil
			},
			Cmds: cmds,
		})
	})
}

// exits runs a command that must end with a code: exits 2 truecost …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exits %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// jsonIs proves that a file is one JSON document and says what stands at a path
// of it: json stdout status complete. Without a value it wants one that is
// there and is not null.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 3 {
		ts.Fatalf("usage: json file [path [value]]")
	}
	var document any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &document); err != nil {
		ts.Fatalf("%s is no JSON document: %v", args[0], err)
	}
	if len(args) == 1 {
		return
	}
	for name := range strings.SplitSeq(args[1], ".") {
		switch v := document.(type) {
		case map[string]any:
			document = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				ts.Fatalf("%s: there is no element %s of %d", args[1], name, len(v))
			}
			document = v[i]
		default:
			ts.Fatalf("%s: nothing is below %v", args[1], v)
		}
	}
	got, err := json.Marshal(document)
	ts.Check(err)
	if text, ok := document.(string); ok {
		got = []byte(text)
	}
	if document == nil || len(args) == 3 && string(got) != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, strings.Join(args[2:], ""))
	}
}

// Every bad input is refused twice over, by the command line and by the
// callable, with the path of its fault, and leaves nothing behind.
func TestBadInputs(t *testing.T) {
	t.Parallel()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(inputs, "bad", "*.json"))
	if err != nil || len(files) < 25 {
		t.Fatalf("%d bad inputs, %v", len(files), err)
	}
	s := start(t, hub.Config{}, nil)
	for _, file := range files {
		want, err := os.ReadFile(strings.TrimSuffix(file, "json") + "want")
		if err != nil {
			t.Fatal(err)
		}
		path, code, _ := strings.Cut(strings.TrimSpace(string(want)), " ")

		stdout, stderr := s.refuse(t, bin, file)
		if line := "\n" + path + ": "; len(stdout) > 0 || !strings.Contains(stderr, line) || !strings.Contains(stderr, "["+code+"]") {
			t.Errorf("%s: stdout %q, stderr %q; want nothing, and a line of %s with %s", file, stdout, stderr, path, code)
		}
		stdout, stderr = s.refuse(t, bin, "-json", file)
		var told problems
		if err := json.Unmarshal([]byte(stdout), &told); err != nil || stderr != "" || !told.name(path, code) {
			t.Errorf("%s -json: stdout %s (%v), stderr %q; want %s %s", file, stdout, err, stderr, path, code)
		}
		s.post(t, file, path, code)
	}
	s.isEmpty(t, "after bad inputs alone")
}

// refuse runs truecost estimate, which must exit 2.
func (s *system) refuse(t *testing.T, bin string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "truecost"), append([]string{"estimate"}, args...)...)
	cmd.Env = append(os.Environ(), "TRUECOST_INSPECTOR=http://"+s.Addresses().Inspector)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code tells
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("truecost estimate %v exits %d, want 2", args, code)
	}
	return out.String(), errs.String()
}

// problems is how faults of an input are reported.
type problems struct {
	Errors []struct {
		Path string `json:"path"`
		Code string `json:"code"`
	} `json:"errors"`
}

func (p problems) name(path, code string) bool {
	return len(p.Errors) == 1 && p.Errors[0].Path == path && p.Errors[0].Code == code
}

// post sends a bad input straight to the callable. What is no JSON cannot even
// be enclosed in a call.
func (s *system) post(t *testing.T, file, path, code string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body := append(append([]byte(`{"data":{"estimateId":"bad-1","clarificationOutput":`), raw...), "}}"...)
	resp, err := s.HTTP.Post(s.BaseURL+"/start_deep_pipeline", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Error struct {
			Status  string   `json:"status"`
			Details problems `json:"details"`
		} `json:"error"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if resp.StatusCode != http.StatusBadRequest || answer.Error.Status != "INVALID_ARGUMENT" {
		t.Errorf("%s: HTTP %d %s, want 400 INVALID_ARGUMENT", file, resp.StatusCode, answer.Error.Status)
	}
	if json.Valid(raw) && !answer.Error.Details.name(path, code) {
		t.Errorf("%s: details %+v, want %s %s", file, answer.Error.Details, path, code)
	}
}
