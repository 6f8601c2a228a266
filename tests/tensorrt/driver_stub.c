/* A CUDA driver over host memory, for tests on machines without a GPU.
 *
 * Work given to a stream waits until somebody synchronises with it, as on a
 * GPU, so that a missing synchronise or a buffer freed too early shows. Every
 * allocation is counted, memory is bounded, and any call can be made to fail or to
 * hang until it is let go.
 * Functions and codes: the CUDA driver API's public documentation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201 };
enum { MAX_BLOCKS = 4096, MAX_WORK = 4096, MAX_CONTEXTS = 64 };

typedef unsigned long long Address;
typedef void (*Callback)(void *);

struct block { char *begin; size_t size; int pinned; };
struct work { void *stream; void *to; const void *from; size_t size; Callback run; void *argument; };

static struct block blocks[MAX_BLOCKS];
static struct work queue[MAX_WORK];
static int queued, initialized, depth, retained;
static void *contexts[MAX_CONTEXTS];
static char primary;
static size_t memory_bytes = (size_t)8 << 30, used_bytes;
static long live_device, live_host, live_streams, live_events, allocations, pageable_copies;
static char failing[64];
static int fail_after, fail_code;
static char hanging[64];
static volatile int hangs, in_hang;

/* For the tests. */
long stub_count(const char *what) {
    if (!strcmp(what, "device")) return live_device;
    if (!strcmp(what, "host")) return live_host;
    if (!strcmp(what, "streams")) return live_streams;
    if (!strcmp(what, "events")) return live_events;
    if (!strcmp(what, "allocations")) return allocations;
    if (!strcmp(what, "pageable copies")) return pageable_copies;
    if (!strcmp(what, "waiting")) return queued;
    if (!strcmp(what, "pushed")) return depth;
    if (!strcmp(what, "retained")) return retained;
    if (!strcmp(what, "hanging")) return in_hang;
    return -1;
}
void stub_memory(size_t bytes) { memory_bytes = bytes; }
void stub_fail(const char *function, int after_calls, int code) {
    snprintf(failing, sizeof failing, "%s", function);
    fail_after = after_calls;
    fail_code = code;
}
/* The next call of a function does not return before stub_let_go. */
void stub_hang(const char *function) {
    snprintf(hanging, sizeof hanging, "%s", function);
    hangs = 1;
}
void stub_let_go(void) { hangs = 0; }
/* What a real engine does with a kernel: run in the stream's turn. */
int stub_enqueue(void *stream, Callback run, void *argument) {
    if (queued == MAX_WORK) return OUT_OF_MEMORY;
    queue[queued++] = (struct work){.stream = stream, .run = run, .argument = argument};
    return OK;
}

static int injected(const char *function) {
    if (hangs && !strcmp(hanging, function)) {
        in_hang = 1;
        while (hangs) usleep(1000);
        in_hang = 0;
    }
    if (strcmp(failing, function)) return OK;
    if (fail_after-- > 0) return OK;
    failing[0] = 0;
    return fail_code;
}
#define ENTER(function) \
    do { \
        int code = injected(function); \
        if (code) return code; \
        if (!initialized) return NOT_INITIALIZED; \
    } while (0)
#define ENTER_CONTEXT(function) \
    do { \
        ENTER(function); \
        if (!depth) return INVALID_CONTEXT; \
    } while (0)

