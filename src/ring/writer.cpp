#include "ring/writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include "ring/process_stat.h"

namespace pyrometer::ring {
namespace {

constexpr std::uint32_t kNameSlots = 1U << 15;
constexpr std::size_t kNameBytes = 8U << 20;  // reserved address space; used as names come
constexpr std::uint32_t kConfigSlots = 1U << 14;
constexpr std::size_t kConfigBytes = sizeof(KernelConfigBody) - sizeof(std::uint32_t);

std::size_t file_bytes(std::uint32_t slot_count) {
  return kHeaderBytes + std::size_t{slot_count} * kSlotBytes;
}

void* map_anonymous(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// A page that the kernel gives to every forked child as zeros: fork handlers do not run for a raw
// clone(), this works for all. Before Linux 4.14 only the handlers protect.
std::atomic<std::uint32_t>* make_alive_page() {
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page = map_anonymous(bytes);
  if (page == nullptr) {
    return nullptr;
  }
#ifdef MADV_WIPEONFORK
  ::madvise(page, bytes, MADV_WIPEONFORK);
#endif
  return new (page) std::atomic<std::uint32_t>(1);
}

// Growing a file beyond this limit would kill the process by SIGXFSZ.
bool within_file_limit(std::size_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}

// The file's final name, free of the dot. A process keeps its pid and start time when it execs: the
// ring of its former self, which may not have been read yet, keeps its name, and ours gets a
// number.
template <typename Format>
CreateError give_name(const char* hidden, char* path, const Format& format) {
  const char* const suffixes[] = {"", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9"};
  for (const char* suffix : suffixes) {
    format(path, "", suffix);
    if (::link(hidden, path) == 0) {
      return CreateError::kNone;
    }
    if (errno != EEXIST) {
      return errno == ENOENT ? CreateError::kSessionOver : CreateError::kNoRoom;
    }
  }
  return CreateError::kNoRoom;
}

// An empty file needs no room of its own.
void note_no_room(std::string_view folder) {
  ProcessStat self;
  char path[512];
  if (!read_process_stat(0, &self) || folder.size() > sizeof path - 64) {
    return;
  }
  std::snprintf(path, sizeof path, "%.*s/%u-%llu.noroom", static_cast<int>(folder.size()),
                folder.data(), static_cast<unsigned>(::getpid()),
                static_cast<unsigned long long>(self.start_ticks));
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) {
    ::close(fd);
  }
}

// Where to cut a text that is too long: before a UTF-8 sequence, with room for the mark.
constexpr std::string_view kCutMark = "\u2026";
std::size_t cut_length(std::string_view text) {
  std::size_t length = kMaxStringBytes - kCutMark.size();
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return length;
}

}  // namespace

std::uint64_t monotonic_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Writer* Writer::create(std::string_view folder, std::uint32_t slot_count, CreateError* error) {
  *error = CreateError::kNoRoom;
  void* memory = map_anonymous(sizeof(Writer));
  if (memory == nullptr) {
    return nullptr;
  }
  auto* writer = new (memory) Writer;
  writer->alive_ = make_alive_page();
  if (writer->alive_ != nullptr && writer->init_tables()) {
    *error = writer->make_file(folder, slot_count);
    if (*error == CreateError::kNoRoom) {
      note_no_room(folder);
    }
  }
  return *error == CreateError::kNone ? writer : nullptr;
}

bool Writer::init_tables() {
  const std::size_t names = InternTable::memory_needed(kNameSlots, kNameBytes);
  const std::size_t configs = InternTable::memory_needed(kConfigSlots, kConfigSlots * kConfigBytes);
  void* memory = map_anonymous(names + configs);
  if (memory == nullptr) {
    return false;
  }
  names_.init(
      memory, kNameSlots, kNameBytes,
      [](void* self, std::uint32_t id, const char* bytes, std::size_t length) {
        return static_cast<Writer*>(self)->write_string(id, bytes, length);
      },
      this);
  configs_.init(
      static_cast<char*>(memory) + names, kConfigSlots, kConfigSlots * kConfigBytes,
      [](void* self, std::uint32_t id, const char* bytes, std::size_t length) {
        KernelConfigBody body{.id = id};
        std::memcpy(body.grid, bytes, length);
        return static_cast<Writer*>(self)->write(RecordType::kKernelConfig, 0, body);
      },
      this);
  return true;
}

CreateError Writer::make_file(std::string_view folder, std::uint32_t slot_count) {
  ProcessStat self;
  char hidden[sizeof path_];
  if (!read_process_stat(0, &self) || folder.size() > sizeof path_ - 64) {
    return CreateError::kNoRoom;
  }
  const auto format = [&](char* path, const char* dot, const char* suffix) {
    std::snprintf(path, sizeof path_, "%.*s/%s%u-%llu%s.ring", static_cast<int>(folder.size()),
                  folder.data(), dot, static_cast<unsigned>(::getpid()),
                  static_cast<unsigned long long>(self.start_ticks), suffix);
  };
  format(hidden, ".", "");
  ::unlink(hidden);
  const int fd = ::open(hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    return errno == ENOENT ? CreateError::kSessionOver : CreateError::kNoRoom;
  }
  CreateError error = map_file(fd, slot_count);
  ::close(fd);
  if (error == CreateError::kNone) {
    fill_header(slot_count, self.start_ticks);
    error = give_name(hidden, path_, format);
  }
  ::unlink(hidden);
  return error;
}

CreateError Writer::map_file(int fd, std::uint32_t slot_count) {
  const std::size_t bytes = file_bytes(slot_count);
  // The space is taken now: a full file system later would end the process by SIGBUS.
  if (!within_file_limit(bytes) || ::posix_fallocate(fd, 0, static_cast<off_t>(bytes)) != 0) {
    return CreateError::kNoRoom;
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return CreateError::kNoRoom;
  }
  header_ = static_cast<Header*>(memory);
  slots_ = reinterpret_cast<Slot*>(static_cast<char*>(memory) + kHeaderBytes);
  mask_ = slot_count - 1;
  return CreateError::kNone;
}

void Writer::fill_header(std::uint32_t slot_count, std::uint64_t start_ticks) {
  header_->version = kVersion;
  header_->slot_count = slot_count;
  header_->pid = static_cast<std::uint32_t>(::getpid());
  header_->parent_pid = static_cast<std::uint32_t>(::getppid());
  header_->process_start_ticks = start_ticks;
  header_->created = monotonic_ns();
  header_->magic.store(kMagic, std::memory_order_release);
}

std::uint32_t Writer::intern_name(std::string_view name) {
  if (name.empty()) {
    return 0;
  }
  if (name.size() <= kMaxStringBytes) {
    return intern(names_, RecordType::kString, name.data(), name.size());
  }
  char cut[kMaxStringBytes];
  const std::size_t length = cut_length(name);
  std::memcpy(cut, name.data(), length);
  std::memcpy(cut + length, kCutMark.data(), kCutMark.size());
  return intern(names_, RecordType::kString, cut, length + kCutMark.size());
}

std::uint32_t Writer::intern_config(const KernelConfigBody& config) {
  char bytes[kConfigBytes];
  std::memcpy(bytes, config.grid, sizeof bytes);
  return intern(configs_, RecordType::kKernelConfig, bytes, sizeof bytes);
}

// A definition that finds no room in the ring counts as dropped there, one that finds none in the
// table here.
std::uint32_t Writer::intern(InternTable& table, RecordType type, const char* bytes,
                             std::size_t length) {
  if (!live()) {
    return 0;
  }
  bool full = false;
  const std::uint32_t id = table.intern(bytes, length, &full);
  if (full) {
    count_drop(type);
  }
  return id;
}

void Writer::count_drop(RecordType type) {
  header_->dropped[static_cast<std::size_t>(type)].fetch_add(1, std::memory_order_relaxed);
}

bool Writer::has_room() const {
  return header_->head.load(std::memory_order_relaxed) -
             header_->tail.load(std::memory_order_acquire) <=
         mask_;
}

bool Writer::reserve(RecordType type, std::uint32_t slots, std::uint64_t* position) {
  if (!live()) {
    return false;
  }
  std::uint64_t head = header_->head.load(std::memory_order_relaxed);
  do {
    const std::uint64_t tail = header_->tail.load(std::memory_order_acquire);
    // Signed: others may have moved both ends past the `head` that was read; then the exchange
    // fails.
    if (static_cast<std::int64_t>(head + slots - tail) > static_cast<std::int64_t>(mask_ + 1)) {
      count_drop(type);
      return false;
    }
  } while (!header_->head.compare_exchange_weak(head, head + slots, std::memory_order_acq_rel,
                                                std::memory_order_relaxed));
  *position = head;
  return true;
}

void Writer::publish(std::uint64_t position) {
  slot_at(position).slot.sequence.store(position + 1, std::memory_order_release);
}

bool Writer::write_bytes(RecordType type, std::uint32_t thread, const void* body,
                         std::size_t size) {
  std::uint64_t position = 0;
  if (!reserve(type, 1, &position)) {
    return false;
  }
  Slot& slot = slot_at(position);
  slot.record.header = {.type = type, .slots = 1, .thread = thread};
  std::memcpy(slot.record.body, body, size);
  publish(position);
  return true;
}

bool Writer::write_string(std::uint32_t id, const char* bytes, std::size_t length) {
  const std::size_t first = std::min(length, sizeof(StringBody::bytes));
  const auto further =
      static_cast<std::uint32_t>((length - first + kContinuationBytes - 1) / kContinuationBytes);
  std::uint64_t position = 0;
  if (!reserve(RecordType::kString, 1 + further, &position)) {
    return false;
  }
  Slot& head = slot_at(position);
  head.record.header = {
      .type = RecordType::kString, .slots = static_cast<std::uint16_t>(1 + further), .thread = 0};
  head.record.string.id = id;
  head.record.string.length = static_cast<std::uint32_t>(length);
  std::memcpy(head.record.string.bytes, bytes, first);
  std::size_t done = first;
  for (std::uint32_t i = 1; i <= further; ++i) {
    const std::size_t part = std::min(length - done, kContinuationBytes);
    std::memcpy(slot_at(position + i).continuation, bytes + done, part);
    done += part;
  }
  for (std::uint32_t i = 0; i <= further; ++i) {
    publish(position + i);
  }
  return true;
}

bool Writer::reader_ended() const {
  const std::uint32_t pid = header_->reader_pid.load(std::memory_order_acquire);
  if (pid == 0) {
    return false;
  }
  const bool ended =
      process_ended(pid, header_->reader_start_ticks.load(std::memory_order_relaxed));
  if (!ended) {
    reader_seen_.store(true, std::memory_order_relaxed);
  }
  return ended && reader_seen_.load(std::memory_order_relaxed);
}

void Writer::unlink_file() { ::unlink(path_); }

}  // namespace pyrometer::ring
