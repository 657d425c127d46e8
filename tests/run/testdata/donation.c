/* Results in the memory of arguments: as those of separate arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "donation.h"

#define WANT(c)                                            \
  do {                                                     \
    if (!(c)) {                                            \
      printf("line %d: %s does not hold\n", __LINE__, #c); \
      exit(1);                                             \
    }                                                      \
  } while (0)

enum { N = 37 };
static float x[N * N], y[N * N], want[N * N], row[N];
static int64_t square[] = {N, N}, line[] = {N};

static void fill(void) {
  for (int i = 0; i < N * N; i++) x[i] = y[i] = (float)((i * 7) % 23) - 11;
  for (int i = 0; i < N; i++) row[i] = (float)i;
}

int main(void) {
  tenon_error e;
  fill();
  struct turned_args apart = {{x, square, NULL}, {want, square, NULL}}, turn = {{y, square, NULL}, {y, square, NULL}};
  WANT(turned(&apart, &e) == TENON_OK && turned(&turn, &e) == TENON_OK);
  WANT(memcmp(y, want, sizeof y) == 0 && y[1] == x[N]);

  fill();
  struct soft_args s = {{x, square, NULL}, {want, square, NULL}}, t = {{y, square, NULL}, {y, square, NULL}};
  WANT(soft(&s, &e) == TENON_OK && soft(&t, &e) == TENON_OK);
  WANT(memcmp(y, want, sizeof y) == 0);

  fill();
  struct append_args a = {{y, square, NULL}, {row, line, NULL}, 5, {y, square, NULL}};
  WANT(append(&a, &e) == TENON_OK);
  WANT(memcmp(y + 5 * N, row, sizeof row) == 0 && memcmp(y, x, 5 * sizeof row) == 0);
  WANT(memcmp(y + 6 * N, x + 6 * N, (N - 6) * sizeof row) == 0);

  int64_t fewer[] = {N - 1, N}; /* begins where x does, but is another array */
  struct scaled_args part = {{x, square, NULL}, 2, {x + N, square, NULL}};
  WANT(scaled(&part, &e) == TENON_ALIAS && e.arg == 2);
  struct append_args shorter = {{y, fewer, NULL}, {row, line, NULL}, 5, {y + N, fewer, NULL}};
  WANT(append(&shorter, &e) == TENON_ALIAS);
  return 0;
}
