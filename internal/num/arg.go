package num

// ArgCombine is the combination of two (value, index) pairs under argmax or
// argmin of values of type e, staged: ties go to the lower index, a NaN beats
// every number, and of two NaNs the lower index wins.
func ArgCombine(name string, e Elem) func(v1, i1, v2, i2 Cell) (v, i Cell) {
	second := argSecond(name, e)
	if second == nil {
		return nil
	}
	return func(v1, i1, v2, i2 Cell) (v, i Cell) {
		if second(v1, i1, v2, i2) {
			return v2, i2
		}
		return v1, i1
	}
}

// argSecond tells whether the second pair wins.
func argSecond(name string, e Elem) func(v1, i1, v2, i2 Cell) bool {
	order := map[string]string{"argmax": "gt", "argmin": "lt"}[name]
	better := Binary(order, e)
	if better == nil {
		return nil
	}
	isNaN := func(c Cell) bool { return e.IsFloat() && Float(c) != Float(c) }
	return func(v1, i1, v2, i2 Cell) bool {
		if isNaN(v1) || isNaN(v2) {
			return isNaN(v2) && (!isNaN(v1) || Int(i2) < Int(i1))
		}
		return better(v2, v1) != 0 || better(v1, v2) == 0 && Int(i2) < Int(i1)
	}
}

// ArgShadow is ArgCombine on shadows. Where the values lie within their bounds,
// the index is undecided until a later value clearly beats both.
func ArgShadow(name string, e Elem) func(v1, i1, v2, i2 Shadow, cv1, ci1, cv2, ci2 Cell) (v, i Shadow) {
	second := argSecond(name, e)
	if second == nil {
		return nil
	}
	return func(v1, i1, v2, i2 Shadow, cv1, ci1, cv2, ci2 Cell) (v, i Shadow) {
		known := true
		if e.IsFloat() {
			_, known = apart(v1, v2)
		} else {
			known = v1.Err == 0 && v2.Err == 0
		}
		if second(cv1, ci1, cv2, ci2) {
			v1, v2, i1, i2, ci1, ci2 = v2, v1, i2, i1, ci2, ci1
		}
		if !known {
			v1.Err = max(v1.Err, v2.Err)
			i1 = coverDiscrete(i1, i2, ci1, ci2)
		}
		return v1, i1
	}
}
