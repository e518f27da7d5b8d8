package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"text/tabwriter"
	"time"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/iterator"

	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
)

func listFlags(fs *flag.FlagSet, o *options) {
	fs.IntVar(&o.limit, "n", 20, "at most `count` estimates; 0 is all")
}

// listed is one estimate of a list.
type listed struct {
	ID        string       `json:"estimateId"`
	Status    string       `json:"status"`
	Project   string       `json:"projectName"`
	Progress  int          `json:"progress"`
	Total     *money.Cents `json:"totalCost"`
	UpdatedAt time.Time    `json:"updatedAt"`
}

// runList prints the user's estimates, the latest first.
func runList(ctx context.Context, c *call) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	list, err := s.list(ctx, c.owner(), c.limit)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(list)
	}
	if len(list) == 0 {
		_, _ = fmt.Fprintf(c.stderr, "no estimates of user %s\n", c.owner())
		return nil
	}
	t := tabwriter.NewWriter(c.stdout, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tSTATUS\tPROGRESS\tTOTAL\tUPDATED\tPROJECT")
	for _, e := range list {
		total := "-"
		if e.Total != nil {
			total = e.Total.String()
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%d%%\t%s\t%s\t%s\n", e.ID, e.Status, e.Progress, total, e.UpdatedAt.UTC().Format(time.DateTime), plain(e.Project))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	return nil
}

// list reads the fields of a list alone: the outputs of an estimate are large.
func (s *service) list(ctx context.Context, user string, limit int) ([]listed, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	client, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	q := client.Collection("estimates").Where("userId", "==", user).OrderBy("updatedAt", firestore.Desc).
		Select("status", "projectName", "totalCost", "pipelineStatus.progress", "updatedAt")
	if limit > 0 {
		q = q.Limit(limit)
	}
	docs := q.Documents(ctx)
	defer docs.Stop()
	list := []listed{}
	for {
		snap, err := docs.Next()
		if errors.Is(err, iterator.Done) {
			return list, nil
		}
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "list the estimates of %s", user)
		}
		d, err := decodeDocument(snap.Ref.ID, snap.Data())
		if err != nil {
			return nil, fmt.Errorf("estimate %s: %w", snap.Ref.ID, err)
		}
		list = append(list, listed{d.ID, d.Status, d.ProjectName, d.Pipeline.Progress, d.Total, d.UpdatedAt})
	}
}
