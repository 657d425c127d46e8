/* Holds the C interface to its promises; prints what does not hold. With an
   argument it loses memory, which a tool that looks for that must find. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi.h"

static int faults;
#define WANT(cond) ((cond) ? 0 : (faults++, printf("line %d: " #cond "\n", __LINE__)))
#define FAILS(call, c, a, d) WANT((call) == c && e.code == c && e.arg == a && e.dim == d)

static tenon_error e;

static void values(void) {
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6];
  double total = 0;
  int64_t shape[] = {2, 3};
  struct affine_args a = {{x, shape, NULL}, 10, true, -3, 1000, 0x4200, {y, shape, NULL}, {&total, NULL, NULL}};
  WANT(affine(&a, &e) == TENON_OK && e.code == TENON_OK && e.arg == -1 && e.dim == -1);
  for (int i = 0; i < 6; i++) WANT(y[i] == 10 * x[i] - 3);
  WANT(total == 21 + 6 * 1000.0);
  a.flag = false; /* h is 3.0 */
  WANT(affine(&a, NULL) == TENON_OK);
  for (int i = 0; i < 6; i++) WANT(y[i] == 0);
}

static void strided(void) {
  float x[6] = {1, 4, 2, 5, 3, 6}, room[24]; /* x is column-major */
  double total;
  int64_t shape[] = {2, 3}, columns[] = {1, 2}, back[] = {-8, 2}; /* y: rows upwards, every second element */
  for (int i = 0; i < 24; i++) room[i] = 77;
  struct affine_args a = {{x, shape, columns}, 2, true, 1, 0, 0, {room + 12, shape, back}, {&total, NULL, NULL}};
  WANT(affine(&a, &e) == TENON_OK && total == 21);
  for (int i = 0; i < 24; i++) {
    int row = i < 12 ? 1 : 0, column = (i - (row ? 4 : 12)) / 2, inside = i >= 4 && i % 2 == 0 && column < 3 && (i < 10 || i >= 12);
    WANT(room[i] == (inside ? 2.0f * (float)(3 * row + column + 1) + 1 : 77));
  }
  float one = 5; /* a stride of 0 reads one element again and again */
  int64_t still[] = {0, 0};
  a.x.data = &one, a.x.strides = still;
  WANT(affine(&a, &e) == TENON_OK && total == 30 && room[12] == 11);
}

static void procs(void) {
  int32_t A[3] = {1, 2, 2147483647}, old[3];
  int64_t n = 3, zero = 0, every = -1;
  struct shift_args a = {{A, &n, NULL}, {old, &n, NULL}, 5};
  WANT(shift(&a, &e) == TENON_OK && A[0] == 6 && A[1] == 7 && A[2] == -2147483647 - 1 + 4 && old[2] == 2147483647);
  a.A.data = A + 2, a.A.strides = &every; /* backwards in place */
  WANT(shift(&a, &e) == TENON_OK && old[0] == A[2] - 5 && old[2] == 6 && A[0] == 11);
  a.A.data = NULL, a.A.shape = a.old.shape = &zero; /* no elements: no memory needed */
  WANT(shift(&a, &e) == TENON_OK);
  struct nothing_args none = {0};
  WANT(nothing(&none, &e) == TENON_OK && nothing(NULL, &e) == TENON_OK);
}

