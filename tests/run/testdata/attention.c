/* attention S T COLUMNS: q, k, v as floats on stdin, the result on stdout. */
#include <stdio.h>
#include <stdlib.h>
#include "attention.h"

int main(int argc, char **argv) {
  int64_t s = argc > 3 ? atoi(argv[1]) : 0, t = argc > 3 ? atoi(argv[2]) : 0, columns = argc > 3 ? atoi(argv[3]) : 8;
  int64_t queries[] = {2, 3, s, 8}, keys[] = {2, 3, t, 8}, out[] = {2, 3, s, columns};
  static float q[2 * 3 * 64 * 8], k[2 * 3 * 64 * 8], v[2 * 3 * 64 * 8], o[2 * 3 * 64 * 8];
  struct attention_args args = {{q, queries, NULL}, {k, keys, NULL}, {v, keys, NULL}, {o, out, NULL}};
  tenon_error error;
  if (fread(q, 4, 48 * s, stdin) + fread(k, 4, 48 * t, stdin) + fread(v, 4, 48 * t, stdin) != (size_t)(48 * (s + 2 * t))) return 9;
  if (attention(&args, &error)) return printf("%d %d %d\n", error.code, error.arg, error.dim), 1;
  return fwrite(o, 4, 48 * s, stdout) == (size_t)(48 * s) ? 0 : 9;
}
