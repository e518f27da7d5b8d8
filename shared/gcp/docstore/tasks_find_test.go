package docstore_test

import (
	"fmt"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/gcp/docstore"
)

// A page holds no more than an instance has room for, and none of the tasks is
// left out for that.
func TestPagesOfLargeTasks(t *testing.T) {
	t.Parallel()
	tasks := docstore.NewTasks(firestoretest.Client(t))
	large := noise(5 << 20)
	for n := range 5 {
		r := working(sdk.TaskID(fmt.Sprint(n)))
		if n != 3 {
			r.Task.Artifacts = []*sdk.Artifact{{ID: "a", Parts: sdk.ContentParts{sdk.NewDataPart(large)}}}
		}
		if _, err := tasks.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var pages [][]sdk.TaskID
	for q := (task.Query{Agent: "cost", Owner: "anna", Size: 10}); ; {
		page, err := tasks.List(t.Context(), q)
		if err != nil || page.Total != 5 || len(pages) > 5 {
			t.Fatalf("List() = %d of %d, %v, want a part of 5", len(page.Records), page.Total, err)
		}
		var ids []sdk.TaskID
		for _, r := range page.Records {
			ids = append(ids, r.ID)
		}
		pages = append(pages, ids)
		if q.From = page.Next; q.From == "" {
			break
		}
	}
	if got, want := fmt.Sprint(pages), "[[0 1] [2 3 4]]"; got != want {
		t.Errorf("pages are %s, want %s", got, want)
	}
}