static void errors(void) {
  float x[6] = {0}, y[6];
  double total;
  int64_t shape[] = {2, 3}, other[] = {2, 4}, tall[] = {101, 0}, negative[] = {2, -3}, huge[] = {8, INT64_MAX / 2}, empty[] = {0, INT64_MAX};
  struct affine_args good = {{x, shape, NULL}, 1, true, 0, 0, 0, {y, shape, NULL}, {&total, NULL, NULL}}, a = good;
  FAILS(affine(NULL, &e), TENON_NULL, -1, -1);
  a.x.data = NULL;
  FAILS(affine(&a, &e), TENON_NULL, 0, -1);
  a = good, a.y.shape = NULL;
  FAILS(affine(&a, &e), TENON_NULL, 6, -1);
  a = good, a.total.data = NULL;
  FAILS(affine(&a, &e), TENON_NULL, 7, -1);
  WANT(affine(&a, NULL) == TENON_NULL);
  a = good, a.y.shape = other;
  FAILS(affine(&a, &e), TENON_SHAPE, 6, 1);
  a = good, a.x.shape = negative;
  FAILS(affine(&a, &e), TENON_SHAPE, 0, 1);
  a = good, a.x.shape = a.y.shape = tall; /* the fact M <= 100 */
  FAILS(affine(&a, &e), TENON_SHAPE, 0, 0);
  a = good, a.x.shape = a.y.shape = huge;
  FAILS(affine(&a, &e), TENON_OVERFLOW, 0, -1);
  a = good, a.x.shape = a.y.shape = empty; /* 0 elements, whatever the other size */
  WANT(affine(&a, &e) == TENON_OK && total == 0);
  int64_t long_rows[] = {1, (int64_t)1 << 57}, still[] = {0, 0}; /* 2^59 bytes, if they were dense */
  a = good, a.x.shape = a.y.shape = long_rows, a.x.strides = a.y.strides = still;
  FAILS(affine(&a, &e), TENON_MEMORY, 0, -1);
  a = good, a.y.data = x; /* donated */
  WANT(affine(&a, &e) == TENON_OK);
  a = good, a.y.data = x + 5; /* the last element alone */
  FAILS(affine(&a, &e), TENON_ALIAS, 6, -1);
}

static void running(void) {
  double x[3] = {1, 2, 3}, y[4];
  int32_t g[4] = {2, 0, 1, 2}, *at = g;
  int64_t three = 3, four = 4, large = 1 << 21, most = 1 << 18;
  struct take_args a = {{x, &three, NULL}, {at, &four, NULL}, {y, &four, NULL}};
  WANT(take(&a, &e) == TENON_OK && y[0] == 3 && y[1] == 1 && y[2] == 2 && y[3] == 3);
  g[2] = 3;
  FAILS(take(&a, &e), TENON_INDEX, 0, 0);
  g[2] = -1;
  FAILS(take(&a, &e), TENON_INDEX, 0, 0);
  a.x.data = x, a.g.data = x, a.g.shape = &three, g[2] = 1; /* two inputs may overlap */
  a.result.shape = &three, x[0] = x[1] = x[2] = 0;
  WANT(take(&a, &e) == TENON_OK);
  static double many[1 << 21], result[1 << 21];
  struct twice_args b = {{many, &most, NULL}, {result, &most, NULL}};
  FAILS(twice(&b, &e), TENON_MEMORY, -1, -1); /* 2^57 bytes */
  b.x.shape = b.result.shape = &large;
  FAILS(twice(&b, &e), TENON_OVERFLOW, -1, -1); /* 2^66 bytes */
}

/* Begins between two elements: refused, but for an array without any. */
static void alignment(void) {
  char room[64];
  float x[6] = {0}, y[6];
  double total;
  int64_t shape[] = {2, 3}, none[] = {0, 3};
  struct affine_args good = {{x, shape, NULL}, 1, true, 0, 0, 0, {y, shape, NULL}, {&total, NULL, NULL}}, a = good;
  a.x.data = (char *)x + 2;
  FAILS(affine(&a, &e), TENON_ALIGN, 0, -1);
  a = good, a.y.data = room + 1;
  FAILS(affine(&a, &e), TENON_ALIGN, 6, -1);
  a = good, a.total.data = (char *)&total + 4;
  FAILS(affine(&a, &e), TENON_ALIGN, 7, -1);
  a = good, a.x.shape = a.y.shape = none, a.x.data = room + 1, a.y.data = room + 3;
  WANT(affine(&a, &e) == TENON_OK);
  float *at = (float *)(room + 4); /* an element's alignment is enough */
  memcpy(at, x, sizeof x);
  a = good, a.x.data = at;
  WANT(affine(&a, &e) == TENON_OK);
}

