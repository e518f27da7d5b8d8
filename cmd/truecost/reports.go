package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
)

func pdfFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.dir, "dir", ".", "`folder` to write into; it is made when it is not there")
	exportFlag(fs, o)
}

func exportFlag(fs *flag.FlagSet, o *options) {
	fs.BoolVar(&o.export, "export", false, "write the totals as JSON and the lines and divisions as CSV too")
}

func checkPDF(c *call) error {
	if id := c.args[0]; !intake.ValidID(id) {
		return fmt.Errorf("%q cannot be the id of an estimate", id)
	}
	return nil
}

// runPDF writes both reports of an estimate that is there.
func runPDF(ctx context.Context, c *call) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	out := c.stdout
	if c.json {
		out = io.Discard
	}
	files, err := c.reports(ctx, s, c.args[0], c.dir, out)
	if err == nil && c.json {
		err = c.printJSON(map[string]any{"estimateId": c.args[0], "files": files})
	}
	return err
}

// reports writes the files of an estimate into a folder, says so on out, and
// returns their names.
func (c *call) reports(ctx context.Context, s *service, id, dir string, out io.Writer) ([]string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fault.New(fault.Invalid, "%v", err)
	}
	var files []string
	write := func(name, about string, content []byte) error {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return fault.New(fault.Invalid, "%v", err)
		}
		files = append(files, name)
		_, err := fmt.Fprintf(out, "%s  (%s)\n", name, about)
		return err
	}
	for _, kind := range []string{"client", "contractor"} {
		content, pages, err := c.printed(ctx, s, id, kind == "client")
		if err == nil {
			err = write(id+"-"+kind+".pdf", fmt.Sprintf("%d pages", pages), content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s report of %s: %w", kind, id, err)
		}
	}
	if !c.export {
		return files, nil
	}
	for _, v := range [][2]string{{"json", ".json"}, {"lines_csv", "-lines.csv"}, {"divisions_csv", "-divisions.csv"}} {
		var answer struct {
			Content string `json:"content"`
		}
		err := c.ask(ctx, s, "export_estimate", map[string]any{"estimateId": id, "format": v[0]}, &answer)
		if err == nil {
			err = write(id+v[1], fmt.Sprintf("%d bytes", len(answer.Content)), []byte(answer.Content))
		}
		if err != nil {
			return nil, fmt.Errorf("export of %s: %w", id, err)
		}
	}
	return files, nil
}

// printed returns a report. Its answer has no envelope, and its URL is the file.
func (c *call) printed(ctx context.Context, s *service, id string, client bool) (content []byte, pages int, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	data := map[string]any{"estimate_id": id, "client_ready": client}
	if c.user != "" {
		data["userId"] = c.user
	}
	var answer struct {
		URL   string `json:"pdf_url"`
		Pages int    `json:"page_count"`
	}
	if err := s.callables(c.token).Call(ctx, "generate_pdf", data, &answer); err != nil {
		return nil, 0, err
	}
	encoded, ok := strings.CutPrefix(answer.URL, "data:application/pdf;base64,")
	content, err = base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return nil, 0, fault.Wrap(fault.Internal, err, "generate_pdf: the answer holds no PDF")
	}
	return content, answer.Pages, nil
}

// checkEstimate refuses reports of an estimate that nobody waits for.
func checkEstimate(c *call) error {
	switch {
	case c.detach && c.dir != "":
		return errors.New("-pdf needs the end of the run, and -detach does not wait for it: use truecost pdf later")
	case c.export && c.dir == "":
		return errors.New("-export needs -pdf, the folder to write into")
	}
	return nil
}
