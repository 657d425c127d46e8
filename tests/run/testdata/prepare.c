/* What a library prepares when it is opened, case by case. Prints what is wrong. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "prepare.h"

static int wrong;
static tenon_error e;
#define WANT(x) ((x) ? (void)0 : (void)(wrong = 1, fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x)))
#define FAILS(call, c, a, d) WANT((call) == c && e.code == c && e.arg == a && e.dim == d)

/* Writes DIR/NAME.npy as NumPy does; shape is its text. */
static void npy(const char *dir, const char *name, const char *shape, const void *data, size_t bytes) {
  char path[512], header[118];
  snprintf(path, sizeof path, "%s/%s.npy", dir, name);
  FILE *f = fopen(path, "wb");
  memset(header, ' ', sizeof header);
  int n = snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
  header[n] = ' ', header[sizeof header - 1] = '\n';
  fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f), fwrite(header, 1, sizeof header, f), fwrite(data, 1, bytes, f), fclose(f);
}

enum { M = 3, K = 4, N = 6 };
static float w[K][N], b[N], scale = 0.5f;
static const int64_t xshape[] = {M, K}, wshape[] = {K, N}, bshape[] = {N}, yshape[] = {M, N};

/* What layer means. Small integers and halves: sums have no error. */
static void meant(float x[M][K], float y[M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      y[i][j] = -1e30f;
      for (int k = 0; k < M; k++) {
        float t = scale * b[j];
        for (int l = 0; l < K; l++) t += x[k][l] * w[l][j];
        if (t > y[i][j]) y[i][j] = t;
      }
    }
}

static void fill(float x[M][K], int seed) {
  for (int i = 0; i < M * K; i++) (&x[0][0])[i] = (float)((i * 7 + seed * 5) % 11 - 5);
}

static struct layer_args with_state(float x[M][K], float y[M][N]) {
  return (struct layer_args){{x, xshape, NULL}, {NULL, NULL, NULL}, {NULL, NULL, NULL}, -99, {y, yshape, NULL}};
}
static struct layer_args alone(float x[M][K], float y[M][N]) {
  return (struct layer_args){{x, xshape, NULL}, {w, wshape, NULL}, {b, bshape, NULL}, scale, {y, yshape, NULL}};
}

/* One state serves several threads at once. */
struct shared {
  const tenon_state *state;
  const struct layer_plan *plan;
  int seed;
};
static void *sharing(void *p) {
  struct shared *s = p;
  float x[M][K], y[M][N], want[M][N];
  fill(x, s->seed), meant(x, want);
  void *room = malloc(s->plan->workspace);
  struct layer_args a = with_state(x, y);
  void *bad = NULL;
  for (int i = 0; i < 1000; i++) {
    memset(y, 0, sizeof y);
    if (layer_run(s->state, &a, s->plan, room, NULL) != TENON_OK || memcmp(y, want, sizeof y)) bad = p;
  }
  free(room);
  return bad;
}

