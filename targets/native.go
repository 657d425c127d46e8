package targets

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"tenon/internal/diag"
)

// hostFamily is the family of the machine that we run on.
func hostFamily() string {
	if runtime.GOARCH == "arm64" {
		return "aarch64"
	}
	return "x86-64"
}

func nativeFor(family string) (*Desc, error) {
	if family != hostFamily() {
		return nil, diag.Usagef("--cpu native needs the host's own target %s, not %s; name a cpu (see tenon targets)", hostFamily(), family)
	}
	return Native()
}

// Native describes the machine that we run on, from /proc/cpuinfo and sysfs.
func Native() (*Desc, error) {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return nil, diag.Usagef("--cpu native: %v; name a cpu (see tenon targets)", err)
	}
	defer f.Close()
	d, err := parseCPUInfo(f, hostFamily())
	if err != nil {
		return nil, err
	}
	if caches := sysCaches("/sys/devices/system/cpu/cpu0/cache"); len(caches) > 0 {
		d.Caches = caches
	}
	return d, nil
}

// levelFlags are the /proc/cpuinfo flags that each x86-64 level adds; "abm" is
// how Linux spells lzcnt.
var levelFlags = [][]string{
	{"sse2"},
	{"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
	{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
	{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}

// extraFlags maps flags beyond the levels to LLVM features. Only those that
// code generators may use are listed.
var extraFlags = []struct{ flag, feature string }{
	{"avx512vbmi", "avx512vbmi"},
	{"avx512_vbmi2", "avx512vbmi2"},
	{"avx512_vnni", "avx512vnni"},
	{"avx512_bf16", "avx512bf16"},
	{"avx512_fp16", "avx512fp16"},
	{"avx_vnni", "avxvnni"},
	{"gfni", "gfni"},
	{"amx_tile", "amx-tile"},
	{"amx_int8", "amx-int8"},
	{"amx_bf16", "amx-bf16"},
}

// tuning names LLVM's schedule model for a vendor, family and range of models.
var tuning = []struct {
	vendor      string
	family      int
	first, last int
	tune        string
}{
	{"AuthenticAMD", 23, 0x00, 0x2f, "znver1"},
	{"AuthenticAMD", 23, 0x30, 0xff, "znver2"},
	{"AuthenticAMD", 25, 0x00, 0x0f, "znver3"},
	{"AuthenticAMD", 25, 0x10, 0x1f, "znver4"},
	{"AuthenticAMD", 25, 0x20, 0x5f, "znver3"},
	{"AuthenticAMD", 25, 0x60, 0xaf, "znver4"},
	{"AuthenticAMD", 26, 0x00, 0xff, "znver5"},
	{"GenuineIntel", 6, 0x3c, 0x47, "haswell"},
	{"GenuineIntel", 6, 0x55, 0x55, "skylake-avx512"},
	{"GenuineIntel", 6, 0x6a, 0x6c, "icelake-server"},
	{"GenuineIntel", 6, 0x8f, 0x8f, "sapphirerapids"},
	{"GenuineIntel", 6, 0xcf, 0xcf, "sapphirerapids"},
	{"GenuineIntel", 6, 0xad, 0xae, "graniterapids"},
}

// CannotRun says why code for d does not run on this machine, "" if it does.
func CannotRun(d *Desc) string {
	if d.Name == "native" {
		return ""
	}
	if d.Family != hostFamily() {
		return fmt.Sprintf("this machine is %s", hostFamily())
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	fields, err := cpuInfo(f)
	if err != nil {
		return err.Error()
	}
	return lacks(d, fields)
}

// lacks names what a processor with these fields of /proc/cpuinfo misses of d.
func lacks(d *Desc, fields map[string]string) string {
	var missing []string
	want := slices.Clone(d.Features)
	have := strings.Fields(fields["flags"])
	if d.Family == "aarch64" {
		have = append(strings.Fields(fields["Features"]), "neon") // "asimd" there, and never absent
	}
	for level := range x86 {
		if d.Family == "x86-64" && level <= slices.Index(x86, d) {
			want = append(want, levelFlags[level]...)
		}
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			missing = append(missing, w)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "this machine lacks " + strings.Join(missing, ", ")
}

// parseCPUInfo describes the first processor of a /proc/cpuinfo.
func parseCPUInfo(r io.Reader, family string) (*Desc, error) {
	fields, err := cpuInfo(r)
	if err != nil {
		return nil, diag.Usagef("--cpu native: %v; name a cpu (see tenon targets)", err)
	}
	if family == "aarch64" {
		return nativeArm64(strings.Fields(fields["Features"])), nil
	}
	return nativeX86(fields), nil
}

// cpuInfo reads the first processor of a /proc/cpuinfo.
func cpuInfo(r io.Reader) (map[string]string, error) {
	fields := map[string]string{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	for s.Scan() && strings.TrimSpace(s.Text()) != "" {
		key, value, _ := strings.Cut(s.Text(), ":")
		fields[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return fields, s.Err()
}

func nativeX86(fields map[string]string) *Desc {
	flags := strings.Fields(fields["flags"])
	level := 0
	for level+1 < len(levelFlags) && hasAll(flags, levelFlags[level+1]) {
		level++
	}
	d := *x86[level]
	for _, x := range extraFlags {
		if slices.Contains(flags, x.flag) && (level == 3 || !strings.HasPrefix(x.feature, "avx512")) {
			d.Features = append(d.Features, x.feature)
		}
	}
	d.Tune = tuneFor(fields)
	return named(&d)
}

func nativeArm64(flags []string) *Desc {
	d := *arm64[0]
	if slices.Contains(flags, "sve") {
		d = *arm64[1]
	}
	return named(&d)
}

func named(d *Desc) *Desc {
	d.Doc = fmt.Sprintf("this machine: %s", strings.Join(append([]string{d.Name}, d.Features...), ", "))
	d.Name = "native"
	return d
}

func tuneFor(fields map[string]string) string {
	family, _ := strconv.Atoi(fields["cpu family"])
	model, _ := strconv.Atoi(fields["model"])
	for _, t := range tuning {
		if t.vendor == fields["vendor_id"] && t.family == family && t.first <= model && model <= t.last {
			return t.tune
		}
	}
	return ""
}

func hasAll(flags, want []string) bool {
	for _, w := range want {
		if !slices.Contains(flags, w) {
			return false
		}
	}
	return true
}

// sysCaches reads the data caches of one processor from sysfs.
func sysCaches(dir string) []Cache {
	var out []Cache
	for i := 0; ; i++ {
		index := filepath.Join(dir, fmt.Sprintf("index%d", i))
		kind := sysString(index, "type")
		if kind == "" {
			return out
		}
		bytes, ok := sysBytes(sysString(index, "size"))
		if kind == "Instruction" || !ok {
			continue
		}
		name := "L" + sysString(index, "level")
		if kind == "Data" {
			name += "d"
		}
		out = append(out, Cache{name, bytes, name == "L3"})
	}
}

func sysString(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func sysBytes(s string) (int64, bool) {
	unit := int64(1)
	switch {
	case strings.HasSuffix(s, "K"):
		unit = 1 << 10
	case strings.HasSuffix(s, "M"):
		unit = 1 << 20
	}
	n, err := strconv.ParseInt(strings.TrimRight(s, "KM"), 10, 64)
	return n * unit, err == nil && n > 0
}
