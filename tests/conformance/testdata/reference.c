/* Distances of results from the C library's functions in a wider type: double
 * for f32, long double for f64, where that is wider (x86-64: 64 bits of
 * significand; AArch64: 113). Loaded by reference.go. */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef long double wide;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double rsqrt(double x) { return 1 / sqrt(x); }
static wide sigmoidl(wide x) { return 1 / (1 + expl(-x)); }
static wide rsqrtl(wide x) { return 1 / sqrtl(x); }

static const struct {
	const char *name;
	double (*narrow)(double);
	wide (*wider)(wide);
} functions[] = {
	{"exp", exp, expl}, {"exp2", exp2, exp2l}, {"expm1", expm1, expm1l},
	{"log", log, logl}, {"log2", log2, log2l}, {"log1p", log1p, log1pl},
	{"tanh", tanh, tanhl}, {"erf", erf, erfl}, {"sigmoid", sigmoid, sigmoidl},
	{"sin", sin, sinl}, {"cos", cos, cosl}, {"rsqrt", rsqrt, rsqrtl}, {"cbrt", cbrt, cbrtl},
};

/* odd is the distance in ulps where a NaN, an infinity or a zero is involved.
 * Beyond the greatest number limit, the next power of 2, stands for infinity;
 * least is the least positive number. A zero of the wrong sign, and a NaN or
 * infinity that should be none or is missing, are infinitely far. */
static double odd(wide got, wide want, wide rounded, wide limit, wide ulp, wide least) {
	if (isnan(got) || isnan(rounded))
		return isnan(got) && isnan(rounded) ? 0 : INFINITY;
	if (!signbit(got) != !signbit(want))
		return INFINITY;
	if (isinf(got) || isinf(rounded))
		return got == rounded ? 0 : isinf(want) ? INFINITY : fabsl(fminl(fabsl(got), limit) - fabsl(want)) / ulp;
	return fabsl(got - want) / least;
}

/* power is 2^e for e within the exponents of normal numbers. */
static double power(int e) {
	uint64_t bits = (uint64_t)(e + 1023) << 52;
	double p;
	memcpy(&p, &bits, 8);
	return p;
}

/* exponent is that of normal x. */
static int exponent(double x) {
	uint64_t bits;
	memcpy(&bits, &x, 8);
	return (int)(bits >> 52 & 2047) - 1023;
}

static double distance32(float got, double want) {
	float rounded = (float)want;
	if (got == 0 || rounded == 0 || isnan(got - got) || isnan(rounded - rounded))
		return odd(got, want, rounded, 0x1p128L, 0x1p104L, 0x1p-149L);
	int e = exponent(want) - 23;
	return fabs(got - want) * power(-(e > -149 ? e : -149));
}

static double distance64(double got, wide want) {
	double rounded = (double)want;
	if (got == 0 || rounded == 0 || isnan(got - got) || isnan(rounded - rounded))
		return odd(got, want, rounded, 0x1p1024L, 0x1p971L, 0x1p-1074L);
	int e = exponent(rounded);
	if (fabs(rounded) > fabsl(want) && fabs(rounded) == power(e)) /* rounded up to a power of 2 */
		e--;
	if (e < -1022)
		e = -1022;
	return fabsl(got - want) * power(-(e / 2)) * power(-(e - e / 2)) * 0x1p52L;
}

struct call {
	const char *name;
	const void *x, *y, *got;
	int64_t n;
	double worst; /* the greatest distance, */
	int64_t at;   /* and where it is */
};

static int see(struct call *c, double d, int64_t i) {
	if (d > c->worst || isnan(d)) {
		c->worst = d;
		c->at = i;
	}
	return 1;
}

/* compare32 and compare64 fill in worst and at; they give 0 for a function that
 * is not known. */
int compare32(struct call *c) {
	const float *x = c->x, *y = c->y, *got = c->got;
	c->worst = -1;
	if (!strcmp(c->name, "pow")) {
		for (int64_t i = 0; i < c->n; i++)
			see(c, distance32(got[i], pow(x[i], y[i])), i);
		return 1;
	}
	for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++) {
		if (strcmp(c->name, functions[k].name))
			continue;
		for (int64_t i = 0; i < c->n; i++)
			see(c, distance32(got[i], functions[k].narrow(x[i])), i);
		return 1;
	}
	return 0;
}

int compare64(struct call *c) {
	const double *x = c->x, *y = c->y, *got = c->got;
	c->worst = -1;
	if (!strcmp(c->name, "pow")) {
		for (int64_t i = 0; i < c->n; i++)
			see(c, distance64(got[i], powl(x[i], y[i])), i);
		return 1;
	}
	for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++) {
		if (strcmp(c->name, functions[k].name))
			continue;
		for (int64_t i = 0; i < c->n; i++)
			see(c, distance64(got[i], functions[k].wider(x[i])), i);
		return 1;
	}
	return 0;
}
