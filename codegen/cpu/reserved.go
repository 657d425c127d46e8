package cpu

import "strings"

// keywords are those of C and C++ that a field cannot have as its name.
var keywords = wordSet(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
const_cast constexpr continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or
or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using
virtual void volatile wchar_t while xor xor_eq`)

// library are functions of libc and libm. One that a program exported would
// replace the library's for everything that is loaded after it.
var library = wordSet(`abort abs acos acosf acosh acoshf aligned_alloc asin asinf asinh asinhf assert atan atan2 atan2f atanf
atanh atanhf atexit atof atoi atol bsearch calloc cbrt cbrtf ceil ceilf clearerr clock close connect copysign copysignf cos
cosf cosh coshf ctime difftime div dup erf erfc erfcf erff exec exit exp exp10 exp10f exp2 exp2f expf expm1 expm1f fabs fabsf
fclose fdim fdimf feof ferror fflush fgetc fgets floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf fopen fork fprintf
fputc fputs fread free freopen frexp frexpf fscanf fseek ftell fwrite gamma getc getchar getenv gets gmtime hypot hypotf
index ilogb ilogbf isalnum isalpha isdigit isinf islower isnan isspace isupper j0 j1 jn kill labs ldexp ldexpf lgamma lgammaf
link listen llrint llround localtime log log10 log10f log1p log1pf log2 log2f logb logbf logf longjmp lrint lround main
malloc memchr memcmp memcpy memmove memset mktime mq_close mq_open modf modff nan nanf nearbyint nearbyintf nextafter nextafterf open pause
perror pipe poll pow powf printf putc putchar puts qsort raise rand read realloc recv remainder remainderf remove rename
rewind rint rintf round roundeven roundevenf roundf scalb scalbn scalbnf scanf select send setbuf setjmp setvbuf signal
significand sin sincos sincosf sinf sinh sinhf sem_close sem_open shm_open sleep socket sprintf sqrt sqrtf srand sscanf stat stderr stdin stdout strcat
strchr strcmp strcpy strcspn strdup strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtok strtol
strtoul strxfrm sync system tan tanf tanh tanhf tgamma tgammaf time times tmpfile tmpnam tolower toupper trunc truncf ungetc
unlink vfprintf vprintf vsprintf wait write y0 y1 yn`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// reserved reports a name that a function cannot be exported under. tenon_ is
// ours; a leading underscore belongs to C's implementation.
func reserved(name string) bool {
	return keywords[name] || library[name] || strings.HasPrefix(name, "tenon_") || strings.HasPrefix(name, "_")
}
