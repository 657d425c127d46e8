package targets

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"tenon/internal/debug"
	"tenon/internal/diag"
)

// LLVMVersion is the major version whose tools are used. Another version reads
// other text and makes other code, so it is refused rather than tried.
const LLVMVersion = "19"

const installLLVM = "apt-get install llvm-19 lld-19"

// Toolchain holds the paths of the LLVM tools. They run as child processes, so
// that a crash in LLVM does not take the compiler down.
type Toolchain struct {
	Opt, LLC, LLD string
	Timeout       time.Duration // for one run of one tool
}

// FindToolchain looks for the tools: in the folder TENON_LLVM alone if that is
// set, else under their versioned names on PATH, in Debian's folder, and under
// plain names on PATH whose --version is right. A tool that is absent is a
// *diag.MissingTool.
func FindToolchain() (*Toolchain, error) {
	t := &Toolchain{Timeout: 2 * time.Minute}
	if n := debug.Flags.ToolSeconds; n > 0 {
		t.Timeout = time.Duration(min(n, 1<<32)) * time.Second
	}
	for _, tool := range []struct {
		name string
		path *string
	}{{"opt", &t.Opt}, {"llc", &t.LLC}, {"ld.lld", &t.LLD}} {
		path, err := findTool(tool.name)
		if err != nil {
			return nil, err
		}
		*tool.path = path
	}
	return t, nil
}

// toolCandidates are the names to try, in order.
func toolCandidates(name string) []string {
	if dir := os.Getenv("TENON_LLVM"); dir != "" {
		return []string{filepath.Join(dir, name+"-"+LLVMVersion), filepath.Join(dir, name)}
	}
	return []string{name + "-" + LLVMVersion, "/usr/lib/llvm-" + LLVMVersion + "/bin/" + name, name}
}

func findTool(name string) (string, error) {
	dir, detail := os.Getenv("TENON_LLVM"), ""
	for _, c := range toolCandidates(name) {
		path, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		if version, ok := toolVersion(path); ok {
			return path, nil
		} else if detail == "" {
			detail = path + " is " + version + ", not LLVM " + LLVMVersion
		}
	}
	missing := &diag.MissingTool{Tool: name + "-" + LLVMVersion, Detail: detail, Install: installLLVM}
	if dir != "" && detail == "" {
		missing.Detail = "not in TENON_LLVM=" + dir
	}
	return "", missing
}

var versionLine = regexp.MustCompile(`(?:LLVM version|LLD) ([0-9]+)[0-9.]*`)

// toolVersion asks a tool for its version and says whether it is the one that
// we use.
func toolVersion(path string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "unusable (" + err.Error() + ")", false
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return "of unknown version", false
	}
	return string(m[0]), string(m[1]) == LLVMVersion
}