static struct block *find(const void *address, size_t size, int pinned) {
    const char *begin = address;
    for (int i = 0; i < MAX_BLOCKS; i++)
        if (blocks[i].begin && blocks[i].pinned == pinned && begin >= blocks[i].begin &&
            begin + size <= blocks[i].begin + blocks[i].size)
            return &blocks[i];
    return NULL;
}
static int allocate(void **address, size_t size, int pinned) {
    if (!size) return INVALID_VALUE;
    if (!pinned && used_bytes + size > memory_bytes) return OUT_OF_MEMORY;
    for (int i = 0; i < MAX_BLOCKS; i++) {
        if (blocks[i].begin) continue;
        char *begin = aligned_alloc(256, (size + 255) / 256 * 256);
        if (!begin) return OUT_OF_MEMORY;
        memset(begin, 0xAB, size); /* fresh memory holds no zeros */
        blocks[i] = (struct block){begin, size, pinned};
        *address = begin;
        allocations++;
        if (pinned) live_host++;
        else { live_device++; used_bytes += size; }
        return OK;
    }
    return OUT_OF_MEMORY;
}
static int release(void *address, int pinned) {
    for (int i = 0; i < MAX_BLOCKS; i++) {
        if (blocks[i].begin != address || blocks[i].pinned != pinned) continue;
        if (pinned) live_host--;
        else { live_device--; used_bytes -= blocks[i].size; }
        free(blocks[i].begin);
        blocks[i].begin = NULL;
        return OK;
    }
    return INVALID_VALUE;
}
static void drain(void *stream, int all) {
    int kept = 0, count = queued;
    struct work *copy = malloc(sizeof queue);
    memcpy(copy, queue, sizeof queue);
    queued = 0;
    for (int i = 0; i < count; i++) {
        if (!all && copy[i].stream != stream) { queue[kept++] = copy[i]; continue; }
        if (copy[i].run) copy[i].run(copy[i].argument);
        else memcpy(copy[i].to, copy[i].from, copy[i].size);
    }
    queued = kept;
    free(copy);
}
static int copy_later(void *stream, void *to, const void *from, size_t size) {
    if (queued == MAX_WORK) return OUT_OF_MEMORY;
    queue[queued++] = (struct work){.stream = stream, .to = to, .from = from, .size = size};
    return OK;
}

int cuInit(unsigned flags) { int code = injected("cuInit"); if (code) return code; initialized = 1; return OK; }
int cuDriverGetVersion(int *version) { *version = 12060; return OK; }
int cuDeviceGetCount(int *count) { ENTER("cuDeviceGetCount"); *count = 1; return OK; }
int cuDeviceGet(int *device, int ordinal) { ENTER("cuDeviceGet"); *device = 0; return ordinal ? 101 : OK; }
int cuDeviceGetName(char *name, int size, int device) { ENTER("cuDeviceGetName"); snprintf(name, size, "Orin (host memory)"); return OK; }
int cuDeviceComputeCapability(int *major, int *minor, int device) { *major = 8; *minor = 7; return OK; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = attribute == 75 ? 8 : attribute == 76 ? 7 : 1; return OK; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = memory_bytes; return OK; }
int cuMemGetInfo_v2(size_t *available, size_t *total) { ENTER_CONTEXT("cuMemGetInfo"); *available = memory_bytes - used_bytes; *total = memory_bytes; return OK; }

int cuDevicePrimaryCtxRetain(void **context, int device) { ENTER("cuDevicePrimaryCtxRetain"); *context = &primary; retained++; return OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { retained--; return OK; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) { ENTER("cuCtxCreate"); *context = malloc(8); contexts[depth++] = *context; return OK; }
int cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int device) { return cuCtxCreate_v2(context, flags, device); }
int cuCtxDestroy_v2(void *context) { if (depth && contexts[depth - 1] == context) depth--; if (context != &primary) free(context); return OK; }
int cuCtxDetach(void *context) { return context == &primary ? OK : cuCtxDestroy_v2(context); }
int cuCtxPushCurrent_v2(void *context) { ENTER("cuCtxPushCurrent"); if (depth == MAX_CONTEXTS) return INVALID_VALUE; contexts[depth++] = context; return OK; }
int cuCtxPopCurrent_v2(void **context) { if (!depth) return INVALID_CONTEXT; depth--; if (context) *context = contexts[depth]; return OK; }
int cuCtxGetCurrent(void **context) { *context = depth ? contexts[depth - 1] : NULL; return OK; }
int cuCtxSetCurrent(void *context) { if (depth) contexts[depth - 1] = context; else contexts[depth++] = context; return OK; }
int cuCtxGetDevice(int *device) { ENTER_CONTEXT("cuCtxGetDevice"); *device = 0; return OK; }
int cuCtxGetApiVersion(void *context, unsigned *version) { *version = 3020; return OK; }
int cuCtxSynchronize(void) { ENTER_CONTEXT("cuCtxSynchronize"); drain(NULL, 1); return OK; }

