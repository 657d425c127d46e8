package tn

import "strings"

// cNames are the names that C, libc and libm own, as far as a numerical program
// is likely to meet them: keywords of C23 and C++, and the functions of the
// headers that every C program links.
var cNames = words(`
auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false nullptr constexpr
typeof class namespace template new delete this operator private public protected virtual friend throw try catch using and or
not xor asm main
abort abs atexit atof atoi atol bsearch calloc div exit free getenv labs ldiv malloc qsort rand realloc srand strtod strtol
strtoul system aligned_alloc printf fprintf sprintf snprintf scanf fopen fclose fread fwrite fflush puts putchar getchar
perror remove rename tmpfile memcpy memmove memset memcmp memchr strcpy strncpy strcat strcmp strncmp strchr strrchr strlen
strstr strtok time clock difftime mktime signal raise longjmp setjmp read write open close index rindex
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2 logb
modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round lround
llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma gamma j0 j1 jn y0 y1 yn
significand drem finite isinf isnan signgam exp10 pow10 sincos
`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
		m[w+"f"] = m[w+"f"] || isMath(w)
	}
	for k, v := range m {
		if !v {
			delete(m, k)
		}
	}
	return m
}

// isMath reports that libm has a single-precision twin of w, spelled wf.
func isMath(w string) bool {
	switch w {
	case "acos", "asin", "atan", "atan2", "cos", "sin", "tan", "cosh", "sinh", "tanh", "exp", "exp2", "expm1", "log", "log10",
		"log1p", "log2", "cbrt", "hypot", "pow", "sqrt", "erf", "erfc", "ceil", "floor", "round", "trunc", "fmod", "fma", "fabs",
		"fmax", "fmin", "rint":
		return true
	}
	return false
}
