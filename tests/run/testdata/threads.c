/* Results have the same bits on any number of threads, in any order of parts,
   and however many calls run at the same time. Usage: threads SECONDS */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "threads.h"

static int faults;
#define WANT(cond) ((cond) ? 0 : (faults++, printf("line %d: " #cond "\n", __LINE__)))

/* A case is a function at some sizes with its inputs and the result that one
   thread gives. */
enum { ROWS, WAVE, GRAM, PICK, FUNCTIONS };
typedef struct {
  int function;
  int64_t shape[2], out[2];
  size_t bytes; /* of the result */
  void *x, *y;
  int64_t *g, *h;
  void *want;
} Case;

static const int64_t sizes[][FUNCTIONS][2] = {
  {{0, 5}, {0, 0}, {0, 3}, {0, 2}},        {{1, 1}, {1, 0}, {1, 1}, {1, 1}},       {{3, 1000}, {1000, 0}, {7, 13}, {5, 40}},
  {{700, 301}, {99991, 0}, {61, 83}, {3000, 50}}, {{2000, 17}, {300007, 0}, {128, 64}, {257, 513}}, {{37, 4099}, {65536, 0}, {97, 31}, {20011, 3}},
};
enum { SIZES = sizeof sizes / sizeof *sizes, CASES = SIZES * FUNCTIONS };
static Case cases[CASES];

static uint64_t random64(uint64_t *s) {
  *s ^= *s << 13, *s ^= *s >> 7, *s ^= *s << 17;
  return *s;
}

static void make(Case *c, int function, const int64_t size[2]) {
  uint64_t s = 88172645463325252u + (uint64_t)function;
  int64_t n = size[0] * (function == WAVE ? 1 : size[1]), rows = size[0];
  c->function = function;
  memcpy(c->shape, size, sizeof c->shape);
  c->out[0] = size[0], c->out[1] = function == GRAM ? size[0] : size[1];
  c->bytes = function == ROWS ? n * 4 : function == WAVE || function == PICK ? rows * 4 : rows * rows * 8;
  c->x = malloc(n * 8 + 8), c->y = malloc(n * 8 + 8), c->want = malloc(c->bytes + 8);
  c->g = malloc(rows * 8 + 8), c->h = malloc(rows * 8 + 8);
  for (int64_t i = 0; i < n; i++) {
    double v = (double)(random64(&s) >> 11) / (1ll << 51) - 2, w = (double)(random64(&s) >> 11) / (1ll << 51) - 2;
    if (function == GRAM) ((double *)c->x)[i] = v;
    else ((float *)c->x)[i] = (float)v, ((float *)c->y)[i] = (float)w;
  }
  for (int64_t i = 0; i < rows; i++) c->g[i] = random64(&s) % rows, c->h[i] = random64(&s) % rows;
}

/* Threads of our own: one that goes backwards, or several that take parts in
   turn. */
static void backwards(void *pool, int64_t parts, tenon_task task, void *context) {
  ++*(atomic_int *)pool;
  while (parts--) task(context, parts);
}

struct share {
  atomic_llong next;
  int64_t parts;
  tenon_task task;
  void *context;
};
static void *inturn(void *p) {
  struct share *s = p;
  for (int64_t k; (k = s->next++) < s->parts;) s->task(s->context, k);
  return NULL;
}
static void turns(void *pool, int64_t parts, tenon_task task, void *context) {
  ++*(atomic_int *)pool;
  struct share s = {0, parts, task, context};
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, inturn, &s);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}

/* how: -1 is one call; else that many threads (0: OpenMP's own number), or
   parallel_for, with or without a workspace. */
#define CALL(NAME, ...)                                                                      \
  {                                                                                          \
    struct NAME##_args a = __VA_ARGS__;                                                      \
    struct NAME##_plan p;                                                                    \
    if (how < 0) return NAME(&a, e);                                                         \
    int code = NAME##_plan(NULL, &a, how, &p, e);                                            \
    if (code) return code;                                                                   \
    p.parallel_for = own, p.pool = count;                                                    \
    void *room = workspace && p.workspace ? malloc(p.workspace) : NULL;                      \
    code = NAME##_run(NULL, &a, &p, room, e);                                                \
    free(room);                                                                              \
    return code;                                                                             \
  }
