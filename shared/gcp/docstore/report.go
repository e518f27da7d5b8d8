package docstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/fault"
)

// maxReport bounds a report in bytes: what one document holds.
const maxReport = 900 << 10

// PutReport keeps a report as estimates/{id}/reports/{name} and says on the root
// of the estimate where it is. A report of that name before is replaced. It is
// fault.NotFound when there is no such estimate, or no longer.
func (s *Store) PutReport(ctx context.Context, estimate, name, mediaType string, report []byte) error {
	if len(report) > maxReport {
		return fault.New(fault.Exhausted, "report %s has %d bytes, more than the %d that are kept", name, len(report), maxReport)
	}
	sum := sha256.Sum256(report)
	about := map[string]any{"contentType": mediaType, "size": len(report), "sha256": hex.EncodeToString(sum[:])}
	ref := s.report(estimate, name)
	writes := s.client.Batch() //nolint:staticcheck // see batch
	writes.Update(s.estimate(estimate), []firestore.Update{{FieldPath: firestore.FieldPath{"reports", name}, Value: about}})
	writes.Set(ref, map[string]any{"contentType": mediaType, "size": len(report), "sha256": about["sha256"], "data": report})
	if _, err := writes.Commit(ctx); err != nil {
		return rpcFault(err, "keep report %s of %s", name, estimate)
	}
	return nil
}

// Report returns a report that was kept; fault.NotFound when there is none.
func (s *Store) Report(ctx context.Context, estimate, name string) ([]byte, error) {
	doc, err := s.report(estimate, name).Get(ctx)
	if err != nil {
		return nil, rpcFault(err, "there is no report %s of %s", name, estimate)
	}
	data, ok := doc.Data()["data"].([]byte)
	if !ok {
		return nil, fmt.Errorf("report %s of %s has no data", name, estimate)
	}
	return data, nil
}

// ProjectEstimate returns the id of the estimate that a project shows;
// fault.NotFound when it shows none.
func (s *Store) ProjectEstimate(ctx context.Context, project string) (string, error) {
	doc, err := s.project(project).Get(ctx)
	if err != nil {
		return "", rpcFault(err, "there is no estimate of project %s", project)
	}
	id, _ := doc.Data()["pipelineId"].(string)
	if id == "" {
		return "", fault.New(fault.NotFound, "project %s shows no estimate", project)
	}
	return id, nil
}

func (s *Store) report(estimate, name string) *firestore.DocumentRef {
	return s.estimate(estimate).Collection("reports").Doc(name)
}
