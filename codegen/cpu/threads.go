package cpu

import (
	"tenon/codegen/llvm"
	"tenon/internal/num"
)

// The context that the parts of a loop share: how many iterations there are and
// in a part, where errors go, then what the parts take of the body.
const (
	ctxCount   = 0
	ctxChunk   = 8
	ctxRecords = 16
	ctxTaken   = 24
)

// threads runs the parts of a loop on the threads of the caller or of OpenMP.
func (p *proc) threads(fn *llvm.Func, taken []llvm.Value, n, chunk llvm.Value, fails bool) {
	at, bytes := slotsFor(taken)
	context := p.Alloca(bytes)
	p.Store(n, p.Offset(context, ctxCount))
	p.Store(chunk, p.Offset(context, ctxChunk))
	for i, v := range taken {
		p.Store(v, p.Offset(context, at[i]))
	}
	if fails {
		if !p.split.records.IsValid() {
			p.split.records = p.Alloca(errorBytes * maxParts)
		}
		p.Store(p.split.records, p.Offset(context, ctxRecords))
	}
	parts := p.ceilDiv(n, chunk)
	task := p.emitTask(fn, taken, fails)
	p.Call(p.split.shared.parallel(), p.split.plan, parts, task.Addr(), context)
	if !fails {
		return
	}
	p.For(llvm.Index(0), parts, llvm.Index(1), nil, func(k llvm.Value, _ []llvm.Value) []llvm.Value {
		record := p.OffsetBy(p.split.records, p.Op("mul", k, llvm.Index(errorBytes)))
		code := p.Load(i32, record)
		p.When(p.Op("ne", code, llvm.Int(num.I32, 0)), func() { p.Jump(p.exit, errorOf(p.Func, code, record)...) })
		return nil
	})
}

// slotsFor are the places of values in a context, and its size.
func slotsFor(taken []llvm.Value) (at []int64, bytes int64) {
	bytes = ctxTaken
	for _, v := range taken {
		at, bytes = append(at, bytes), bytes+(v.Type().Size()+7)/8*8
	}
	return at, bytes
}

// emitTask emits PART.task(context, k), which runs part k.
func (p *proc) emitTask(fn *llvm.Func, taken []llvm.Value, fails bool) *llvm.Func {
	f := p.Module().NewInternal(fn.Name()+".task", llvm.Void, llvm.Param{Name: "context", Type: llvm.Ptr, Const: true}, llvm.Param{Name: "part", Type: index})
	f.Source(p.src.Loc.First())
	context, k := f.Param(0), f.Param(1)
	chunk := word(f, context, ctxChunk)
	first := f.Op("mul", k, chunk)
	last := f.Op("min", word(f, context, ctxCount), f.Op("add", first, chunk))
	record := f.Alloca(errorBytes)
	if fails {
		record = f.OffsetBy(address(f, context, ctxRecords), f.Op("mul", k, llvm.Index(errorBytes)))
	}
	args := []llvm.Value{first, last, record}
	at, _ := slotsFor(taken)
	for i, v := range taken {
		args = append(args, f.Load(v.Type(), f.Offset(context, at[i])))
	}
	f.Call(fn, args...)
	f.Return(llvm.Value{})
	return f
}

// parallel is parallel(plan, parts, task, context): it calls task(context, k)
// for each k from 0 below parts, on threads where there are any, and returns
// when all are done.
func (s *support) parallel() *llvm.Func {
	params := []llvm.Param{{Name: "plan", Type: llvm.Ptr}, {Name: "parts", Type: index}, {Name: "task", Type: llvm.Ptr}, {Name: "context", Type: llvm.Ptr}}
	return s.function("parallel", llvm.Void, params, func(f *llvm.Func, a []llvm.Value) {
		plan, parts, task, context := a[0], a[1], a[2], a[3]
		f.When(f.Op("not", f.IsNull(plan)), func() {
			own := address(f, plan, planFor)
			f.When(f.Op("not", f.IsNull(own)), func() {
				f.CallAt(own, llvm.Void, address(f, plan, planPool), parts, task, context)
				f.Return(llvm.Value{})
			})
		})
		if s.openmp {
			n := s.threadCount(f, plan, parts)
			f.When(f.Op("gt", n, llvm.Int(num.I32, 1)), func() {
				team := f.Alloca(teamBytes)
				f.Store(llvm.Index(0), f.Offset(team, teamNext))
				f.Store(parts, f.Offset(team, teamParts))
				f.Store(task, f.Offset(team, teamTask))
				f.Store(context, f.Offset(team, teamContext))
				f.CallC("GOMP_parallel", llvm.Void, s.team().Addr(), team, n, llvm.Int(num.I32, 0))
				f.Return(llvm.Value{})
			})
		}
		f.For(llvm.Index(0), parts, llvm.Index(1), nil, func(k llvm.Value, _ []llvm.Value) []llvm.Value {
			f.CallAt(task, llvm.Void, context, k)
			return nil
		})
		f.Return(llvm.Value{})
	})
}

// threadCount is how many threads to use: those that the plan asks for, else
// those that OpenMP would take, and no more than there are parts.
func (s *support) threadCount(f *llvm.Func, plan, parts llvm.Value) llvm.Value {
	asked := f.If(f.IsNull(plan), func() []llvm.Value { return []llvm.Value{llvm.Int(num.I32, 0)} },
		func() []llvm.Value { return []llvm.Value{f.Load(i32, f.Offset(plan, planThreads))} })[0]
	n := f.If(f.Op("eq", asked, llvm.Int(num.I32, 0)), func() []llvm.Value { return []llvm.Value{f.CallC("omp_get_max_threads", i32)} },
		func() []llvm.Value { return []llvm.Value{asked} })[0]
	return f.Op("min", n, f.Cast(parts, num.I32))
}

// What the threads of OpenMP share. next has a cache line of its own, as every
// thread writes it.
const (
	teamNext = 64 * iota
	teamParts
	teamTask    = teamParts + 8
	teamContext = teamParts + 16
	teamBytes   = 2 * 64
)

// team is team(shared): each thread takes the next part until there is none.
func (s *support) team() *llvm.Func {
	return s.function("team", llvm.Void, []llvm.Param{{Name: "shared", Type: llvm.Ptr}}, func(f *llvm.Func, a []llvm.Value) {
		next := func() llvm.Value { return f.FetchAdd(f.Offset(a[0], teamNext), llvm.Index(1)) }
		parts, task, context := word(f, a[0], teamParts), address(f, a[0], teamTask), address(f, a[0], teamContext)
		f.While([]llvm.Value{next()}, func(c []llvm.Value) llvm.Value { return f.Op("lt", c[0], parts) }, func(c []llvm.Value) []llvm.Value {
			f.CallAt(task, llvm.Void, context, c[0])
			return []llvm.Value{next()}
		})
		f.Return(llvm.Value{})
	})
}