static void runs(const char *dir) {
  tenon_state *state = NULL;
  WANT(layer_open(dir, &state, &e) == TENON_OK && state && e.code == TENON_OK);
  float x[M][K], y[M][N], want[M][N];
  struct layer_args a = with_state(x, y), all = alone(x, y);
  struct layer_plan plan, bare;
  WANT(layer_plan(state, &a, 1, &plan, &e) == TENON_OK && layer_plan(NULL, &all, 1, &bare, &e) == TENON_OK);
  /* P has two panels of K x 4, S has N elements: 128 bytes and a line for 24. The product in between is scratch. */
  WANT(plan.workspace >= M * N * 4);
  WANT(bare.workspace - plan.workspace == 128 + 64);
  char *room = malloc(bare.workspace + 1);
  for (int seed = 0; seed < 5; seed++) {
    fill(x, seed), meant(x, want);
    memset(y, 0, sizeof y);
    WANT(layer_run(state, &a, &plan, seed % 2 ? room : NULL, &e) == TENON_OK && !memcmp(y, want, sizeof y));
    memset(y, 0, sizeof y), memset(room, 77, bare.workspace + 1);
    WANT(layer_run(NULL, &all, &bare, room, &e) == TENON_OK && !memcmp(y, want, sizeof y) && room[bare.workspace] == 77);
    memset(y, 0, sizeof y);
    WANT(layer(&all, &e) == TENON_OK && !memcmp(y, want, sizeof y));
  }
  FAILS(layer_run(NULL, &all, &plan, room, &e), TENON_SHAPE, -1, -1); /* the plan has no room for what is prepared */
  WANT(layer_run(state, &a, &bare, room, &e) == TENON_OK && !memcmp(y, want, sizeof y));
  pthread_t t[6];
  struct shared s[6];
  void *bad;
  for (int i = 0; i < 6; i++) s[i] = (struct shared){state, &plan, i}, pthread_create(&t[i], NULL, sharing, &s[i]);
  for (int i = 0; i < 6; i++) WANT(!pthread_join(t[i], &bad) && !bad);
  tenon_state *second = NULL; /* two states have nothing to do with each other */
  WANT(layer_open(dir, &second, NULL) == TENON_OK && second != state);
  layer_close(state);
  memset(y, 0, sizeof y);
  WANT(layer_run(second, &a, &plan, NULL, &e) == TENON_OK && !memcmp(y, want, sizeof y));
  layer_close(second), layer_close(NULL);
  free(room);
}

static void faults(const char *dir, int watched) {
  tenon_state *state = (tenon_state *)&e;
  npy(dir, "b", "5,", b, sizeof b);
  FAILS(layer_open(dir, &state, &e), TENON_SHAPE, 2, 0); /* w says 6: told before there are other arguments */
  WANT(state == NULL && layer_open(dir, &state, NULL) == TENON_SHAPE);
  npy(dir, "b", "6, 1", b, sizeof b);
  FAILS(layer_open(dir, &state, &e), TENON_FILE, 2, -1);
  npy(dir, "w", "0,", w, 0);
  FAILS(cube_open(dir, &state, &e), TENON_SHAPE, 1, 0);
  static float many[3000000];
  npy(dir, "w", "3000000,", many, sizeof many);
  FAILS(cube_open(dir, &state, &e), TENON_OVERFLOW, -1, -1);
  npy(dir, "w", "4000,", many, 4000 * sizeof *many); /* 256 GB */
  struct rlimit old, some = {(rlim_t)16 << 30, (rlim_t)16 << 30};
  if (!watched && !getrlimit(RLIMIT_AS, &old)) { /* the address sanitizer needs more */
    some.rlim_max = old.rlim_max;
    WANT(!setrlimit(RLIMIT_AS, &some));
    FAILS(cube_open(dir, &state, &e), TENON_MEMORY, -1, -1);
    WANT(state == NULL && !setrlimit(RLIMIT_AS, &old));
  }
  npy(dir, "w", "7,", many, 7 * sizeof *many);
  float x[2] = {1, 2}, y[2];
  int64_t two = 2;
  struct cube_args a = {{x, &two, NULL}, {NULL, NULL, NULL}, {y, &two, NULL}};
  struct cube_plan p;
  WANT(cube_open(dir, &state, &e) == TENON_OK && cube_plan(state, &a, 0, &p, &e) == TENON_OK && p.workspace == 0);
  cube_close(state);
}

int main(int argc, char **argv) {
  (void)argv;
  char dir[] = "/tmp/tenon-prepare-XXXXXX", command[64];
  if (!mkdtemp(dir)) return 2;
  for (int i = 0; i < K * N; i++) (&w[0][0])[i] = (float)(i % 5 - 2);
  for (int i = 0; i < N; i++) b[i] = (float)(i - 3);
  npy(dir, "w", "4, 6", w, sizeof w), npy(dir, "b", "6,", b, sizeof b), npy(dir, "scale", "", &scale, sizeof scale);
  runs(dir);
  faults(dir, argc > 1);
  snprintf(command, sizeof command, "rm -r %s", dir);
  WANT(system(command) == 0);
  return wrong;
}