static int call(const Case *c, void *out, int how, tenon_parallel_for own, atomic_int *count, int workspace, tenon_error *e) {
  switch (c->function) {
  case ROWS: CALL(rows, {{c->x, c->shape, NULL}, {out, c->out, NULL}})
  case WAVE: CALL(wave, {{c->x, c->shape, NULL}, {c->y, c->shape, NULL}, {out, c->out, NULL}})
  case GRAM: CALL(gram, {{c->x, c->shape, NULL}, {out, c->out, NULL}})
  default: CALL(pick, {{c->x, c->shape, NULL}, {c->g, c->shape, NULL}, {c->h, c->shape, NULL}, {out, c->out, NULL}})
  }
}

static int same(const Case *c, void *out, int how, tenon_parallel_for own, atomic_int *count, int workspace) {
  tenon_error e;
  memset(out, 0xee, c->bytes);
  return call(c, out, how, own, count, workspace, &e) == TENON_OK && !memcmp(out, c->want, c->bytes);
}

static void counts_of_threads(void) {
  tenon_error e;
  static atomic_int used;
  for (int i = 0; i < CASES; i++) {
    Case *c = &cases[i];
    make(c, i % FUNCTIONS, sizes[i / FUNCTIONS][i % FUNCTIONS]);
    WANT(call(c, c->want, 1, NULL, NULL, 1, &e) == TENON_OK);
    void *out = malloc(c->bytes + 8);
    WANT(same(c, out, -1, NULL, NULL, 0) && same(c, out, 0, NULL, NULL, 1));
    for (int threads = 2; threads < 9; threads++) WANT(same(c, out, threads, NULL, NULL, threads & 1));
    WANT(same(c, out, 0, backwards, &used, 1) && same(c, out, 1, turns, &used, 0) && same(c, out, 2, turns, &used, 1));
    free(out);
  }
  WANT(used > 20); /* the large cases are split */
}

/* Whatever part ends first, the first row at fault is the one that is told. */
static void first_error(void) {
  tenon_error e;
  atomic_int used = 0;
  Case *c = &cases[3 * FUNCTIONS + PICK];
  float *out = malloc(c->bytes);
  int64_t rows = c->shape[0];
  for (int64_t first = 0; first < rows - 1; first += 371) {
    int64_t g = c->g[first], h = c->h[rows - 1];
    c->g[first] = rows, c->h[rows - 1] = -1;
    for (int how = -1; how < 4; how++)
      WANT(call(c, out, how, NULL, NULL, 0, &e) == TENON_INDEX && e.code == TENON_INDEX && e.arg == 0 && e.dim == 0);
    WANT(call(c, out, 0, backwards, &used, 0, &e) == TENON_INDEX && e.arg == 0 && e.dim == 0);
    c->g[first] = g, c->h[rows - 1] = h;
  }
  WANT(used > 0 && same(c, out, 0, backwards, &used, 0));
  free(out);
}

/* Sixteen threads call all of it at different sizes at the same time. */
enum { CALLERS = 16 };
static time_t end;
static atomic_llong calls[CASES], wrong;
static void *caller(void *id) {
  uint64_t s = 2463534242u + (uintptr_t)id * 7919;
  atomic_int used = 0;
  size_t most = 0;
  for (int i = 0; i < CASES; i++) most = cases[i].bytes > most ? cases[i].bytes : most;
  void *out = malloc(most + 8);
  while (time(NULL) < end) {
    int i = random64(&s) % CASES, how = (int)(random64(&s) % 4) - 1;
    tenon_parallel_for own = random64(&s) % 4 ? NULL : backwards;
    if (!same(&cases[i], out, how, own, &used, random64(&s) & 1)) wrong++;
    calls[i]++;
  }
  free(out);
  return NULL;
}

int main(int argc, char **argv) {
  (void)argc;
  counts_of_threads();
  first_error();
  pthread_t t[CALLERS];
  end = time(NULL) + atoi(argv[1]) + 1;
  for (uintptr_t i = 0; i < CALLERS; i++) pthread_create(&t[i], NULL, caller, (void *)i);
  for (int i = 0; i < CALLERS; i++) pthread_join(t[i], NULL);
  long long total = 0;
  for (int i = 0; i < CASES; i++) total += calls[i];
  WANT(wrong == 0);
  WANT(total > CALLERS);
  printf("%lld calls from %d threads, %lld differ\n", total, CALLERS, (long long)wrong);
  return faults > 0;
}
