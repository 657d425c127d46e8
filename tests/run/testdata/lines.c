/* Calls both functions of lines.tn once. */
#include "lines.h"

int main(void) {
  float x[2 * 40] = {0}, y[2];
  int64_t shape[] = {2, 40}, rows_of[] = {2}, a[] = {1, -2, 3}, n = 3;
  struct rows_args r = {{x, shape, 0}, {y, rows_of, 0}};
  struct shift_args s = {{a, &n, 0}, 10};
  return rows(&r, 0) + shift(&s, 0);
}
