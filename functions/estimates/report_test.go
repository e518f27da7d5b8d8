package estimates_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate/synthesis"
	"truecost.dev/shared/gcp/docstore"
)

// finish puts the estimate of a sample into the store, as a run leaves it, with
// its cost in a document of its own as a large one is.
func (s *service) finish(t *testing.T, id, owner string) {
	t.Helper()
	ctx := sample.Planned(t, "deck")
	final, err := synthesis.Final(ctx)
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{}
	for _, v := range []any{synthesis.Root(ctx, final), map[string]any{
		"userId": owner, "status": "complete", "locationOutput": ctx.Location, "riskOutput": ctx.Risk, "timelineOutput": ctx.Timeline,
		"finalOutput": final, "costOutput": map[string]any{"truncated": true, "document": "agentOutputs/cost"},
	}} {
		maps.Copy(doc, object(t, v))
	}
	ref := s.client.Collection("estimates").Doc(id)
	if _, err := ref.Set(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
	if _, err := ref.Collection("agentOutputs").Doc("cost").Set(t.Context(), map[string]any{"output": object(t, ctx.Cost), "outputEncoding": ""}); err != nil {
		t.Fatal(err)
	}
	status := s.client.Collection("projects").Doc("p-1").Collection("pipeline").Doc("status")
	if _, err := status.Set(t.Context(), map[string]any{"pipelineId": id}); err != nil {
		t.Fatal(err)
	}
}

func object(t *testing.T, v any) map[string]any {
	t.Helper()
	var m map[string]any
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// print calls generate_pdf, whose answer has no envelope.
func (s *service) print(t *testing.T, user string, data map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer eyJhbGciOiJub25lIiwidHlwZSI6IkpXVCJ9."+encode(t, map[string]string{"sub": user})+".")
	w := httptest.NewRecorder()
	s.serve["generate_pdf"].ServeHTTP(w, r)
	var answer map[string]map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("generate_pdf answered %s", w.Body.String())
	}
	if result := answer["result"]; result != nil {
		return w.Code, result
	}
	return w.Code, answer["error"]
}

func TestGeneratePDF(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.finish(t, "est-1", "anna")
	store := docstore.New(s.client)
	for name, data := range map[string]map[string]any{
		"estimate.pdf":        {"estimate_id": "est-1"},
		"estimate_client.pdf": {"project_id": "p-1", "client_ready": true},
	} {
		code, got := s.print(t, "anna", data)
		if code != http.StatusOK || got["success"] != true || got["storage_path"] != "pdfs/est-1/"+name || got["generated_at"] != "2026-03-02T00:00:00Z" {
			t.Fatalf("generate_pdf of %v = %d %v", data, code, got)
		}
		link, _ := got["pdf_url"].(string)
		file, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(link, "data:application/pdf;base64,"))
		if err != nil || !bytes.HasPrefix(file, []byte("%PDF-")) || got["file_size_bytes"] != float64(len(file)) {
			t.Errorf("generate_pdf of %v: pdf_url has %d bytes, %v; file_size_bytes is %v", data, len(file), err, got["file_size_bytes"])
		}
		if pages := bytes.Count(file, []byte("/Type /Page\n")); got["page_count"] != float64(pages) {
			t.Errorf("generate_pdf of %v: page_count = %v, want %d", data, got["page_count"], pages)
		}
		kept, err := store.Report(t.Context(), "est-1", name)
		if err != nil || !bytes.Equal(kept, file) {
			t.Errorf("%s was kept with %d bytes, %v; want %d", name, len(kept), err, len(file))
		}
	}
	if code, got := s.call(t, "delete_estimate", "anna", map[string]any{"estimateId": "est-1"}); code != http.StatusOK {
		t.Fatalf("delete = %d %v", code, got)
	}
	if _, err := store.Report(t.Context(), "est-1", "estimate.pdf"); err == nil {
		t.Error("delete left a report")
	}
}

func TestGeneratePDFRefuses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.finish(t, "est-1", "anna")
	if code, _ := s.call(t, "start_deep_pipeline", "anna", map[string]any{"estimateId": "est-2", "clarificationOutput": deck(t, nil)}); code != http.StatusOK {
		t.Fatalf("start = %d", code)
	}
	tests := []struct {
		name, user string
		data       map[string]any
		code       int
		detail     string
	}{
		{"nothing", "anna", map[string]any{}, 400, "MISSING_FIELD"},
		{"bad id", "anna", map[string]any{"estimate_id": "a/b"}, 400, "INVALID_FIELD"},
		{"no section", "anna", map[string]any{"estimate_id": "est-1", "sections": []string{"secrets"}}, 400, "INVALID_FIELD"},
		{"not the client's", "anna", map[string]any{"estimate_id": "est-1", "client_ready": true, "sections": []string{"labor_analysis"}}, 400, "INVALID_FIELD"},
		{"another's", "bert", map[string]any{"estimate_id": "est-1"}, 404, "ESTIMATE_NOT_FOUND"},
		{"another's project", "bert", map[string]any{"project_id": "p-1"}, 404, "ESTIMATE_NOT_FOUND"},
		{"no project", "anna", map[string]any{"project_id": "p-2"}, 404, "ESTIMATE_NOT_FOUND"},
		{"no estimate", "anna", map[string]any{"estimate_id": "none"}, 404, "ESTIMATE_NOT_FOUND"},
		{"not ready", "anna", map[string]any{"estimate_id": "est-2"}, 409, "PIPELINE_INVALID_STATE"},
	}
	for _, tt := range tests {
		code, e := s.print(t, tt.user, tt.data)
		details, _ := e["details"].(map[string]any)
		if code != tt.code || details["code"] != tt.detail {
			t.Errorf("%s: generate_pdf = %d %v, want %d %s", tt.name, code, e, tt.code, tt.detail)
		}
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.finish(t, "est-1", "anna")
	for format, want := range map[string]string{"": `"totalCost": `, "json": `"lines": [`, "lines_csv": "line_number,csi_division,", "divisions_csv": "code,name,"} {
		code, got := s.call(t, "export_estimate", "anna", map[string]any{"estimateId": "est-1", "format": format})
		if content, _ := got["content"].(string); code != http.StatusOK || !strings.Contains(content, want) {
			t.Errorf("export as %q = %d %v, want %q in it", format, code, got, want)
		}
	}
	if code, _ := s.call(t, "export_estimate", "anna", map[string]any{"estimateId": "est-1", "format": "xlsx"}); code != http.StatusBadRequest {
		t.Errorf("export as xlsx = %d, want %d", code, http.StatusBadRequest)
	}
	if code, _ := s.call(t, "export_estimate", "bert", map[string]any{"estimateId": "est-1"}); code != http.StatusNotFound {
		t.Errorf("export of another's = %d, want %d", code, http.StatusNotFound)
	}
}
