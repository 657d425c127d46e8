package targets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machineOf is a machine that a profile was measured on.
func machineOf(p *Profile) *Desc {
	d := &Desc{Name: "native", Family: p.Machine.Family, Tune: p.Machine.Core, VectorBytes: p.Machine.VectorBytes, VectorRegs: p.Machine.VectorRegs}
	for _, c := range p.Machine.Caches {
		d.Caches = append(d.Caches, Cache{Bytes: c})
	}
	return d
}

// What is shipped can be read, is written as it was, serves the machine that it
// was measured on, and no other.
func TestShippedProfiles(t *testing.T) {
	for _, name := range ShippedProfiles() {
		text, err := shipped.ReadFile("profiles/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		v3, err := Find("x86-64", "x86-64-v3")
		if err != nil {
			t.Fatal(err)
		}
		p, err := FindProfile(name, v3)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(p.Encode(), text) {
			t.Errorf("%s is not written as it was read", name)
		}
		d := machineOf(p)
		if _, err := FindProfile(name, d); err != nil {
			t.Errorf("%s on its own machine: %v", name, err)
		}
		d.Caches[0].Bytes *= 2
		if _, err := FindProfile(name, d); err == nil || !strings.Contains(err.Error(), "of another machine") {
			t.Errorf("%s on a machine with larger caches: %v", name, err)
		}
	}
}

// The user's own profile is taken for this machine alone, and nothing is needed.
func TestLocalProfile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	v3, err := Find("x86-64", "x86-64-v3")
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := FindProfile(ShippedProfiles()[0], v3)
	if err != nil {
		t.Fatal(err)
	}
	native := machineOf(shipped)
	if p, err := FindProfile("", native); p != nil || err != nil {
		t.Fatalf("without a file: %v, %v", p, err)
	}
	if err := os.MkdirAll(filepath.Join(home, "tenon"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "tenon", "profile.json"), shipped.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := FindProfile("", native); p == nil || err != nil {
		t.Errorf("with a file: %v, %v", p, err)
	}
	for _, c := range []struct {
		name string
		d    *Desc
	}{{"", v3}, {AnalyticProfile, native}} {
		if p, err := FindProfile(c.name, c.d); p != nil || err != nil {
			t.Errorf("%q for %s: %v, %v", c.name, c.d.Name, p, err)
		}
	}
}
