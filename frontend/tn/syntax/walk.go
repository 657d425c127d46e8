package syntax

import "reflect"

// Walk visits n and the nodes below it in the order of the text. visit returns
// false to leave out what lies below a node. Nil nodes are not visited.
func Walk(n Node, visit func(Node) bool) {
	if n == nil {
		return
	}
	if v := reflect.ValueOf(n); v.Kind() == reflect.Pointer && v.IsNil() || !visit(n) {
		return
	}
	for _, c := range Children(n) {
		Walk(c, visit)
	}
}

var nodeType = reflect.TypeFor[Node]()

// Children lists the nodes directly below n, in the order of the text. It reads
// the fields by reflection: a node added to the tree needs no entry here.
func Children(n Node) []Node {
	var out []Node
	v := reflect.ValueOf(n)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		out = appendFields(out, v)
	}
	return out
}

func appendFields(out []Node, v reflect.Value) []Node {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case f.Type == reflect.TypeFor[Span]() || !f.IsExported():
		case f.Type == reflect.TypeFor[Block]():
			out = appendFields(out, v.Field(i))
		default:
			out = appendNodes(out, v.Field(i))
		}
	}
	return out
}

func appendNodes(out []Node, v reflect.Value) []Node {
	switch v.Kind() {
	case reflect.Slice:
		if v.Type().Elem().Implements(nodeType) {
			for i := range v.Len() {
				out = appendNodes(out, v.Index(i))
			}
		}
	case reflect.Pointer, reflect.Interface:
		if v.Type().Implements(nodeType) && !v.IsNil() {
			out = append(out, v.Interface().(Node))
		}
	}
	return out
}