int cuMemAlloc_v2(Address *address, size_t size) { ENTER_CONTEXT("cuMemAlloc"); return allocate((void **)address, size, 0); }
int cuMemFree_v2(Address address) { ENTER_CONTEXT("cuMemFree"); return release((void *)address, 0); }
int cuMemHostAlloc(void **address, size_t size, unsigned flags) { ENTER_CONTEXT("cuMemHostAlloc"); return allocate(address, size, 1); }
int cuMemAllocHost_v2(void **address, size_t size) { return cuMemHostAlloc(address, size, 0); }
int cuMemFreeHost(void *address) { ENTER_CONTEXT("cuMemFreeHost"); return release(address, 1); }
int cuMemHostGetDevicePointer_v2(Address *device, void *host, unsigned flags) { *device = (Address)host; return OK; }
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t size, void *stream) {
    ENTER_CONTEXT("cuMemcpyHtoDAsync");
    if (!find((void *)to, size, 0)) return INVALID_VALUE;
    if (!find(from, size, 1)) pageable_copies++;
    return copy_later(stream, (void *)to, from, size);
}
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t size, void *stream) {
    ENTER_CONTEXT("cuMemcpyDtoHAsync");
    if (!find((void *)from, size, 0)) return INVALID_VALUE;
    if (!find(to, size, 1)) pageable_copies++;
    return copy_later(stream, to, (void *)from, size);
}
int cuMemcpyHtoD_v2(Address to, const void *from, size_t size) { ENTER_CONTEXT("cuMemcpyHtoD"); if (!find((void *)to, size, 0)) return INVALID_VALUE; memcpy((void *)to, from, size); return OK; }
int cuMemcpyDtoH_v2(void *to, Address from, size_t size) { ENTER_CONTEXT("cuMemcpyDtoH"); if (!find((void *)from, size, 0)) return INVALID_VALUE; memcpy(to, (void *)from, size); return OK; }

int cuStreamCreate(void **stream, unsigned flags) { ENTER_CONTEXT("cuStreamCreate"); *stream = malloc(8); live_streams++; return OK; }
int cuStreamDestroy_v2(void *stream) { ENTER_CONTEXT("cuStreamDestroy"); drain(stream, 0); free(stream); live_streams--; return OK; }
int cuStreamSynchronize(void *stream) { ENTER_CONTEXT("cuStreamSynchronize"); drain(stream, 0); return OK; }
int cuStreamQuery(void *stream) { for (int i = 0; i < queued; i++) if (queue[i].stream == stream) return 600; return OK; }
int cuEventCreate(void **event, unsigned flags) { ENTER_CONTEXT("cuEventCreate"); *event = malloc(8); live_events++; return OK; }
int cuEventDestroy_v2(void *event) { free(event); live_events--; return OK; }
int cuEventRecord(void *event, void *stream) { return OK; }
int cuEventSynchronize(void *event) { drain(NULL, 1); return OK; }
int cuEventElapsedTime_v2(float *milliseconds, void *begin, void *end) { *milliseconds = 0.1f; return OK; }

int cuGetErrorString(int code, const char **text) {
    *text = code == OUT_OF_MEMORY     ? "out of memory"
            : code == INVALID_VALUE   ? "invalid argument"
            : code == NOT_INITIALIZED ? "initialization error"
            : code == INVALID_CONTEXT ? "invalid device context"
            : code == 700             ? "an illegal memory access was encountered"
                                      : "operation not supported";
    return OK;
}
int cuGetErrorName(int code, const char **name) { return cuGetErrorString(code, name); }
