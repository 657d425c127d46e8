// The peer oneDNN, in a process of its own. It obeys lines on its standard input
// and answers each with one line:
//
//	open OP ROWS COLS    ok ID IMPLEMENTATION     (or: no REASON)
//	run ID N             ok SECONDS               N executions of primitive ID
//
// A primitive, its memory objects and its arrays are made once, outside the
// timing. Seconds are processor time of the process, as for what it is compared
// with. The argument is the processor to run on.
#define _GNU_SOURCE
#include <oneapi/dnnl/dnnl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum op { SOFTMAX, LAYERNORM, GELU_ERF, GELU_TANH, ADD, BIAS_GELU, SUM, TRANSPOSE, OPS };

static const char *const names[OPS] = {"softmax", "layernorm", "gelu", "gelu_tanh", "add", "bias_gelu", "sum", "transpose"};

// peer is one primitive with its arguments, ready to run.
struct peer {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_desc_t pd;
  dnnl_primitive_t prim;
  dnnl_exec_arg_t args[5];
  int nargs;
  char info[256]; // which implementation oneDNN chose: it names the instruction set
};

static const float eps = 1e-5f; // as in bench/layernorm.tn

static int dense(dnnl_memory_desc_t *md, int64_t rows, int64_t cols) {
  dnnl_dims_t dims = {rows, cols}, strides = {cols, 1};
  return dnnl_memory_desc_create_with_strides(md, 2, dims, dnnl_f32, strides);
}

static int bind(struct peer *p, int arg, dnnl_memory_desc_t md, void *data) {
  dnnl_memory_t mem;
  int err = dnnl_memory_create(&mem, md, p->engine, data);
  if (!err) p->args[p->nargs++] = (dnnl_exec_arg_t){arg, mem};
  return err;
}

static int softmax(struct peer *p, dnnl_memory_desc_t md) {
  return dnnl_softmax_forward_primitive_desc_create(&p->pd, p->engine, dnnl_forward_inference,
                                                    dnnl_softmax_accurate, md, md, 1, NULL);
}

static int eltwise(struct peer *p, dnnl_memory_desc_t md, dnnl_alg_kind_t alg) {
  return dnnl_eltwise_forward_primitive_desc_create(&p->pd, p->engine, dnnl_forward_inference, alg, md, md, 0, 0, NULL);
}

static int layernorm(struct peer *p, dnnl_memory_desc_t md, int64_t cols, float *g, float *b) {
  dnnl_memory_desc_t row;
  dnnl_dims_t n = {cols};
  int err = dnnl_memory_desc_create_with_tag(&row, 1, n, dnnl_f32, dnnl_a);
  if (!err)
    err = dnnl_layer_normalization_forward_primitive_desc_create(
        &p->pd, p->engine, dnnl_forward_inference, md, md, NULL, eps, dnnl_use_scale | dnnl_use_shift, NULL);
  if (!err) err = bind(p, DNNL_ARG_SCALE, row, g);
  if (!err) err = bind(p, DNNL_ARG_SHIFT, row, b);
  return err;
}

// binary adds y, which has yrows rows, and applies alg to the sum if it is set.
static int binary(struct peer *p, dnnl_memory_desc_t md, int64_t yrows, int64_t cols, float *y, dnnl_alg_kind_t alg) {
  dnnl_memory_desc_t ymd;
  dnnl_primitive_attr_t attr = NULL;
  dnnl_post_ops_t ops;
  int err = dense(&ymd, yrows, cols);
  if (!err && alg != dnnl_alg_kind_undef) {
    err = dnnl_primitive_attr_create(&attr);
    if (!err) err = dnnl_post_ops_create(&ops);
    if (!err) err = dnnl_post_ops_append_eltwise(ops, alg, 0, 0);
    if (!err) err = dnnl_primitive_attr_set_post_ops(attr, ops);
  }
  if (!err) err = dnnl_binary_primitive_desc_create(&p->pd, p->engine, dnnl_binary_add, md, ymd, md, attr);
  if (!err) err = bind(p, DNNL_ARG_SRC_1, ymd, y);
  return err;
}

static int sum(struct peer *p, dnnl_memory_desc_t md, dnnl_memory_desc_t *out) {
  int err = dense(out, 1, 1);
  if (!err) err = dnnl_reduction_primitive_desc_create(&p->pd, p->engine, dnnl_reduction_sum, md, *out, 0, 0, NULL);
  return err;
}

static int transpose(struct peer *p, dnnl_memory_desc_t md, dnnl_memory_desc_t *out, int64_t rows, int64_t cols) {
  dnnl_dims_t dims = {rows, cols}, strides = {1, rows};
  int err = dnnl_memory_desc_create_with_strides(out, 2, dims, dnnl_f32, strides);
  if (!err) err = dnnl_reorder_primitive_desc_create(&p->pd, md, p->engine, *out, p->engine, NULL);
  return err;
}

