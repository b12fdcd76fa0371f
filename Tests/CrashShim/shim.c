/* Stands before the calls through which a program changes files (LD_PRELOAD), for files below $SHIM_ROOT.
 *
 * SHIM_TRACE=FILE   records each call, in the order in which they were made, one behind the other:
 *                   kind (1), file (1), 6 bytes 0, offset (8), length (8), then the bytes of a write. A write to a descriptor with
 *                   O_DSYNC has a kind of its own: it is durable when it returns.
 * SHIM_WHOLE=1      records all files and folders with it, not the log's data file alone: byte 2 to 5 are the number of the path, which a record
 *                   of kind NAME tells; files that are made or emptied, folders that are made or removed, files that are renamed (the offset is
 *                   the number of the new path) or removed. Files that only mean something to processes that run are left out.
 * SHIM_FAIL=N SHIM_ERROR=E SHIM_KIND=K
 *                   makes call number N (from 1) of kind K (`write`, `sync` or `any`) fail with the errno E, and all after it too when
 *                   SHIM_STICKY is set; E of 0 makes a write short.
 * SHIM_SWITCH=FILE  makes all calls of kind K fail with the errno E for as long as the file is there.
 * SHIM_SHUT=END    lets no file be opened whose path ends so, as where a process may open no more files.
 * SHIM_EXIT=FILE    is written to when the process runs its exit handlers.
 * SHIM_COUNT=FILE   keeps there the number of calls of kind K.
 * The bytes that go to a file named `acks` are recorded too and never fail: marks of what was acknowledged. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, SYNC = 2, TRUNCATE = 3, ALLOCATE = 4, ACK = 5, WRITE_SYNCED = 6,
            NAME = 7, RENAME = 8, UNLINK = 9, MAKE = 10, MAKE_FOLDER = 11, REMOVE_FOLDER = 12 };
enum file { OTHER = 0, DATA = 1, ACKS = 2, REST = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root, *switch_path, *shut;
static size_t root_length;
static int trace = -1, count = -1, is_whole, wants_write, wants_sync, is_sticky, error_number;
static long fail_at, seen;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_fsync)(int), (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t), (*real_fallocate)(int, off_t, off_t);

/* Also called by a copy of a process that was started without orders. */
__attribute__((constructor)) void shim_begin(void) {
    real_write = REAL(write), real_pwrite = REAL(pwrite), real_writev = REAL(writev), real_pwritev = REAL(pwritev);
    real_fsync = REAL(fsync), real_fdatasync = REAL(fdatasync), real_ftruncate = REAL(ftruncate);
    real_fallocate = REAL(posix_fallocate);
    root = getenv("SHIM_ROOT");
    root_length = root ? strlen(root) : 0;
    const char *path = getenv("SHIM_TRACE"), *kind = getenv("SHIM_KIND"), *number = getenv("SHIM_ERROR"), *at = getenv("SHIM_FAIL");
    if (path) trace = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    is_whole = trace >= 0 && getenv("SHIM_WHOLE") != NULL;
    wants_write = !kind || strcmp(kind, "sync") != 0;
    wants_sync = !kind || strcmp(kind, "write") != 0;
    is_sticky = getenv("SHIM_STICKY") != NULL;
    error_number = number ? atoi(number) : 0;
    fail_at = at ? atol(at) : 0;
    const char *count_path = getenv("SHIM_COUNT");
    if (count_path) count = open(count_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    switch_path = getenv("SHIM_SWITCH");
    shut = getenv("SHIM_SHUT");
    unsetenv("LD_PRELOAD");  /* a program that this one starts, a sanitizer's symbolizer, would begin the trace again */
}

__attribute__((destructor)) static void note_exit(void) {
    const char *path = getenv("SHIM_EXIT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file >= 0 && real_write(file, "exit\n", 5) != 5) abort();
}

/* Each time, not at the end: a sanitizer ends the process in a way of its own. */
static void keep_count(void) {
    if (count < 0) return;
    char text[24];
    int length = snprintf(text, sizeof text, "%ld\n", seen);
    if (real_pwrite(count, text, length, 0) != length) abort();
}

static enum file file_of(int fd) {
    char link[64], path[4096];
    if (!root) return OTHER;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < (ssize_t)root_length || memcmp(path, root, root_length) != 0) return OTHER;
    path[length] = 0;
    const char *name = strrchr(path, '/');
    if (name && strcmp(name, "/acks") == 0) return ACKS;
    if (name && strcmp(name, "/data.mdb") == 0 && strstr(path, "/log/")) return DATA;
    return REST;
}

static void put(const void *bytes, size_t length) {
    const char *next = bytes;
    while (trace >= 0 && length > 0) {
        ssize_t count = real_write(trace, next, length);
        if (count <= 0) abort();
        next += count;
        length -= (size_t)count;
    }
}

static void note_path(enum kind kind, enum file file, uint32_t path, uint64_t offset, uint64_t length) {
    unsigned char head[24] = {(unsigned char)kind, (unsigned char)file};
    memcpy(head + 2, &path, 4);
    memcpy(head + 8, &offset, 8);
    memcpy(head + 16, &length, 8);
    put(head, sizeof head);
}

/* The number of a path below the root, from 1; 0 for others and for files that mean nothing to whoever comes later. Under the lock. */
static uint32_t number_of(const char *path) {
    static char *names[8192];
    static uint32_t count;
    size_t length = strlen(path);
    if (length < root_length || memcmp(path, root, root_length) != 0 || strcmp(path + root_length, "/acks") == 0) return 0;
    const char *name = strrchr(path, '/');
    if (strcmp(name, "/lock.mdb") == 0 || strcmp(name, "/LOCK") == 0 || strcmp(name, "/control.sock") == 0) return 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], path) == 0) return i + 1;
    if (count == sizeof names / sizeof *names) abort();
    names[count++] = strdup(path);
    note_path(NAME, REST, count, 0, length - root_length);
    put(path + root_length, length - root_length);
    return count;
}

