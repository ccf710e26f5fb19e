# 1 "preprocessed.c"
# 1 "<built-in>"
# 1 "<command-line>"
# 1 "/usr/include/stdc-predef.h" 1 3 4
# 0 "<command-line>" 2
# 1 "preprocessed.c"
//@ expect checks: proved
# 1 "/usr/include/pthread.h" 1 3 4
# 28 "/usr/include/pthread.h" 3 4
typedef unsigned long int pthread_t;
typedef union {
  char __size[56];
  long int __align;
} pthread_attr_t;
typedef union {
  struct __pthread_mutex_s {
    int __lock;
    unsigned int __count;
    int __owner;
  } __data;
  char __size[40];
  long int __align;
} pthread_mutex_t;
typedef union {
  char __size[4];
  int __align;
} pthread_mutexattr_t;
extern int pthread_create (pthread_t *__restrict __newthread,
      const pthread_attr_t *__restrict __attr,
      void *(*__start_routine) (void *),
      void *__restrict __arg) __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1, 3)));
extern int pthread_join (pthread_t __th, void **__thread_return);
extern int pthread_mutex_init (pthread_mutex_t *__mutex,
          const pthread_mutexattr_t *__mutexattr)
     __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__nonnull__ (1)));
extern int pthread_mutex_lock (pthread_mutex_t *__mutex)
     __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1)));
extern int pthread_mutex_unlock (pthread_mutex_t *__mutex)
     __attribute__ ((__nothrow__)) __attribute__ ((__nonnull__ (1)));
static __inline __attribute__ ((__always_inline__)) double __unused_here (double __x) { return __x; }
# 3 "preprocessed.c" 2
extern void abort (void) __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__noreturn__));
extern void __assert_fail (const char *__assertion, const char *__file, unsigned int __line, const char *__function)
     __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__noreturn__));
void reach_error() { ((void) sizeof ((0) ? 1 : 0), __extension__ ({ if (0) ; else __assert_fail ("0", "preprocessed.c", 3, __extension__ __PRETTY_FUNCTION__); })); }

pthread_mutex_t m = { { 0, 0, 0 } };
int x = 0;

void *thr(void *arg) {
  pthread_mutex_lock(&m);
  x = x + 1;
  pthread_mutex_unlock(&m);
  return ((void *)0);
}

int main() {
  pthread_t a, b;
  pthread_mutex_init(&m, 0);
  pthread_create(&a, ((void *)0), thr, ((void *)0));
  pthread_create(&b, ((void *)0), thr, ((void *)0));
  pthread_join(a, ((void *)0));
  pthread_join(b, ((void *)0));
  if (x != 2) { ERROR: {reach_error();abort();} }
  return 0;
}
