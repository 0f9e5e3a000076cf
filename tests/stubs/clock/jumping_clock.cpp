// For LD_PRELOAD: CLOCK_REALTIME leaps by hours, to and fro, at every call; the other clocks stay.
#include <dlfcn.h>
#include <sys/time.h>

#include <atomic>
#include <ctime>
#include <iterator>

namespace {

std::atomic<int> calls{0};

time_t leap() {
  constexpr time_t kHours[] = {0, 5, -3, 9, -100000, 1, 7777};
  return kHours[static_cast<std::size_t>(calls.fetch_add(1)) % std::size(kHours)] * 3600;
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += leap();
  return result;
}

extern "C" int gettimeofday(timeval* time, void*) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

extern "C" time_t time(time_t* out) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
