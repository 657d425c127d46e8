/* Calls compiled functions for a test that runs on another kind of machine.
 *
 * It reads requests from standard input and answers on standard output, both in
 * the byte order of the machine:
 *
 *   'o' path             open a library       -> i64: its number, or -1
 *   'x' i64              close one            -> nothing
 *   'v'                  vector length        -> i64: bytes of an SVE vector, or -1
 *   'c' i64 name i64     call a function with that many arguments, each
 *       's' i64 bytes                            a scalar of that size
 *       't' i64 rank, shape, i64 strided, strides, i64 size, i64 first, i64 end, bytes
 *                        -> i32 returned, code, arg, dim; then the memory of
 *                           each tensor
 *
 * path and name are an i64 length and that many bytes. A tensor lies in memory
 * of its size between two pages that cannot be touched, at its end or at its
 * beginning; element 0 is at byte `first`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct { void *data; const int64_t *shape, *strides; } tenon_tensor;
typedef struct { int32_t code, arg, dim; } tenon_error;

enum { MAX_LIBS = 1 << 16, MAX_ARGS = 64, MAX_RANK = 16 };

static void *libs[MAX_LIBS];
static int64_t lib_count;

static void fail(const char *what) { fprintf(stderr, "harness: %s\n", what); exit(3); }

static void get(void *to, size_t n) {
    if (n > 0 && fread(to, 1, n, stdin) != n) fail("a request ends early");
}

static void put(const void *from, size_t n) {
    if (n > 0 && fwrite(from, 1, n, stdout) != n) fail("nobody reads the answers");
}

static int64_t get_int(void) { int64_t n; get(&n, sizeof n); return n; }
static void put_int(int64_t n) { put(&n, sizeof n); }

static char *get_text(void) {
    static char text[4096];
    int64_t n = get_int();
    if (n < 0 || n >= (int64_t)sizeof text) fail("a name is too long");
    get(text, n);
    text[n] = 0;
    return text;
}

/* One tensor of a call. */
typedef struct {
    int64_t shape[MAX_RANK], strides[MAX_RANK];
    char *mapping, *room;
    size_t mapped, size;
} tensor;

/* read_tensor maps the memory, fills it, and describes it in *t. */
static void read_tensor(tensor *x, tenon_tensor *t) {
    size_t page = sysconf(_SC_PAGESIZE);
    int64_t rank = get_int();
    if (rank < 0 || rank > MAX_RANK) fail("too many dims");
    get(x->shape, rank * sizeof(int64_t));
    int64_t strided = get_int();
    get(x->strides, rank * sizeof(int64_t));
    x->size = get_int();
    int64_t first = get_int(), at_end = get_int();
    size_t whole = (x->size + page - 1) / page * page;
    x->mapped = whole + 2 * page;
    x->mapping = mmap(NULL, x->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x->mapping == MAP_FAILED) fail("no memory");
    x->room = x->mapping + page + (at_end ? whole - x->size : 0);
    get(x->room, x->size);
    if (mprotect(x->mapping, page, PROT_NONE) || mprotect(x->mapping + page + whole, page, PROT_NONE))
        fail("no guard pages");
    t->data = x->room + first;
    t->shape = x->shape;
    t->strides = strided ? x->strides : NULL;
}

/* call_function lays the arguments out as C does: each at a multiple of its
 * own alignment. */
static void call_function(void) {
    static tensor tensors[MAX_ARGS];
    static union { int64_t words[8 * MAX_ARGS]; char bytes[1]; } block;
    int64_t lib = get_int();
    int (*fn)(const void *, tenon_error *);
    *(void **)&fn = lib >= 0 && lib < lib_count ? dlsym(libs[lib], get_text()) : NULL;
    if (!fn) fail("no such function");
    int64_t n = get_int(), used = 0;
    size_t at = 0;
    if (n < 0 || n > MAX_ARGS) fail("too many arguments");
    while (n-- > 0) {
        if (getchar() == 's') {
            size_t size = get_int();
            at = (at + size - 1) / size * size;
            get(block.bytes + at, size);
            at += size;
            continue;
        }
        at = (at + 7) / 8 * 8;
        read_tensor(&tensors[used++], (tenon_tensor *)(block.bytes + at));
        at += sizeof(tenon_tensor);
    }
    tenon_error error = { -1, -1, -1 };
    int32_t code = fn(block.bytes, &error);
    put(&code, sizeof code);
    put(&error, sizeof error);
    for (int64_t i = 0; i < used; i++) {
        put(tensors[i].room, tensors[i].size);
        munmap(tensors[i].mapping, tensors[i].mapped);
    }
}

int main(void) {
    for (int kind; (kind = getchar()) != EOF; fflush(stdout)) {
        switch (kind) {
        case 'o':
            if (lib_count == MAX_LIBS) fail("too many libraries");
            libs[lib_count] = dlopen(get_text(), RTLD_NOW | RTLD_LOCAL);
            if (!libs[lib_count]) fprintf(stderr, "harness: %s\n", dlerror());
            put_int(libs[lib_count] ? lib_count++ : -1);
            break;
        case 'x': {
            int64_t lib = get_int();
            if (lib < 0 || lib >= lib_count || dlclose(libs[lib])) fail("no such library");
            break;
        }
        case 'v': {
            int vl = prctl(51 /* PR_SVE_GET_VL */);
            put_int(vl < 0 ? -1 : vl & 0xffff);
            break;
        }
        case 'c':
            call_function();
            break;
        default:
            fail("no such request");
        }
    }
    return 0;
}
