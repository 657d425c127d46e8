/* Holds the C interface to its promises; prints what does not hold. */
#include <stdio.h>
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
  a = good, a.y.data = x;
  FAILS(affine(&a, &e), TENON_ALIAS, 6, -1);
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

int main(void) {
  values();
  strided();
  procs();
  errors();
  running();
  return faults > 0;
}
