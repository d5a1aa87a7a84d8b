/*
 * Preloaded into a gateway or a store, it moves that process' real-time clock, and its children's, by what a mapped
 * file says: one signed 64-bit number, in milliseconds. Monotonic clocks stay as they are, as when a real clock is set.
 * libfaketime does not do: it allocates before jemalloc, Redis' allocator, is ready.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_ms;

/* At load, not at first use: Redis and PostgreSQL write their titles over the environment. */
__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("POSTERN_TEST_CLOCK");
  if (path == NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *offset_ms, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) offset_ms = mapped;
}

static void move(struct timespec *at) {
  int64_t by = offset_ms == NULL ? 0 : *offset_ms;
  int64_t nanoseconds = at->tv_nsec + by % 1000 * 1000000;
  at->tv_sec += by / 1000;
  if (nanoseconds < 0) {
    nanoseconds += 1000000000;
    at->tv_sec--;
  } else if (nanoseconds >= 1000000000) {
    nanoseconds -= 1000000000;
    at->tv_sec++;
  }
  at->tv_nsec = nanoseconds;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int failed = (int)syscall(SYS_clock_gettime, clock, at);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) move(at);
  return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}
