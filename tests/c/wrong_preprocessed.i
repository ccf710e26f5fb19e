//@ expect checks: violated
# 1 "wrong_preprocessed.c"
# 1 "/usr/include/assert.h" 1 3 4
extern void __assert_fail (const char *__assertion, const char *__file, unsigned int __line, const char *__function)
     __attribute__ ((__nothrow__ , __leaf__)) __attribute__ ((__noreturn__));
typedef unsigned long int pthread_t;
union pthread_attr_t { char __size[56]; long int __align; };
typedef union pthread_attr_t pthread_attr_t;
extern int pthread_create (pthread_t *__restrict __newthread, const pthread_attr_t *__restrict __attr,
      void *(*__start_routine) (void *), void *__restrict __arg) __attribute__ ((__nothrow__));
# 4 "wrong_preprocessed.c" 2
int x = 0;
void *thr(void *arg) {
  x = 1;
  x = 2;
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, thr, 0);
  ((void) sizeof ((x != 1) ? 1 : 0), __extension__ ({ if (x != 1) ; else __assert_fail ("x != 1", "wrong_preprocessed.c", 12, __extension__ __PRETTY_FUNCTION__); }));
  return 0;
}
