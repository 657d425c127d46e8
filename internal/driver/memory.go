package driver

import (
	"fmt"
	"io"

	"tenon/codegen/cpu"
	"tenon/internal/diag"
	"tenon/ir"
	"tenon/ir/ops/loop"
	"tenon/ir/sym"
	"tenon/passes/analysis"
	"tenon/passes/pass"
)

// Memory says where a function keeps what it computes. Sizes are expressions over
// dims; Bytes are their values where the dims are given, else absent.
type Memory struct {
	Func      string       `json:"func"`
	Workspace Size         `json:"workspace"`          // what the plan of a call asks for
	Unshared  Size         `json:"unshared"`           // the sum of its buffers, each with room of its own
	Prepared  *Size        `json:"prepared,omitempty"` // what opening the function computes, once for all runs
	Buffers   []BufferInfo `json:"buffers"`
	Decisions []Decision   `json:"decisions"` // what was made in place or shared, what was not, and why
}

// Size is a number of bytes.
type Size struct {
	Expr  string `json:"expr"`
	Bytes *int64 `json:"bytes,omitempty"`
}

// BufferInfo is a buffer that is no parameter.
type BufferInfo struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Size  Size   `json:"size"`
	At    string `json:"at"`    // the source of the value
	First string `json:"first"` // where it is used first,
	Last  string `json:"last"`  // and last
	Slot  int64  `json:"slot"`  // of the workspace; -1: memory of its own
	// Prepared buffers follow from const parameters: the state keeps them.
	Prepared bool `json:"prepared,omitempty"`
}

// Decision is a remark of a pass about memory.
type Decision struct {
	Pass string `json:"pass"`
	At   string `json:"at"`
	Done bool   `json:"done"`
	Text string `json:"text"`
}

// deciders are the passes whose remarks are about memory.
var deciders = map[string]bool{"bufferise": true, "reuse-buffers": true, "plan-workspace": true, "allow-donation": true}

// ExplainMemory takes m down and tells of fn, or of every function where fn is
// "". sizes are those of dims, by name; a dim that is missing leaves Bytes out.
func ExplainMemory(m *ir.Module, fn string, sizes map[string]int64, o Options) ([]*Memory, error) {
	desc, err := o.machine()
	if err != nil {
		return nil, err
	}
	if desc.GPU != nil {
		return nil, diag.Usagef("--memory: a kernel for %s has the memory that its caller gives and no other", desc.Name)
	}
	if fn != "" && ir.Lookup[*ir.Func](m, fn) == nil {
		return nil, diag.Usagef("--fn %s: the program has no such function", fn)
	}
	manager := &pass.Manager{}
	low, err := lowerWith(manager, m, machineOf(desc), nil)
	if err != nil {
		return nil, err
	}
	var all []*Memory
	for _, f := range low.Funcs() {
		if fn != "" && f.Name != fn || !hasCode(f.Level, desc) {
			continue
		}
		x := memoryOf(f, manager.Remarks, cpu.Workspace(f, desc), sizes)
		if len(loop.Prepares(f)) > 0 {
			kept := sizeOf(cpu.Prepared(f, desc), sizes)
			x.Prepared = &kept
		}
		all = append(all, x)
	}
	return all, nil
}

func memoryOf(f *ir.Func, remarks []pass.Remark, workspace sym.Expr, sizes map[string]int64) *Memory {
	x := &Memory{Func: f.Name, Workspace: sizeOf(workspace, sizes), Buffers: []BufferInfo{}, Decisions: []Decision{}}
	acc, prepared := analysis.FindAccesses(f), loop.Prepared(f)
	sum := sym.Const(0)
	f.Body.Walk(func(op *ir.Op) bool {
		if op.Def.Name != "loop.alloc" {
			return true
		}
		v := op.Results[0]
		bytes := bytesOf(v.Type.(ir.Buf))
		b := BufferInfo{Name: v.Name, Type: v.Type.String(), Size: sizeOf(bytes, sizes), At: placeOf(op), Slot: -1, Prepared: prepared[v] != nil}
		if n, ok := loop.Slot(op); ok {
			b.Slot, sum = n, sym.Add(sum, bytes)
		}
		if of := acc.Of[v]; len(of) > 0 {
			b.First, b.Last = placeOf(of[0].Op), placeOf(of[len(of)-1].Op)
		}
		x.Buffers = append(x.Buffers, b)
		return true
	})
	x.Unshared = sizeOf(sum, sizes)
	for _, r := range remarks {
		if r.Func == f.Name && deciders[r.Pass] {
			x.Decisions = append(x.Decisions, Decision{r.Pass, r.Loc.First().String(), r.Done, r.Reason})
		}
	}
	return x
}

func placeOf(op *ir.Op) string { return op.Loc.First().String() }

func bytesOf(t ir.Buf) sym.Expr {
	n := sym.Const(int64(t.Elem.Bytes()))
	for _, d := range t.Dims {
		n = sym.Mul(n, d)
	}
	return n
}

func sizeOf(e sym.Expr, sizes map[string]int64) Size {
	s := Size{Expr: e.String()}
	if n, err := e.Eval(sym.Names(sizes)); err == nil {
		s.Bytes = &n
	}
	return s
}

func (s Size) String() string {
	if s.Bytes == nil || fmt.Sprint(*s.Bytes) == s.Expr {
		return s.Expr + " bytes"
	}
	return fmt.Sprintf("%s = %d bytes", s.Expr, *s.Bytes)
}

// Write writes x as text.
func (x *Memory) Write(w io.Writer) {
	fmt.Fprintf(w, "%s: workspace of %s; without sharing its buffers have %s\n", x.Func, x.Workspace, x.Unshared)
	if x.Prepared != nil {
		fmt.Fprintf(w, "  prepared when opened: %s; without a state each call has them in its workspace too\n", x.Prepared)
	}
	for _, b := range x.Buffers {
		where := fmt.Sprintf("slot %d", b.Slot)
		switch {
		case b.Prepared:
			where = "prepared when opened"
		case b.Slot < 0:
			where = "memory of its own"
		}
		fmt.Fprintf(w, "  %%%s: %s, %s, %s\n    made for %s, used from %s to %s\n", b.Name, b.Type, b.Size, where, b.At, b.First, b.Last)
	}
	for _, d := range x.Decisions {
		not := map[bool]string{true: "", false: "not done: "}[d.Done]
		fmt.Fprintf(w, "  %s%s (%s)\n", not, d.Text, d.At)
	}
}
