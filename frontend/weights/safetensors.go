package weights

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// maxStHeader bounds a safetensors header: about a hundred thousand tensors.
const maxStHeader = 16 << 20

// An stTensor is one row of a safetensors header.
type stTensor struct {
	name       string
	dt         dtype
	shape      []int64
	begin, end int64 // within the data
	seen       int   // keys, one bit each
}

func (f *File) readSafetensors() error {
	n := binary.LittleEndian.Uint64(f.data)
	if n > maxStHeader || int64(n) > int64(len(f.data))-8 {
		return f.fault("the safetensors header claims %d bytes; the file has %d and %d are allowed", n, len(f.data), maxStHeader)
	}
	p := &stParser{dec: json.NewDecoder(bytes.NewReader(f.data[8 : 8+n]))}
	p.dec.UseNumber()
	tensors, err := p.header()
	if err == nil {
		err = checkOffsets(tensors, int64(len(f.data))-8-int64(n))
	}
	if err != nil {
		return f.fault("safetensors header: %s", err)
	}
	body := f.data[8+n:]
	for _, t := range tensors {
		st := stored{dt: t.dt, view: view{shape: t.shape, strides: cStrides(t.shape)}, data: body[t.begin:t.end]}
		if err := f.add(t.name, func() (stored, error) { return st, nil }); err != nil {
			return err
		}
	}
	return nil
}

// checkOffsets holds the tensors against the format's rule: sorted by offset
// they cover the data without gap or overlap. The order in the header is free.
func checkOffsets(tensors []stTensor, size int64) error {
	byBegin := slices.Clone(tensors)
	slices.SortStableFunc(byBegin, func(a, b stTensor) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for _, t := range byBegin {
		need, err := byteSize(t.shape, t.dt.size)
		switch {
		case err != nil:
			return fmt.Errorf("tensor %s: %w", quoteShort(t.name), err)
		case t.begin > t.end || t.end > size:
			return fmt.Errorf("tensor %s: offsets %d to %d lie outside the %d bytes of data", quoteShort(t.name), t.begin, t.end, size)
		case t.begin != at:
			return fmt.Errorf("tensor %s: offset %d leaves a gap or overlaps; expected %d", quoteShort(t.name), t.begin, at)
		case t.dt.size > 0 && t.end-t.begin != need:
			return fmt.Errorf("tensor %s: shape %s of %s needs %d bytes, the offsets give %d", quoteShort(t.name),
				shapeString(t.shape), t.dt.name, need, t.end-t.begin)
		}
		at = t.end
	}
	if at != size {
		return fmt.Errorf("%d bytes of data belong to no tensor", size-at)
	}
	return nil
}

// An stParser reads the header token by token. Decoding into maps would keep
// the last of two equal names and say nothing.
type stParser struct{ dec *json.Decoder }

func (p *stParser) header() ([]stTensor, error) {
	if err := p.delim('{'); err != nil {
		return nil, err
	}
	var out []stTensor
	for p.dec.More() {
		name, err := p.str()
		if err != nil {
			return nil, err
		}
		if name == "__metadata__" {
			if err := p.skip(); err != nil {
				return nil, err
			}
			continue
		}
		t := stTensor{name: name}
		if err := p.tensor(&t); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", quoteShort(name), err)
		}
		out = append(out, t)
	}
	if err := p.delim('}'); err != nil {
		return nil, err
	}
	if p.dec.More() {
		return nil, fmt.Errorf("unexpected text after the header")
	}
	return out, nil
}

func (p *stParser) tensor(t *stTensor) error {
	if err := p.delim('{'); err != nil {
		return err
	}
	for p.dec.More() {
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := p.field(t, key); err != nil {
			return err
		}
	}
	if t.seen != 7 {
		return fmt.Errorf("expected dtype, shape and data_offsets")
	}
	return p.delim('}')
}

func (p *stParser) field(t *stTensor, key string) error {
	bit := map[string]int{"dtype": 1, "shape": 2, "data_offsets": 4}[key]
	if bit == 0 || t.seen&bit != 0 {
		return fmt.Errorf("key %s is unknown or stands twice", quoteShort(key))
	}
	t.seen |= bit
	switch bit {
	case 1:
		name, err := p.str()
		t.dt = stDtype(name)
		return err
	case 2:
		var err error
		t.shape, err = p.sizes(maxRank)
		return err
	}
	at, err := p.sizes(2)
	if err == nil && len(at) != 2 {
		err = fmt.Errorf("data_offsets are not two numbers")
	}
	if err == nil {
		t.begin, t.end = at[0], at[1]
	}
	return err
}

// sizes reads a list of at most limit numbers that are not negative.
func (p *stParser) sizes(limit int) ([]int64, error) {
	if err := p.delim('['); err != nil {
		return nil, err
	}
	out := []int64{}
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		text, _ := tok.(json.Number)
		n, err := strconv.ParseInt(text.String(), 10, 64)
		if err != nil || n < 0 || len(out) == limit {
			return nil, fmt.Errorf("expected at most %d sizes, found %s", limit, quoteShort(fmt.Sprint(tok)))
		}
		out = append(out, n)
	}
	return out, p.delim(']')
}

func (p *stParser) str() (string, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", fmt.Errorf("expected a string, found %s", quoteShort(fmt.Sprint(tok)))
	}
	return s, nil
}

func (p *stParser) delim(want json.Delim) error {
	tok, err := p.dec.Token()
	if err != nil {
		return err
	}
	if tok != want {
		return fmt.Errorf("expected %s, found %s", want, quoteShort(fmt.Sprint(tok)))
	}
	return nil
}

// maxStDepth bounds the nesting of metadata, which the format keeps flat; the
// decoder's own stack grows with it.
const maxStDepth = 64

// skip passes over one value of any kind, without recursion.
func (p *stParser) skip() error {
	for depth := 0; ; {
		tok, err := p.dec.Token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		if depth > maxStDepth {
			return fmt.Errorf("nested too deeply")
		}
	}
}
