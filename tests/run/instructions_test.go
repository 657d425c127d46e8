package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tenon"
	"tenon/internal/diag"
	"tenon/targets"
)

// instruction is a line of a disassembly.
type instruction struct{ name, operands string }

var disassembled = regexp.MustCompile(`(?m)^ +[0-9a-f]+:\s+(\S+)[ \t]*(.*)$`)

// disassemble lists the instructions of an object or a library.
func disassemble(t *testing.T, code []byte) (list []instruction) {
	t.Helper()
	tool := "llvm-objdump-" + targets.LLVMVersion
	if dir := os.Getenv("TENON_LLVM"); dir != "" {
		tool = filepath.Join(dir, "llvm-objdump")
	}
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("SKIP, the instructions are not checked: no %s; install it with: apt-get install llvm-19", tool)
	}
	file := filepath.Join(t.TempDir(), "code")
	save(t, file, code)
	out, err := exec.Command(tool, "-d", "--no-show-raw-insn", "--no-print-imm-hex", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range disassembled.FindAllStringSubmatch(string(out), -1) {
		operands, _, _ := strings.Cut(m[2], "//")
		operands, _, _ = strings.Cut(operands, "# ")
		list = append(list, instruction{m[1], operands})
	}
	if len(list) < 10 {
		t.Fatalf("%s shows %d instructions", tool, len(list))
	}
	return list
}

// uses is what a list of instructions tells of the machine that it needs.
type uses struct {
	vector   int             // bytes of the widest vector register, fixed length
	register int             // the highest number of a vector register
	scalable bool            // SVE
	masks    bool            // registers of masks or predicates
	fused    bool            // a multiply-add with one rounding
	names    map[string]bool // of instructions
}

var (
	x86Vector  = regexp.MustCompile(`%([xyz])mm([0-9]+)`)
	x86Mask    = regexp.MustCompile(`%k[0-7]`)
	armVector  = regexp.MustCompile(`\b([vqz])([0-9]+)(?:\.|\b)`)
	armMask    = regexp.MustCompile(`\bp[0-9]+(?:\.|/|\b)`)
	x86Fused   = regexp.MustCompile(`^vfn?m(add|sub)`)
	armFused   = regexp.MustCompile(`^f(n?m(add|sub|la|ls)|mad|msb|nmad|nmsb)$`)
	registerOf = map[string]int{"x": 16, "y": 32, "z": 64, "v": 16, "q": 16}
)

func read(list []instruction, family string) uses {
	vector, mask, fused := x86Vector, x86Mask, x86Fused
	if family == "aarch64" {
		vector, mask, fused = armVector, armMask, armFused
	}
	u := uses{names: map[string]bool{}}
	for _, in := range list {
		u.names[in.name] = true
		u.masks = u.masks || mask.MatchString(in.operands)
		u.fused = u.fused || fused.MatchString(in.name)
		for _, m := range vector.FindAllStringSubmatch(in.operands, -1) {
			n, _ := strconv.Atoi(m[2])
			u.register = max(u.register, n)
			if family == "aarch64" && m[1] == "z" {
				u.scalable = true
				continue
			}
			u.vector = max(u.vector, registerOf[m[1]])
		}
	}
	return u
}

// added are instructions that each level of x86-64 adds, or an extension beyond
// the last, by the beginnings of their names.
var added = [][]string{
	{},
	{"pshufb", "palignr", "pabs", "phadd", "pmulld", "pmovsx", "pmovzx", "pminsd", "pminud", "pminuw", "pminsb", "pmaxsd", "pmaxud", "pmaxuw",
		"pmaxsb", "blendv", "pblend", "blendp", "round", "pinsrd", "pinsrb", "pinsrq", "pextrd", "pextrb", "pextrq", "extractps", "insertps", "ptest",
		"pcmpeqq", "pcmpgtq", "packusdw", "popcnt", "crc32", "cmpxchg16b", "haddp", "movddup", "movshdup", "movsldup", "lddqu"},
	{"v", "andnl", "andnq", "bextr", "blsi", "blsmsk", "blsr", "bzhi", "mulx", "pdepl", "pdepq", "pextl", "pextq", "rorx", "sarx", "shlx", "shrx", "lzcnt", "tzcnt", "movbe"},
	{"k", "vpmullq", "vpternlog", "vscatter", "vpscatter", "vrndscale", "vgetexp", "vgetmant", "vscalef", "vfpclass"},
	{"vpermb", "vpermi2b", "vpermt2b", "vpmultishift", "vpcompressb", "vpcompressw", "vpexpandb", "vpexpandw", "vpshld", "vpshrd", "vpdp",
		"vpopcnt", "vpshufbitqmb", "vcvtne", "vdpbf16", "vaddph", "vfmadd132ph", "vgf2p8", "tdp", "tile"},
}

