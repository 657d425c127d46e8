package tests

import (
	"encoding/json"
	"strings"
	"testing"

	"tenon/ir"
	"tenon/passes/pass"
	"tenon/targets"
)

// The lists hold everything that is registered, as text and as JSON.
func TestLists(t *testing.T) {
	want := map[string][]string{}
	for _, d := range ir.AllOps() {
		want["ops"] = append(want["ops"], d.Name)
	}
	for _, p := range pass.All() {
		want["passes"] = append(want["passes"], p.Name)
	}
	for _, d := range targets.All() {
		want["targets"] = append(want["targets"], d.Name)
	}
	for list, names := range want {
		text, messages, code := runTenon(t, t.TempDir(), nil, list)
		if code != 0 {
			t.Fatalf("tenon %s: exit %d: %s", list, code, messages)
		}
		out, _, _ := runTenon(t, t.TempDir(), nil, list, "--json")
		var rows []map[string]any
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatalf("tenon %s --json: %v", list, err)
		}
		if len(rows) != len(names) {
			t.Fatalf("tenon %s --json has %d rows, %d are registered", list, len(rows), len(names))
		}
		for i, r := range rows {
			name, _ := r["name"].(string)
			if name == "" {
				name, _ = r["Name"].(string)
			}
			if name != names[i] || !strings.Contains(text, name) {
				t.Errorf("tenon %s: row %d is %q, expected %q", list, i, name, names[i])
			}
		}
	}
}