static uint32_t number_of_fd(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!is_whole || length < 0) return 0;
    path[length] = 0;
    return number_of(path);
}

static void note_call(enum kind kind, const char *path, const char *to) {
    int error = errno;
    pthread_mutex_lock(&lock);
    uint32_t number = number_of(path), target = to ? number_of(to) : 0;
    if (number) note_path(kind, REST, number, target, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
}

/* Whether this call is the one that fails. */
static int fails(enum kind kind, enum file file) {
    if (file != DATA && file != REST) return 0;
    if (!(kind == SYNC ? wants_sync : wants_write)) return 0;
    seen++;
    keep_count();
    if (switch_path && access(switch_path, F_OK) == 0) return 1;
    return fail_at > 0 && (seen == fail_at || (is_sticky && seen > fail_at));
}

static ssize_t write_at(int fd, const struct iovec *parts, int count, off_t offset, int is_placed) {
    enum file file = file_of(fd);
    if (file == OTHER) return is_placed ? real_pwritev(fd, parts, count, offset) : real_writev(fd, parts, count);
    pthread_mutex_lock(&lock);
    off_t place = is_placed ? offset : lseek(fd, 0, SEEK_CUR);
    ssize_t result;
    if (fails(WRITE, file)) {
        if (error_number) {
            result = -1;
            errno = error_number;
        } else {
            size_t half = parts[0].iov_len / 2;
            result = half == 0 ? 0 : is_placed ? real_pwrite(fd, parts[0].iov_base, half, offset) : real_write(fd, parts[0].iov_base, half);
        }
    } else {
        result = is_placed ? real_pwritev(fd, parts, count, offset) : real_writev(fd, parts, count);
    }
    int error = errno;
    uint32_t number = number_of_fd(fd);
    if (result > 0 && (file == DATA || file == ACKS || number)) {
        int is_synced = (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
        note_path(file == ACKS ? ACK : is_synced ? WRITE_SYNCED : WRITE, file, number, (uint64_t)place, (uint64_t)result);
        size_t left = (size_t)result;
        for (int part = 0; part < count && left > 0; part++) {
            size_t length = parts[part].iov_len < left ? parts[part].iov_len : left;
            put(parts[part].iov_base, length);
            left -= length;
        }
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (!real_write) shim_begin();
    if (!root || file_of(fd) == OTHER) return real_write(fd, bytes, length);
    struct iovec part = {(void *)bytes, length};
    return write_at(fd, &part, 1, 0, 0);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    if (!root) return real_pwrite(fd, bytes, length, offset);
    struct iovec part = {(void *)bytes, length};
    return write_at(fd, &part, 1, offset, 1);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) { return pwrite(fd, bytes, length, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!root || file_of(fd) == OTHER) return real_writev(fd, parts, count);
    return write_at(fd, parts, count, 0, 0);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return root ? write_at(fd, parts, count, offset, 1) : real_pwritev(fd, parts, count, offset);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) { return pwritev(fd, parts, count, offset); }

static int synced(int fd, int (*call)(int)) {
    enum file file = file_of(fd);
    if (file == OTHER) return call(fd);
    pthread_mutex_lock(&lock);
    int result;
    if (fails(SYNC, file)) {
        result = -1;
        errno = error_number ? error_number : EIO;
    } else {
        result = call(fd);
    }
    int error = errno;
    uint32_t number = number_of_fd(fd);
    if (result == 0 && (file == DATA || number)) note_path(SYNC, file, number, 0, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

int ftruncate(int fd, off_t length) {
    enum file file = file_of(fd);
    if (file == OTHER) return real_ftruncate(fd, length);
    pthread_mutex_lock(&lock);
    int result = -1;
    if (fails(TRUNCATE, file)) errno = error_number ? error_number : EIO;
    else result = real_ftruncate(fd, length);
    int error = errno;
    uint32_t number = number_of_fd(fd);
    if (result == 0 && (file == DATA || number)) note_path(TRUNCATE, file, number, 0, (uint64_t)length);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int posix_fallocate(int fd, off_t offset, off_t length) {
    enum file file = file_of(fd);
    if (file == OTHER) return real_fallocate(fd, offset, length);
    pthread_mutex_lock(&lock);
    int result = fails(ALLOCATE, file) ? (error_number ? error_number : EIO) : real_fallocate(fd, offset, length);
    uint32_t number = number_of_fd(fd);
    if (result == 0 && (file == DATA || number)) note_path(ALLOCATE, file, number, (uint64_t)offset, (uint64_t)length);
    pthread_mutex_unlock(&lock);
    return result;
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }

/* Names. */

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    static int (*real_open)(const char *, int, ...);
    if (!real_open) real_open = REAL(open);
    size_t length = strlen(path), shut_length = shut ? strlen(shut) : 0;
    if (shut && length >= shut_length && strcmp(path + length - shut_length, shut) == 0) {
        errno = EMFILE;
        return -1;
    }
    int is_new = is_whole && (flags & O_CREAT) && access(path, F_OK) != 0;
    int fd = real_open(path, flags, mode);
    if (is_whole && fd >= 0 && is_new) note_call(MAKE, path, NULL);
    if (is_whole && fd >= 0 && !is_new && (flags & O_TRUNC)) note_call(TRUNCATE, path, NULL);
    return fd;
}
int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return open(path, flags, mode);
}

/* The path of a name in an opened folder. */
static const char *path_at(int folder, const char *name, char *path, size_t size) {
    if (folder == AT_FDCWD || *name == '/') return name;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0 || (size_t)length + strlen(name) + 2 > size) return name;
    path[length] = '/';
    strcpy(path + length + 1, name);
    return path;
}

int openat(int folder, const char *name, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    static int (*real_openat)(int, const char *, int, ...);
    if (!real_openat) real_openat = REAL(openat);
    if (!shut && !is_whole) return real_openat(folder, name, flags, mode);
    char room[4096];
    const char *path = path_at(folder, name, room, sizeof room);
    size_t length = strlen(path), shut_length = shut ? strlen(shut) : 0;
    if (shut && !(flags & O_PATH) && length >= shut_length && strcmp(path + length - shut_length, shut) == 0) {
        errno = EMFILE;
        return -1;
    }
    int is_new = is_whole && (flags & O_CREAT) && access(path, F_OK) != 0;
    int fd = real_openat(folder, name, flags, mode);
    if (is_whole && fd >= 0 && is_new) note_call(MAKE, path, NULL);
    if (is_whole && fd >= 0 && !is_new && (flags & O_TRUNC)) note_call(TRUNCATE, path, NULL);
    return fd;
}
int openat64(int folder, const char *name, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return openat(folder, name, flags, mode);
}

int renameat(int folder, const char *from, int other, const char *to) {
    char room[4096], space[4096];
    int result = REAL(renameat)(folder, from, other, to);
    if (is_whole && result == 0)
        note_call(RENAME, path_at(folder, from, room, sizeof room), path_at(other, to, space, sizeof space));
    return result;
}

int unlinkat(int folder, const char *name, int flags) {
    char room[4096];
    int result = REAL(unlinkat)(folder, name, flags);
    if (is_whole && result == 0)
        note_call(flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, path_at(folder, name, room, sizeof room), NULL);
    return result;
}

int mkdirat(int folder, const char *name, mode_t mode) {
    char room[4096];
    int result = REAL(mkdirat)(folder, name, mode);
    if (is_whole && result == 0) note_call(MAKE_FOLDER, path_at(folder, name, room, sizeof room), NULL);
    return result;
}

int rename(const char *from, const char *to) {
    int result = REAL(rename)(from, to);
    if (is_whole && result == 0) note_call(RENAME, from, to);
    return result;
}

int unlink(const char *path) {
    int result = REAL(unlink)(path);
    if (is_whole && result == 0) note_call(UNLINK, path, NULL);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    int result = REAL(mkdir)(path, mode);
    if (is_whole && result == 0) note_call(MAKE_FOLDER, path, NULL);
    return result;
}

int rmdir(const char *path) {
    int result = REAL(rmdir)(path);
    if (is_whole && result == 0) note_call(REMOVE_FOLDER, path, NULL);
    return result;
}