// exceeds names what code uses and a machine does not promise.
func exceeds(u uses, d *targets.Desc) (list []string) {
	say := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	say(u.vector > max(d.VectorBytes, 16), "a register of %d bytes", u.vector)
	say(u.register >= d.VectorRegs, "vector register %d of %d", u.register, d.VectorRegs)
	say(u.scalable && !d.Scalable, "SVE")
	say(u.masks && !d.Masked, "masks")
	say(u.fused && !d.FusedMul, "fused multiply-add")
	if d.Family != "x86-64" {
		return list
	}
	level := 0
	for i, x := range targets.All() {
		if x.CPU == d.CPU && x.Family == d.Family {
			level = i // the levels come first, in order
		}
	}
	for _, names := range added[level+1:] {
		for _, prefix := range names {
			for name := range u.names {
				say(strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "ver"), "%s", name)
			}
		}
	}
	return list
}

// Loops that any machine's vectors serve: a multiply-add, which a program may
// contract, a sum that may be regrouped, and a choice between elements.
const vectorLoops = `
fn axpy(a: f32, x: f32[N], y: f32[N]) -> f32[N] { return a * x[i] + y[i] for i }
fn total(x: f32[N]) -> f32 { return sum[i] x[i] }
fn clipped(x: f64[N], y: f64[N]) -> f64[N] { return select(x[i] < y[i], x[i], y[i]) for i }
fn added(x: i32[N], y: i32[N]) -> i32[N] { return x[i] + y[i] for i }
fn gathered(x: f32[N], k: i32[M]) -> f32[M] { return x[k[i]] for i }
`

// What the description of a machine promises, its code has: vectors of the full
// width, a fused multiply-add. And it has nothing that the machine lacks. This
// holds for machines that no test can run on, too.
func TestInstructionsOfEachMachine(t *testing.T) {
	m := program(t, map[string]string{"prog.tn": vectorLoops})
	for _, d := range targets.All() {
		if d.GPU != nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			a, err := tenon.CompileModule(t.Context(), m, "prog.tn", tenon.Options{Target: d.Family, CPU: d.Name, Opt: 3})
			var missing *diag.MissingTool
			if errors.As(err, &missing) {
				t.Skipf("SKIP, the instructions are not checked: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			obj, err := a.Object(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			u := read(disassemble(t, obj), d.Family)
			for _, what := range exceeds(u, d) {
				t.Errorf("the code uses %s, which %s does not promise", what, d.Name)
			}
			if d.Scalable && !u.scalable || !d.Scalable && u.vector != d.VectorBytes {
				t.Errorf("%s promises vectors of %d bytes (scalable: %t), the code has %d (%t)", d.Name, d.VectorBytes, d.Scalable, u.vector, u.scalable)
			}
			if d.FusedMul != u.fused {
				t.Errorf("%s: fused multiply-add is %t, in the code %t", d.Name, d.FusedMul, u.fused)
			}
		})
	}
}

// The check itself sees each kind of excess.
func TestExcessIsSeen(t *testing.T) {
	x86, arm := targets.All()[:4], []*targets.Desc{}
	for _, d := range targets.All() {
		if d.Family == "aarch64" {
			arm = append(arm, d)
		}
	}
	for _, c := range []struct {
		d    *targets.Desc
		in   instruction
		want string
	}{
		{x86[0], instruction{"addps", "%xmm1, %xmm15"}, ""},
		{x86[0], instruction{"pmulld", "%xmm1, %xmm2"}, "pmulld"},
		{x86[1], instruction{"pmulld", "%xmm1, %xmm2"}, ""},
		{x86[1], instruction{"vaddps", "%xmm1, %xmm2, %xmm3"}, "vaddps"},
		{x86[1], instruction{"shlxq", "%rax, %rbx, %rcx"}, "shlxq"},
		{x86[2], instruction{"vaddps", "%ymm1, %ymm2, %ymm3"}, ""},
		{x86[2], instruction{"vaddps", "%zmm1, %zmm2, %zmm3"}, "a register of 64 bytes"},
		{x86[2], instruction{"vaddps", "%ymm1, %ymm2, %ymm16"}, "vector register 16 of 16"},
		{x86[2], instruction{"vmovups", "(%rax), %ymm1 {%k1}"}, "masks"},
		{x86[3], instruction{"vmovups", "(%rax), %zmm31 {%k1}"}, ""},
		{x86[3], instruction{"vpdpbusd", "%zmm1, %zmm2, %zmm3"}, "vpdpbusd"},
		{arm[0], instruction{"fmla", "v0.4s, v1.4s, v2.4s"}, ""},
		{arm[0], instruction{"fmla", "z0.s, p0/m, z1.s, z2.s"}, "SVE, masks"},
		{arm[1], instruction{"fmla", "z0.s, p0/m, z1.s, z2.s"}, ""},
	} {
		got := strings.Join(exceeds(read([]instruction{c.in}, c.d.Family), c.d), ", ")
		if got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.in, c.d.Name, got, c.want)
		}
	}
}
