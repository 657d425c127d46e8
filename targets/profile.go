package targets

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tenon/internal/diag"
)

// profileFormat is the first field of a profile file; others are refused by name.
const profileFormat = "tenon profile 1"

// Profile are times measured on one machine, in cycles: a multiply-add in vectors
// takes 1/Desc.FMA.PerCycle of one. tenon profile writes it; what is compiled with
// it depends on it as on any other input.
type Profile struct {
	Format  string `json:"format"`
	Machine Host   `json:"machine"`

	// Bytes a cycle that a core reads of data in its own caches, in the last one and
	// in memory.
	Near   float64 `json:"near_bytes_per_cycle"`
	Far    float64 `json:"far_bytes_per_cycle"`
	Memory float64 `json:"memory_bytes_per_cycle"`

	Tiles []TileTime `json:"tiles"` // by kernel name
}

// Host tells machines apart whose times differ.
type Host struct {
	Family      string  `json:"family"`
	Core        string  `json:"core"` // LLVM's name for it
	VectorBytes int     `json:"vector_bytes"`
	VectorRegs  int     `json:"vector_registers"`
	Caches      []int64 `json:"cache_bytes"`
}

// TileTime is g(k) = Enter + Step k, the time of one full tile of a register
// kernel for sums of k products. Stream is Step where the strip of B comes from
// beyond the core's own caches.
type TileTime struct {
	Kernel string  `json:"kernel"`
	Enter  float64 `json:"enter_cycles"`
	Step   float64 `json:"step_cycles"`
	Stream float64 `json:"stream_step_cycles"`
}

// HostOf is the machine that d describes, as profiles name it.
func HostOf(d *Desc) Host {
	h := Host{Family: d.Family, Core: d.Tune, VectorBytes: d.VectorBytes, VectorRegs: d.VectorRegs}
	if h.Core == "" {
		h.Core = d.CPU
	}
	for _, c := range d.Caches {
		h.Caches = append(h.Caches, c.Bytes)
	}
	return h
}

func (h Host) String() string {
	return fmt.Sprintf("%s %s with vectors of %d bytes, %d registers, caches of %v bytes", h.Family, h.Core, h.VectorBytes, h.VectorRegs, h.Caches)
}

// Encode is the text of the file.
func (p *Profile) Encode() []byte {
	p.Format = profileFormat
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		diag.Bugf("a profile has no JSON: %v", err)
	}
	return append(text, '\n')
}

//go:embed profiles/*.json
var shipped embed.FS

// ShippedProfiles are the names of the profiles that come with Tenon.
func ShippedProfiles() (names []string) {
	entries, err := fs.ReadDir(shipped, "profiles")
	if err != nil {
		diag.Bugf("the shipped profiles cannot be read: %v", err)
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// AnalyticProfile names the profile of no machine: times follow from Desc alone.
const AnalyticProfile = "analytic"

// FindProfile is the profile that name stands for: a shipped one's or a file's;
// nil for the analytic one. Left out, it is for this machine what tenon profile
// kept, if anything, for others the analytic one.
func FindProfile(name string, d *Desc) (*Profile, error) {
	native := d.Name == "native"
	switch {
	case name == AnalyticProfile || name == "" && !native:
		return nil, nil
	case slices.Contains(ShippedProfiles(), name):
		text, err := shipped.ReadFile("profiles/" + name + ".json")
		if err != nil {
			diag.Bugf("the shipped profile %s cannot be read: %v", name, err)
		}
		return decodeProfile(name, text, d)
	case name == "":
		path, err := LocalProfile()
		if err != nil {
			return nil, nil //nolint: without a home there is nothing kept
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, refusedProfile(path, "cannot be read: %v", err)
		}
		return decodeProfile(path, text, d)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, refusedProfile(name, "cannot be read, and none of that name is shipped (%s): %v", strings.Join(ShippedProfiles(), ", "), err)
	}
	return decodeProfile(name, text, d)
}

// LocalProfile is the file where tenon profile keeps what it measured.
func LocalProfile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", diag.Usagef("there is no folder for the profile: %v; name a file with -o", err)
	}
	return filepath.Join(dir, "tenon", "profile.json"), nil
}

func refusedProfile(name, format string, args ...any) error {
	return diag.Errorf(diag.Pos{File: name}, "profile "+format, args...).WithFix("measure this machine with tenon profile, or compile with --profile analytic")
}

func decodeProfile(name string, text []byte, d *Desc) (*Profile, error) {
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, refusedProfile(name, "is corrupted: %v", err)
	}
	if head.Format != profileFormat {
		return nil, refusedProfile(name, "is of another version: its format is %q, not %q", head.Format, profileFormat)
	}
	p := &Profile{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, refusedProfile(name, "is corrupted: %v", err)
	}
	if why := p.wrong(); why != "" {
		return nil, refusedProfile(name, "is corrupted: %s", why)
	}
	if want := HostOf(d); !p.Machine.serves(want, d.Name == "native") {
		return nil, refusedProfile(name, "is of another machine: %s; this is %s", p.Machine, want)
	}
	return p, nil
}

// wrong says what no measurement gives.
func (p *Profile) wrong() string {
	if p.Near <= 0 || p.Far <= 0 || p.Memory <= 0 {
		return "it reads no bytes a cycle"
	}
	for _, t := range p.Tiles {
		if t.Kernel == "" || t.Step <= 0 || t.Stream <= 0 || t.Enter < 0 {
			return fmt.Sprintf("the times of %q are not positive", t.Kernel)
		}
	}
	return ""
}

// serves reports that times of h hold for a machine: exactly the same one, or,
// where that is a class of machines, one with such vectors.
func (h Host) serves(want Host, exactly bool) bool {
	if exactly {
		return h.Core == want.Core && h.Family == want.Family && h.VectorBytes == want.VectorBytes &&
			h.VectorRegs == want.VectorRegs && slices.Equal(h.Caches, want.Caches)
	}
	return h.Family == want.Family && h.VectorBytes == want.VectorBytes && h.VectorRegs == want.VectorRegs
}
