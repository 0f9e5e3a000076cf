#include "ring/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pyrometer::ring {
namespace {

// "/proc/<pid>/stat" or "/proc/self/stat"; `path` holds 32 bytes.
void stat_path(std::uint32_t pid, char* path) {
  char digits[12];
  char* digit = digits + sizeof digits;
  *--digit = '\0';
  for (std::uint32_t rest = pid; rest != 0; rest /= 10) {
    *--digit = static_cast<char>('0' + rest % 10);
  }
  std::strcpy(path, "/proc/");
  std::strcat(path, pid == 0 ? "self" : digit);
  std::strcat(path, "/stat");
}

std::uint64_t parse_number(const char* text) {
  std::uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  }
  return value;
}

}  // namespace

bool read_process_stat(std::uint32_t pid, ProcessStat* stat) {
  char path[32];
  stat_path(pid, path);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  char text[1024];
  ssize_t length = 0;
  do {
    length = ::read(fd, text, sizeof text - 1);
  } while (length < 0 && errno == EINTR);
  ::close(fd);
  if (length <= 0) {
    return false;
  }
  text[length] = '\0';
  // Field 2, the name, may hold anything, parentheses and spaces too: the last ')' ends it.
  const char* at = std::strrchr(text, ')');
  for (int field = 3; at != nullptr && field <= 22; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) {
      return false;
    }
    if (field == 3) {
      stat->state = at[1];
    } else if (field == 20) {
      stat->threads = static_cast<std::uint32_t>(parse_number(at + 1));
    } else if (field == 22) {
      stat->start_ticks = parse_number(at + 1);
    }
  }
  return at != nullptr;
}

bool process_ended(std::uint32_t pid, std::uint64_t start_ticks) {
  ProcessStat stat;
  if (!read_process_stat(pid, &stat)) {
    return true;
  }
  // A main thread that left by pthread_exit is a zombie, too, while its process lives on.
  const bool dead = (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
  return dead || stat.start_ticks != start_ticks;
}

}  // namespace pyrometer::ring
