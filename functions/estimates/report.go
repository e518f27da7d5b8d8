package estimates

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/report"
)

const mediaPDF = "application/pdf"

// printing is a request for a PDF. Its names are those of the published
// contract; the camel case of other calls is read too.
type printing struct {
	subject
	ProjectID      string           `json:"project_id"`
	ProjectIDCamel string           `json:"projectId"`
	ClientReady    bool             `json:"client_ready"`
	ClientCamel    bool             `json:"clientReady"`
	Sections       []report.Section `json:"sections"`
}

// printed is the published answer, which has no envelope.
type printed struct {
	Success     bool    `json:"success"`
	URL         string  `json:"pdf_url"`      // data:application/pdf;base64,…
	StoragePath string  `json:"storage_path"` // pdfs/{id}/{name}, kept as estimates/{id}/reports/{name}
	Pages       int     `json:"page_count"`
	Size        int     `json:"file_size_bytes"`
	GeneratedAt *string `json:"generated_at"` // the time of the estimate that is printed; null when it has none
}

// pdf renders the report of an estimate from its document and keeps it. The URL
// carries the file itself: it needs no bucket and no key, and opens for nobody
// but the one who got it.
func (p Ports) pdf(ctx context.Context, call callable.Call) (any, error) {
	var req printing
	user, err := decode(call, &req)
	if err == nil {
		err = p.findEstimate(ctx, &req)
	}
	if err != nil {
		return nil, err
	}
	store, doc, err := p.printable(ctx, req.EstimateID, user)
	if err != nil {
		return nil, err
	}
	options := report.Options{Client: req.ClientReady || req.ClientCamel, Sections: req.Sections}
	file, err := report.PDF(doc, options)
	if fault.KindOf(err) == fault.Invalid {
		return nil, invalid("INVALID_FIELD", "sections", "sections: "+fault.Public(err))
	}
	if err != nil {
		return nil, fmt.Errorf("print %s: %w", req.EstimateID, err)
	}
	name := "estimate.pdf"
	if options.Client {
		name = "estimate_client.pdf"
	}
	if err := store.PutReport(ctx, req.EstimateID, name, mediaPDF, file.Bytes); err != nil {
		return nil, fmt.Errorf("keep the report of %s: %w", req.EstimateID, err)
	}
	var generated *string
	if date := doc.Date(); !date.IsZero() {
		generated = new(date.Format(time.RFC3339))
	}
	return printed{
		Success: true, URL: "data:" + mediaPDF + ";base64," + base64.StdEncoding.EncodeToString(file.Bytes),
		StoragePath: "pdfs/" + req.EstimateID + "/" + name,
		Pages:       file.Pages, Size: len(file.Bytes), GeneratedAt: generated,
	}, nil
}

// findEstimate reads which estimate is meant: the one named, or the one that the
// project shows.
func (p Ports) findEstimate(ctx context.Context, req *printing) error {
	if err := req.read(); err != nil || req.EstimateID != "" {
		return err
	}
	project := orElse(req.ProjectID, req.ProjectIDCamel)
	if project == "" {
		return missing("estimate_id", "the id of an estimate, or project_id")
	}
	store, err := p.Store()
	if err != nil {
		return err
	}
	if req.EstimateID, err = store.ProjectEstimate(ctx, project); fault.KindOf(err) == fault.NotFound {
		return noEstimate("of project " + project)
	}
	return err
}

// exporting is a request for the estimate as data.
type exporting struct {
	subject
	Format string `json:"format"` // json, lines_csv or divisions_csv; json when not given
}

// formats are the exports, with their media types.
var formats = map[string]struct {
	media string
	write func(*report.Document) ([]byte, error)
}{
	"json":          {"application/json", report.JSON},
	"lines_csv":     {"text/csv", report.LinesCSV},
	"divisions_csv": {"text/csv", report.DivisionsCSV},
}

// export answers with the totals, lines or divisions of an estimate.
func (p Ports) export(ctx context.Context, call callable.Call) (any, error) {
	var req exporting
	user, err := decode(call, &req)
	if err == nil {
		err = req.needEstimate()
	}
	format, known := formats[orElse(req.Format, "json")]
	if err == nil && !known {
		err = wanted("format", "json, lines_csv or divisions_csv")
	}
	if err != nil {
		return nil, err
	}
	_, doc, err := p.printable(ctx, req.EstimateID, user)
	if err != nil {
		return nil, err
	}
	content, err := format.write(doc)
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", req.EstimateID, err)
	}
	return success(map[string]any{"estimateId": req.EstimateID, "contentType": format.media, "content": string(content)})
}

// printable returns the document of an estimate that has a total.
func (p Ports) printable(ctx context.Context, id, user string) (Store, *report.Document, error) {
	store, fields, err := p.owned(ctx, id, user)
	if err != nil {
		return nil, nil, err
	}
	fields, err = whole(ctx, store, id, fields)
	if err != nil {
		return nil, nil, err
	}
	fields["estimateId"] = id
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, nil, fmt.Errorf("encode estimate %s: %w", id, err)
	}
	doc, err := report.Read(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read estimate %s: %w", id, err)
	}
	if doc.Total() == nil {
		e := fault.New(fault.Conflict, "estimate %s has no total yet: its status is %v", id, fields["status"])
		e.Details = problem{Code: "PIPELINE_INVALID_STATE"}
		return nil, nil, e
	}
	return store, doc, nil
}

// whole puts the outputs that have no room on the root back where they belong.
func whole(ctx context.Context, store Store, id string, fields map[string]any) (map[string]any, error) {
	fields = maps.Clone(fields)
	for _, agent := range estimate.Agents {
		name := agent + "Output"
		reference, _ := fields[name].(map[string]any)
		switch text, encoded := fields[name].(string); {
		case encoded && fields[name+"Encoding"] == "json" && json.Valid([]byte(text)):
			fields[name] = json.RawMessage(text)
		case reference["truncated"] == true:
			output, err := store.Output(ctx, id, agent)
			if err != nil && fault.KindOf(err) != fault.NotFound {
				return nil, fmt.Errorf("output of %s: %w", agent, err)
			}
			delete(fields, name)
			if err == nil {
				fields[name] = output
			}
		}
	}
	return fields, nil
}
