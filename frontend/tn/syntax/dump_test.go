package syntax

import (
	"fmt"
	"reflect"
	"strings"
)

// dump prints a tree without its positions and comments: two programs are the
// same program if their dumps are equal.
func dump(f *File) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(f.Items))
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		dumpValue(b, v.Elem())
	case reflect.Slice:
		b.WriteString("[")
		for i := range v.Len() {
			dumpValue(b, v.Index(i))
			b.WriteString(" ")
		}
		b.WriteString("]")
	case reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Type != reflect.TypeFor[Span]() && f.Type != reflect.TypeFor[Position]() {
				b.WriteString(f.Name + ":")
				dumpValue(b, v.Field(i))
				b.WriteString(" ")
			}
		}
		b.WriteString("}")
	default:
		fmt.Fprintf(b, "%v", v.Interface())
	}
}