static int describe(struct peer *p, int op, int64_t rows, int64_t cols, dnnl_memory_desc_t md,
                    dnnl_memory_desc_t *out, float *a, float *b) {
  *out = md;
  switch (op) {
  case SOFTMAX: return softmax(p, md);
  case LAYERNORM: return layernorm(p, md, cols, a, b);
  case GELU_ERF: return eltwise(p, md, dnnl_eltwise_gelu_erf);
  case GELU_TANH: return eltwise(p, md, dnnl_eltwise_gelu_tanh);
  case ADD: return binary(p, md, rows, cols, a, dnnl_alg_kind_undef);
  case BIAS_GELU: return binary(p, md, 1, cols, a, dnnl_eltwise_gelu_erf);
  case SUM: return sum(p, md, out);
  case TRANSPOSE: return transpose(p, md, out, rows, cols);
  }
  return dnnl_invalid_arguments;
}

// prepare makes the primitive of op over x, rows by cols, and y; a and b are
// what else it reads. It returns 0 or the status of oneDNN that says why not.
static int prepare(struct peer *p, int op, int64_t rows, int64_t cols, float *x, float *y, float *a, float *b) {
  dnnl_memory_desc_t md, ymd;
  const char *info = "";
  int err = dnnl_engine_create(&p->engine, dnnl_cpu, 0);
  if (!err) err = dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags);
  if (!err) err = dense(&md, rows, cols);
  if (!err) err = describe(p, op, rows, cols, md, &ymd, a, b);
  if (!err) err = bind(p, op == BIAS_GELU || op == ADD ? DNNL_ARG_SRC_0 : DNNL_ARG_SRC, md, x);
  if (!err) err = bind(p, DNNL_ARG_DST, ymd, y);
  if (!err) err = dnnl_primitive_create(&p->prim, p->pd);
  if (!err) err = dnnl_primitive_desc_query(p->pd, dnnl_query_impl_info_str, 0, (void *)&info);
  if (!err) strncpy(p->info, info, sizeof p->info - 1);
  return err;
}

// array is filled as the harness fills its own.
static float *array(int64_t n) {
  void *p = NULL;
  if (posix_memalign(&p, 4096, (size_t)n * sizeof(float))) return NULL;
  for (int64_t i = 0; i < n; i++) ((float *)p)[i] = (float)(i * 7919 % 1009) / 252.25f - 2.0f;
  return p;
}

// run executes p n times. A queue that grows without a limit slows a runtime that
// queues down.
static int run(struct peer *p, int64_t n) {
  int err = 0;
  for (int64_t i = 1; i <= n && !err; i++) {
    err = dnnl_primitive_execute(p->prim, p->stream, p->nargs, p->args);
    if (!err && (i == n || i % 16 == 0)) err = dnnl_stream_wait(p->stream);
  }
  return err;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { MOST = 256 };
static struct peer peers[MOST];
static int count;

static void answer_open(const char *name, int64_t rows, int64_t cols) {
  int op = 0;
  while (op < OPS && strcmp(names[op], name)) op++;
  if (op == OPS || count == MOST) {
    printf("no such operation\n");
    return;
  }
  int64_t n = rows * cols;
  float *x = array(n), *y = array(n), *a = array(n), *b = array(n);
  if (!x || !y || !a || !b) {
    printf("no memory\n");
    return;
  }
  int err = prepare(&peers[count], op, rows, cols, x, y, a, b);
  if (err)
    printf("no primitive: status %d\n", err);
  else
    printf("ok %d %s\n", count, peers[count].info), count++;
}

static void answer_run(int id, int64_t n) {
  if (id < 0 || id >= count) {
    printf("no such primitive\n");
    return;
  }
  double t = now();
  int err = run(&peers[id], n);
  t = now() - t;
  if (err)
    printf("no result: status %d\n", err);
  else
    printf("ok %.9f\n", t);
}

int main(int argc, char **argv) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
  if (sched_setaffinity(0, sizeof set, &set)) return 1;
  const dnnl_version_t *v = dnnl_version();
  printf("ok %d.%d.%d isa 0x%x\n", v->major, v->minor, v->patch, (unsigned)dnnl_get_effective_cpu_isa());
  fflush(stdout);
  char line[256], name[32];
  long long x, y;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "open %31s %lld %lld", name, &x, &y) == 3)
      answer_open(name, x, y);
    else if (sscanf(line, "run %lld %lld", &x, &y) == 2)
      answer_run((int)x, y);
    else
      printf("no such command\n");
    fflush(stdout);
  }
  return 0;
}
