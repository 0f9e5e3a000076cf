// Force-included: binds functions that glibc 2.34 moved into libc.so to the version that they had
// before, so that a library built on a new system loads on an old one (2.28: RHEL 8). CUDA programs
// have libdl and libpthread loaded, where an old glibc keeps them.
#pragma once

#include <features.h>

#if defined(__x86_64__) && defined(__GLIBC__)
#define PYROMETER_OLD_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__) && defined(__GLIBC__)
#define PYROMETER_OLD_GLIBC "GLIBC_2.17"
#endif

#ifdef PYROMETER_OLD_GLIBC
__asm__(".symver dlopen,dlopen@" PYROMETER_OLD_GLIBC);
__asm__(".symver dlsym,dlsym@" PYROMETER_OLD_GLIBC);
__asm__(".symver dlerror,dlerror@" PYROMETER_OLD_GLIBC);
__asm__(".symver dladdr,dladdr@" PYROMETER_OLD_GLIBC);
__asm__(".symver pthread_create,pthread_create@" PYROMETER_OLD_GLIBC);
__asm__(".symver pthread_sigmask,pthread_sigmask@" PYROMETER_OLD_GLIBC);
__asm__(".symver pthread_attr_setdetachstate,pthread_attr_setdetachstate@" PYROMETER_OLD_GLIBC);
#endif
