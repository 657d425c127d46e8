package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

// machineFacts says where and of what the figures are.
func machineFacts(k *kernels) []string {
	vector := map[int]string{4: "SSE or NEON", 8: "AVX", 16: "AVX-512"}[k.lanes]
	facts := []string{
		fmt.Sprintf("machine: %s, %d processors, vectors of %d f32 (%s), kernel %s", cpuModel(), len(k.cpus), k.lanes, vector, firstLine("uname", "-r")),
		"caches: " + caches(),
		fmt.Sprintf("tenon: commit %s, %s, -O%d --cpu native, LLVM %s", commit(), runtime.Version(), options.Opt, llvmVersion()),
		"load of the machine at the start: " + load1(),
	}
	return facts
}

func cpuModel() string { return cpuInfo("model name") }

// hasAVX512 reports whether the machine has AVX-512.
func hasAVX512() bool { return strings.Contains(" "+cpuInfo("flags")+" ", " avx512f ") }

func cpuInfo(key string) string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// caches lists the caches of the first processor.
func caches() string {
	var list []string
	for i := 0; ; i++ {
		dir := fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/", i)
		level, err := os.ReadFile(dir + "level")
		if err != nil {
			break
		}
		kind, _ := os.ReadFile(dir + "type")
		size, _ := os.ReadFile(dir + "size")
		if k := strings.TrimSpace(string(kind)); k != "Instruction" {
			list = append(list, fmt.Sprintf("L%s %s", strings.TrimSpace(string(level)), strings.TrimSpace(string(size))))
		}
	}
	if list == nil {
		return "unknown"
	}
	return strings.Join(list, ", ")
}

// commit is that of the working tree, marked if it has changes.
func commit() string {
	c := firstLine("git", "rev-parse", "--short=12", "HEAD")
	if c == "unknown" {
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					c = s.Value[:min(12, len(s.Value))]
				}
			}
		}
		return c
	}
	if firstLine("git", "status", "--porcelain", "--untracked-files=no") != "unknown" {
		c += " with changes"
	}
	return c
}

func llvmVersion() string {
	for _, w := range strings.Fields(firstLine("llvm-config-19", "--version")) {
		return w
	}
	return "19"
}

func load1() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(b))[0]
}

// firstLine is what a command prints first, "unknown" if that is nothing.
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return "unknown"
	}
	return line
}