static void plans(void) {
  double x[5] = {1, 2, 3, 4, 5}, once[5], planned[5];
  int64_t n = 5, four = 4, six = 6;
  struct twice_args a = {{x, &n, NULL}, {NULL, NULL, NULL}}, small = {{x, &four, NULL}, {planned, &four, NULL}};
  struct twice_plan p;
  FAILS(twice_plan(NULL, &a, 1, NULL, &e), TENON_NULL, -1, -1);
  FAILS(twice_plan(NULL, NULL, 1, &p, &e), TENON_NULL, -1, -1);
  WANT(twice_plan(NULL, &a, 1, &p, &e) == TENON_OK && p.result_shape[0] == 5 && p.result_bounded == 0); /* outputs are not there yet */
  WANT(p.workspace >= 5 * 5 * 5 * 8 && p.workspace < 5 * 5 * 5 * 8 + 256 && p.threads == 1 && !p.parallel_for && !p.pool);
  a.result.data = once, a.result.shape = &n;
  WANT(twice(&a, &e) == TENON_OK);
  char *room = malloc(p.workspace + 65);
  for (int skip = 0; skip <= 64; skip++) { /* at any address, and nothing beside it is touched */
    memset(room, 77, p.workspace + 65), memset(planned, 0, sizeof planned);
    a.result.data = planned;
    WANT(twice_run(NULL, &a, &p, room + skip, &e) == TENON_OK && !memcmp(once, planned, sizeof once));
    for (int i = 0; i < skip; i++) WANT(room[i] == 77);
    for (int64_t i = skip + p.workspace; i < p.workspace + 65; i++) WANT(room[i] == 77);
  }
  WANT(twice_run(NULL, &a, &p, NULL, NULL) == TENON_OK);
  WANT(twice_run(NULL, &small, &p, room, &e) == TENON_OK); /* smaller sizes fit into the memory of larger ones */
  double more[6], out[6];
  struct twice_args large = {{more, &six, NULL}, {out, &six, NULL}};
  FAILS(twice_run(NULL, &large, &p, room, &e), TENON_SHAPE, -1, -1);
  FAILS(twice_run(NULL, &a, NULL, room, &e), TENON_NULL, -1, -1);
  free(room);
  struct nothing_plan none;
  WANT(nothing_plan(NULL, NULL, 0, &none, NULL) == TENON_OK && none.workspace == 0 && nothing_run(NULL, NULL, &none, NULL, NULL) == TENON_OK);
  int64_t big = 1 << 18, huge = 1 << 21, negative = -1;
  a.x.shape = &big;
  WANT(twice_plan(NULL, &a, 0, &p, &e) == TENON_OK && p.workspace > ((int64_t)1 << 57)); /* it says so, and allocates nothing */
  a.x.shape = &huge;
  FAILS(twice_plan(NULL, &a, 0, &p, &e), TENON_OVERFLOW, -1, -1);
  a.x.shape = &negative;
  FAILS(twice_plan(NULL, &a, 0, &p, &e), TENON_SHAPE, 0, 0);
}

/* Writes DIR/NAME.npy as NumPy does. */
static void npy(const char *dir, const char *name, int version, const char *header, const void *data, size_t bytes) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.npy", dir, name);
  FILE *f = fopen(path, "wb");
  size_t length = strlen(header), start = version == 1 ? 10 : 12, pad = (64 - (start + length + 1) % 64) % 64, total = length + pad + 1;
  unsigned char size[4] = {total & 255, total >> 8 & 255, 0, 0}, magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};
  fwrite(magic, 1, 8, f), fwrite(size, 1, version == 1 ? 2 : 4, f), fputs(header, f);
  while (pad--) fputc(' ', f);
  fputc('\n', f), fwrite(data, 1, bytes, f), fclose(f);
}

