#include <time.h>

/* Tests wait for programs, signals and other threads, as the code that they test may not, and Swift has as many threads as the machine has cores: on two
 * cores, two waiting tests keep all others waiting, for ever if they wait for one of those. In the process of the tests, each job that can run gets a
 * thread (of libdispatch's overcommitting queue, which has at most 255). */
typedef struct dispatch_queue_s *queue;
typedef struct { void *identity; unsigned long implementation; } executor;
#define SWIFT __attribute__((swiftcall))

extern queue dispatch_get_global_queue(long, unsigned long);
extern void dispatch_async_f(queue, void *, void (*)(void *));
extern void dispatch_after_f(unsigned long long, queue, void *, void (*)(void *));
extern unsigned long long dispatch_time(unsigned long long, long long);
extern SWIFT void swift_job_run(void *, executor);
extern SWIFT void (*swift_task_enqueueGlobal_hook)(void *, void *);
extern SWIFT void (*swift_task_enqueueGlobalWithDelay_hook)(unsigned long long, void *, void *);
extern SWIFT void (*swift_task_enqueueGlobalWithDeadline_hook)(long long, long long, long long, long long, int, void *, void *);

static queue overcommitting(void) { return dispatch_get_global_queue(0, 2); }

static void run(void *job) { swift_job_run(job, (executor){0, 0}); }

static SWIFT void enqueue(void *job, void *original) { dispatch_async_f(overcommitting(), job, run); }

static void enqueue_after(long long nanoseconds, void *job) {
    dispatch_after_f(dispatch_time(0, nanoseconds < 0 ? 0 : nanoseconds), overcommitting(), job, run);
}

static SWIFT void enqueue_with_delay(unsigned long long nanoseconds, void *job, void *original) {
    enqueue_after(nanoseconds < 1ull << 62 ? (long long)nanoseconds : 1ll << 62, job);
}

static SWIFT void enqueue_with_deadline(
    long long seconds, long long nanoseconds, long long leeway, long long leeway_nanoseconds, int clock, void *job, void *original) {
    struct timespec now;
    clock_gettime(clock == 2 ? CLOCK_MONOTONIC : CLOCK_BOOTTIME, &now); /* Swift's suspending and continuous clocks */
    long long left = seconds - now.tv_sec;
    enqueue_after(left > 1ll << 32 ? 1ll << 62 : left * 1000000000 + nanoseconds - now.tv_nsec, job);
}

__attribute__((constructor)) static void give_each_job_a_thread(void) {
    swift_task_enqueueGlobal_hook = enqueue;
    swift_task_enqueueGlobalWithDelay_hook = enqueue_with_delay;
    swift_task_enqueueGlobalWithDeadline_hook = enqueue_with_deadline;
}
