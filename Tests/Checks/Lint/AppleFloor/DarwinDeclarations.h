// What the sources shared with Apple platforms use of Darwin's C headers, with Darwin's types (`mode_t` has 16 bits there, a
// `stat` other field names), for the floor check on Linux. Add what a new call needs, as Apple's header declares it, with
// the version that introduced it if that is newer than iOS 15: __attribute__((availability(ios, introduced=16.0))).
// The targets are 64-bit, so `long` and `size_t` have 64 bits.
#pragma once
#include <stddef.h>
#include <stdint.h>

// sys/types.h, time.h
typedef long ssize_t;
typedef int64_t off_t;
typedef int32_t dev_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int32_t pid_t;
typedef long time_t;
typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6 } clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
time_t time(time_t *);
int clock_gettime(clockid_t, struct timespec *);
int nanosleep(const struct timespec *, struct timespec *);

// sys/stat.h
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    nlink_t st_nlink;
    uint64_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    off_t st_size;
    int64_t st_blocks;
    int32_t st_blksize;
    uint32_t st_flags, st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int fstat(int, struct stat *);
int fstatat(int, const char *, struct stat *, int);
int chmod(const char *, mode_t);
int fchmod(int, mode_t);
int mkdir(const char *, mode_t);
mode_t umask(mode_t);

// fcntl.h, sys/file.h
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_NOFOLLOW 0x0100
#define O_NOCTTY 0x20000
#define O_CREAT 0x0200
#define O_EXCL 0x0800
#define O_DIRECTORY 0x100000
#define O_CLOEXEC 0x1000000
#define AT_FDCWD (-2)
#define AT_SYMLINK_NOFOLLOW 0x0020
#define F_GETFD 1
#define F_SETFD 2
#define FD_CLOEXEC 1
#define LOCK_EX 2
#define LOCK_NB 4
int flock(int, int);

// unistd.h, stdio.h
#define SEEK_SET 0
#define SEEK_CUR 1
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
off_t lseek(int, off_t, int);
int close(int);
int fsync(int);
int ftruncate(int, off_t);
int link(const char *, const char *);
int linkat(int, const char *, int, const char *, int);
int rename(const char *, const char *);
int renameat(int, const char *, int, const char *);
int rmdir(const char *);
int unlink(const char *);
int unlinkat(int, const char *, int);
uid_t geteuid(void);
pid_t getpid(void);
int isatty(int);
int symlink(const char *, const char *);
#define W_OK 2
int access(const char *, int);
int pipe(int[2]);
int execv(const char *, char *const *);
int execvp(const char *, char *const *);
char ***_NSGetEnviron(void);
#define _SC_NPROCESSORS_ONLN 58
long sysconf(int);

// dirent.h
typedef struct _DIR DIR;
struct dirent {
    uint64_t d_ino, d_seekoff;
    uint16_t d_reclen, d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
DIR *opendir(const char *);
struct dirent *readdir(DIR *);
int closedir(DIR *);

// stdlib.h, string.h
char *getenv(const char *);
char *realpath(const char *, char *);
void *malloc(size_t);
void free(void *);
char *strdup(const char *);
char *mkdtemp(char *);
_Noreturn void exit(int);
void *memchr(const void *, int, size_t);
void *memcpy(void *, const void *, size_t);
size_t strlen(const char *);
char *strerror(int);

// errno.h
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EEXIST 17
#define ENOTDIR 20
#define EINVAL 22
#define EMFILE 24
#define ENOSPC 28
#define EPIPE 32
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define ENFILE 23
#define EADDRINUSE 48
#define ECONNABORTED 53
#define ECONNREFUSED 61
#define ENAMETOOLONG 63
#define EDQUOT 69
#define ENOSYS 78
#define EOPNOTSUPP 102

// pthread.h
typedef struct { long __sig; char __opaque[56]; } pthread_mutex_t;
typedef struct { long __sig; char __opaque[8]; } pthread_mutexattr_t;
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
typedef struct { long __sig; char __opaque[56]; } pthread_attr_t;
typedef struct _opaque_pthread_t *pthread_t;
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *_Nonnull), void *_Nullable);
int pthread_detach(pthread_t _Nonnull);
typedef struct { long __sig; char __opaque[40]; } pthread_cond_t;
typedef struct { long __sig; char __opaque[8]; } pthread_condattr_t;
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *);
int pthread_cond_destroy(pthread_cond_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_cond_timedwait_relative_np(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int pthread_cond_broadcast(pthread_cond_t *);

// signal.h, sys/wait.h
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGKILL 9
#define WNOHANG 1
#define SIGPIPE 13
#define SIGTERM 15
#define SIGTSTP 18
#define SIGXFSZ 25
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
typedef uint32_t sigset_t;
typedef void (*sig_t)(int);
struct __siginfo;
union __sigaction_u { void (*__sa_handler)(int); void (*__sa_sigaction)(int, struct __siginfo *, void *); };
struct sigaction { union __sigaction_u __sigaction_u; sigset_t sa_mask; int sa_flags; };
sig_t signal(int, sig_t);
int sigaction(int, const struct sigaction *, struct sigaction *);
int sigemptyset(sigset_t *);
int sigaddset(sigset_t *, int);
int sigismember(const sigset_t *, int);
int sigpending(sigset_t *);
int sigwait(const sigset_t *, int *);
int pthread_sigmask(int, const sigset_t *, sigset_t *);
int kill(pid_t, int);
pid_t waitpid(pid_t, int *, int);

// spawn.h
typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
#define POSIX_SPAWN_SETSIGDEF 0x0004
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *);
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *, int, int);
int posix_spawnattr_init(posix_spawnattr_t *);
int posix_spawnattr_destroy(posix_spawnattr_t *);
int posix_spawnattr_setsigdefault(posix_spawnattr_t *, const sigset_t *);
int posix_spawnattr_setflags(posix_spawnattr_t *, short);
int posix_spawnp(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *);

// poll.h, sys/socket.h, sys/un.h
typedef unsigned int nfds_t;
struct pollfd { int fd; short events, revents; };
#define POLLIN 0x0001
#define POLLOUT 0x0004
int poll(struct pollfd *, nfds_t, int);
typedef uint8_t sa_family_t;
typedef uint32_t socklen_t;
struct sockaddr { uint8_t sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_un { unsigned char sun_len; sa_family_t sun_family; char sun_path[104]; };
#define AF_UNIX 1
#define SOCK_STREAM 1
int socket(int, int, int);
int connect(int, const struct sockaddr *, socklen_t);
int bind(int, const struct sockaddr *, socklen_t);
int listen(int, int);
int accept(int, struct sockaddr *, socklen_t *);
ssize_t send(int, const void *, size_t, int);

// sys/resource.h, termios.h
typedef uint64_t rlim_t;
struct rlimit { rlim_t rlim_cur, rlim_max; };
#define RLIMIT_CORE 4
#define RLIMIT_MEMLOCK 6
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);
typedef unsigned long tcflag_t;
typedef unsigned char cc_t;
typedef unsigned long speed_t;
struct termios { tcflag_t c_iflag, c_oflag, c_cflag, c_lflag; cc_t c_cc[20]; speed_t c_ispeed, c_ospeed; };
#define ECHO 0x00000008
#define ISIG 0x00000080
#define ECHONL 0x00000010
#define ICANON 0x00000100
#define TCSAFLUSH 2
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