/* A state and a plan serve several threads at once. */
struct shared {
  const tenon_state *state;
  const struct dense_plan *plan;
  const struct dense_args *args;
  const float *want;
};
static void *sharing(void *p) {
  const struct shared *s = p;
  float y[4];
  struct dense_args a = *s->args;
  a.result.data = y;
  for (int i = 0; i < 2000; i++) {
    memset(y, 0, sizeof y);
    if (dense_run(s->state, &a, s->plan, NULL, NULL) != TENON_OK || memcmp(y, s->want, sizeof y)) return p;
  }
  return NULL;
}
static void together(struct shared s) {
  pthread_t t[8];
  void *wrong;
  for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, sharing, &s);
  for (int i = 0; i < 8; i++) WANT(!pthread_join(t[i], &wrong) && !wrong);
}

static void constants(void) {
  char dir[] = "/tmp/tenon-abi-XXXXXX";
  if (!mkdtemp(dir)) return;
  float w[6] = {1, 2, 3, 4, 5, 6}, b[2] = {10, 20}, x[6] = {1, 0, 0, 0, 1, 1}, y[4];
  double scale = 2;
  int64_t wshape[] = {2, 3}, two = 2, xshape[] = {2, 3}, yshape[] = {2, 2};
  npy(dir, "w", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", w, sizeof w);
  npy(dir, "b", 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", b, sizeof b);
  npy(dir, "scale", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", &scale, sizeof scale);
  tenon_state *state = NULL;
  struct dense_args a = {{x, xshape, NULL}, {NULL, NULL, NULL}, {NULL, NULL, NULL}, 0, {y, yshape, NULL}};
  struct dense_plan p;
  WANT(dense_open(dir, &state, &e) == TENON_OK && state);
  WANT(dense_plan(state, &a, 1, &p, &e) == TENON_OK && p.result_shape[0] == 2 && p.result_shape[1] == 2);
  WANT(dense_run(state, &a, &p, NULL, &e) == TENON_OK && y[0] == 2 * 1 + 10 && y[1] == 2 * 4 + 20 && y[2] == 2 * 5 + 10 && y[3] == 2 * 11 + 20);
  together((struct shared){state, &p, &a, y});
  FAILS(dense_run(NULL, &a, &p, NULL, &e), TENON_NULL, 1, -1); /* without the state they are arguments */
  struct dense_args whole = {{x, xshape, NULL}, {w, wshape, NULL}, {b, &two, NULL}, 2, {y, yshape, NULL}};
  y[3] = 0;
  WANT(dense(&whole, &e) == TENON_OK && y[3] == 42 && dense_run(NULL, &whole, &p, NULL, &e) == TENON_OK);
  dense_close(state);
  dense_close(NULL);
  const char *bad[] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1), }", "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ", "", "'shape': ("};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    npy(dir, "w", 1, bad[i], w, sizeof w);
    state = (tenon_state *)&e;
    FAILS(dense_open(dir, &state, &e), TENON_FILE, 1, -1);
    WANT(state == NULL);
  }
  char path[512];
  snprintf(path, sizeof path, "%s/w.npy", dir);
  for (int size = 0; size < 90; size += 7) { /* cut off */
    npy(dir, "w", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", w, sizeof w);
    WANT(truncate(path, size) == 0);
    FAILS(dense_open(dir, &state, &e), TENON_FILE, 1, -1);
  }
  unlink(path);
  FAILS(dense_open(dir, &state, &e), TENON_FILE, 1, -1);
  WANT(mkdir(path, 0700) == 0);
  FAILS(dense_open(dir, &state, &e), TENON_FILE, 1, -1);
  FAILS(dense_open(NULL, &state, &e), TENON_NULL, -1, -1);
  FAILS(dense_open(dir, NULL, &e), TENON_NULL, -1, -1);
  rmdir(path), snprintf(path, sizeof path, "rm -r %s", dir);
  WANT(system(path) == 0);
  WANT(twice_open(NULL, &state, &e) == TENON_OK && state == NULL); /* no constants, no state */
  twice_close(state);
}

static void lose(char c) { *(volatile char *)malloc(77) = c; }

int main(int argc, char **argv) {
  if (argc > 1) lose(*argv[1]);
  values();
  alignment();
  plans();
  constants();
  strided();
  procs();
  errors();
  running();
  return faults > 0;
}
