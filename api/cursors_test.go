package api

import (
	"fmt"
	"slices"
	"testing"
)

// TestPagesOfTagsAndDuplicates: all of them, once and in order, whatever the size of a page.
func TestPagesOfTagsAndDuplicates(t *testing.T) {
	f := start(t, Options{})
	for i := range 5 {
		f.call(t, "POST", "/v1/memories", fmt.Sprintf(`{"content":"Number %d.","tags":["all","odd%d","t%d"]}`, i, i%2, i))
		for _, id := range []string{"a", "b", "c"}[:2+i%2] {
			f.call(t, "PUT", fmt.Sprintf("/v1/documents/%s%d", id, i), fmt.Sprintf(`{"text":"The same text, number %d."}`, i))
		}
	}
	tags := into[tagList](t, f.call(t, "GET", "/v1/memories:tags", ""), 200)
	groups := into[DuplicateList](t, f.call(t, "GET", "/v1/documents:duplicates", ""), 200)
	if len(tags.Tags) != 8 || tags.NextCursor != "" || len(groups.Groups) != 5 || groups.NextCursor != "" {
		t.Fatalf("%+v, %+v", tags, groups)
	}
	for limit := 1; limit <= 9; limit++ {
		var some tagList
		for cursor := ""; len(some.Tags) == 0 || cursor != ""; {
			page := into[tagList](t, f.call(t, "GET", fmt.Sprintf("/v1/memories:tags?limit=%d&cursor=%s", limit, cursor), ""), 200)
			some.Tags, cursor = append(some.Tags, page.Tags...), page.NextCursor
		}
		if !slices.Equal(some.Tags, tags.Tags) {
			t.Errorf("tags by %d: %v, want %v", limit, some.Tags, tags.Tags)
		}
		var ids []string
		for cursor := ""; len(ids) == 0 || cursor != ""; {
			page := into[DuplicateList](t, f.call(t, "GET", fmt.Sprintf("/v1/documents:duplicates?limit=%d&cursor=%s", limit, cursor), ""), 200)
			for _, g := range page.Groups {
				ids = append(ids, g.IDs[0])
			}
			cursor = page.NextCursor
		}
		var want []string
		for _, g := range groups.Groups {
			want = append(want, g.IDs[0])
		}
		if !slices.Equal(ids, want) {
			t.Errorf("groups by %d: %v, want %v", limit, ids, want)
		}
	}
	if p := f.call(t, "GET", "/v1/memories:tags?cursor=x", "").problem(t); p.Status != 422 {
		t.Errorf("a cursor that is none: %+v", p)
	}
}
