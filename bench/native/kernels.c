// What the machine can do: the copies, reads and multiply-adds that bound a
// program, and the loop that times a compiled function. Built by the harness
// with the C compiler for the machine it runs on.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
typedef float vec __attribute__((vector_size(BYTES), aligned(4), may_alias));
#define LANES (BYTES / (int64_t)sizeof(float))

// work is what one thread repeats; it returns 0 if it went well.
typedef int work(void *context);

// job is the work of one thread, n times, on one processor.
struct job {
  work *f;
  void *context;
  int64_t n;
  int cpu;
  pthread_barrier_t *start;
  double seconds; // of the clock on the wall
};

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cpu_set_t allowed; // the processors that this process may use

// bench_cpus lists them, at most n, and returns how many it listed.
int bench_cpus(int32_t *list, int32_t n) {
  int32_t found = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && found < n; cpu++)
    if (CPU_ISSET(cpu, &allowed)) list[found++] = cpu;
  return found;
}

// bench_pin ties the calling thread to a processor, or below 0 frees it again.
int bench_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= 0) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, cpu < 0 ? &allowed : &set);
}

// bench_repeat runs f n times and gives the seconds of processor time that this
// thread took: what else the machine runs counts less than on the wall. A
// negative result is the failure of f.
double bench_repeat(work *f, void *context, int64_t n) {
  double t = now(CLOCK_THREAD_CPUTIME_ID);
  for (int64_t i = 0; i < n; i++) {
    int err = f(context);
    if (err) return -(double)err;
  }
  return now(CLOCK_THREAD_CPUTIME_ID) - t;
}

// bench_wall is bench_repeat by the clock on the wall, for work of many threads.
double bench_wall(work *f, void *context, int64_t n) {
  double t = now(CLOCK_MONOTONIC);
  for (int64_t i = 0; i < n; i++) {
    int err = f(context);
    if (err) return -(double)err;
  }
  return now(CLOCK_MONOTONIC) - t;
}

static void *run(void *p) {
  struct job *j = p;
  bench_pin(j->cpu);
  pthread_barrier_wait(j->start);
  j->seconds = bench_wall(j->f, j->context, j->n);
  return NULL;
}

// pair is work for two processors at once, with a context each.
struct pair {
  work *f;
  void *context[2];
  int32_t cpu[2];
};

// bench_pair runs a pair n times and gives the seconds on the wall of the slower
// processor.
double bench_pair(struct pair *p, int64_t n) {
  pthread_barrier_t start;
  pthread_t t;
  pthread_barrier_init(&start, NULL, 2);
  struct job j[2];
  for (int i = 0; i < 2; i++) j[i] = (struct job){p->f, p->context[i], n, p->cpu[i], &start, 0};
  if (pthread_create(&t, NULL, run, &j[0])) return -1;
  run(&j[1]);
  pthread_join(t, NULL);
  pthread_barrier_destroy(&start);
  if (j[0].seconds < 0 || j[1].seconds < 0) return -1;
  return j[0].seconds > j[1].seconds ? j[0].seconds : j[1].seconds;
}

// bench_alloc gives zeroed memory, aligned to a page, whose pages are there.
void *bench_alloc(int64_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 4096, (size_t)bytes)) return NULL;
  return memset(p, 0, (size_t)bytes);
}

void bench_free(void *p) { free(p); }

// range is an array and, for copies, where it goes.
struct range {
  float *from, *to;
  int64_t n; // elements
};

// bench_memcpy copies with the C library's memcpy.
int bench_memcpy(void *p) {
  struct range *r = p;
  memcpy(r->to, r->from, (size_t)r->n * sizeof(float));
  __asm__ volatile("" ::: "memory");
  return 0;
}

// bench_copy copies with plain vector loads and stores, as a compiled loop does
// that does not bypass the cache.
int bench_copy(void *p) {
  struct range *r = p;
  int64_t i = 0;
  for (; i + 4 * LANES <= r->n; i += 4 * LANES) {
    vec a = *(vec *)(r->from + i), b = *(vec *)(r->from + i + LANES);
    vec c = *(vec *)(r->from + i + 2 * LANES), d = *(vec *)(r->from + i + 3 * LANES);
    *(vec *)(r->to + i) = a;
    *(vec *)(r->to + i + LANES) = b;
    *(vec *)(r->to + i + 2 * LANES) = c;
    *(vec *)(r->to + i + 3 * LANES) = d;
    __asm__ volatile("" ::: "memory"); // or it becomes a call of memcpy
  }
  for (; i < r->n; i++) r->to[i] = r->from[i];
  return 0;
}

// bench_read reads everything once.
int bench_read(void *p) {
  struct range *r = p;
  vec s[8] = {{0}};
  int64_t i = 0;
  for (; i + 8 * LANES <= r->n; i += 8 * LANES)
    for (int k = 0; k < 8; k++) s[k] += *(vec *)(r->from + i + k * LANES);
  for (int k = 1; k < 8; k++) s[0] += s[k];
  __asm__ volatile("" ::"x"(s[0]) : "memory");
  return 0;
}

typedef float reg __attribute__((vector_size(BYTES)));

// bench_fma does 12 independent chains of multiply-adds in registers: 24 * LANES
// operations a round, r->n rounds. An array of chains would live in memory.
int bench_fma(void *p) {
  struct range *r = p;
  reg m = {0}, c = {0};
  m += 0.999f, c += 0.001f;
  __asm__ volatile("" : "+x"(m), "+x"(c));
  reg a0 = c, a1 = c, a2 = c, a3 = c, a4 = c, a5 = c, a6 = c, a7 = c, a8 = c, a9 = c, a10 = c, a11 = c;
  for (int64_t i = r->n; i > 0; i--) {
    a0 = a0 * m + c, a1 = a1 * m + c, a2 = a2 * m + c, a3 = a3 * m + c;
    a4 = a4 * m + c, a5 = a5 * m + c, a6 = a6 * m + c, a7 = a7 * m + c;
    a8 = a8 * m + c, a9 = a9 * m + c, a10 = a10 * m + c, a11 = a11 * m + c;
    __asm__ volatile("" : "+x"(a0), "+x"(a1), "+x"(a2), "+x"(a3), "+x"(a4), "+x"(a5));
    __asm__ volatile("" : "+x"(a6), "+x"(a7), "+x"(a8), "+x"(a9), "+x"(a10), "+x"(a11)); // keeps the chains apart
  }
  a0 += a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11;
  __asm__ volatile("" ::"x"(a0));
  return 0;
}

// bench_lanes is how many f32 a vector of this machine holds.
int bench_lanes(void) { return LANES; }

// call is a compiled function and what it is called with.
struct call {
  int (*run)(const void *state, const void *args, const void *plan, void *workspace, void *error);
  void *args, *plan, *workspace;
  int32_t error[4];
};

// bench_call calls it; the result is its error code.
int bench_call(void *p) {
  struct call *c = p;
  return c->run(NULL, c->args, c->plan, c->workspace, c->error);
}
