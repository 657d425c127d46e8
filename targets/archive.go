package targets

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"tenon/internal/diag"
)

// Member is one object of a static library.
type Member struct {
	Name string // at most 15 bytes, without '/'
	Data []byte
}

// Archive writes a static library in the System V format with a symbol index,
// as linkers expect it. Dates, owners and modes are fixed, so that the same
// members give the same bytes.
func Archive(members []Member) []byte {
	index, offsets := &bytes.Buffer{}, []int{}
	names := &bytes.Buffer{}
	for i, m := range members {
		for _, s := range globals(m) {
			offsets = append(offsets, i)
			names.WriteString(s + "\x00")
		}
	}
	start := len("!<arch>\n") + 60 + pad(4+4*len(offsets)+names.Len())
	at := make([]int, len(members))
	for i, m := range members {
		at[i] = start
		start += 60 + pad(len(m.Data))
	}
	write32 := func(n int) { index.Write(binary.BigEndian.AppendUint32(nil, uint32(n))) }
	write32(len(offsets))
	for _, i := range offsets {
		write32(at[i])
	}
	index.Write(names.Bytes())
	out := bytes.NewBufferString("!<arch>\n")
	writeMember(out, "/", "0", index.Bytes())
	for _, m := range members {
		writeMember(out, m.Name+"/", "100644", m.Data)
	}
	return out.Bytes()
}

func writeMember(out *bytes.Buffer, name, mode string, data []byte) {
	fmt.Fprintf(out, "%-16s%-12s%-6s%-6s%-8s%-10d`\n", name, "0", "0", "0", mode, len(data))
	out.Write(data)
	if len(data)%2 == 1 {
		out.WriteByte('\n')
	}
}

func pad(n int) int { return n + n%2 }

// globals lists the symbols that a member defines for others.
func globals(m Member) []string {
	if len(m.Name) > 15 {
		diag.Bugf("archive member %q has a long name", m.Name)
	}
	f, err := elf.NewFile(bytes.NewReader(m.Data))
	if err != nil {
		diag.Bugf("archive member %s: %v", m.Name, err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		diag.Bugf("archive member %s: %v", m.Name, err)
	}
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			names = append(names, s.Name)
		}
	}
	return names
}
