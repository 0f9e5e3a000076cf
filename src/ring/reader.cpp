#include "ring/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/monotonic.h"
#include "ring/process_stat.h"

namespace pyrometer::ring {
namespace {

constexpr std::uint64_t kReleaseEvery = 1024;  // slots: a full ring gets room while it is read
constexpr std::uint32_t kMostSlots = 1U << 26;

base::Error error(base::ErrorKind kind, std::string message, const std::string& path) {
  return {.kind = kind, .message = std::move(message), .file = path};
}

std::uint32_t further_slots(std::uint32_t length) {
  constexpr std::uint32_t kFirst = sizeof(StringBody::bytes);
  return length <= kFirst ? 0
                          : static_cast<std::uint32_t>((length - kFirst + kContinuationBytes - 1) /
                                                       kContinuationBytes);
}

// The bytes of a slot as they are now: what is checked is then what is used, whatever a writer that
// breaks the rules does meanwhile.
void copy_record(const Slot& slot, RecordHeader* header, char* body) {
  std::memcpy(header, &slot.record.header, sizeof *header);
  std::memcpy(body, slot.record.body, kBodyBytes);
}

template <typename Body>
Body body_as(const char* bytes) {
  Body body;
  std::memcpy(&body, bytes, sizeof body);
  return body;
}

bool is_time(std::uint64_t time) {
  return time <= static_cast<std::uint64_t>(base::kLatestMonotonicNs);
}

// Whether the times of a record can be times: rings are foreign.
template <typename Body>
bool has_times(const char* bytes) {
  const auto body = body_as<Body>(bytes);
  if constexpr (requires { body.end; }) {
    return is_time(body.start) && is_time(body.end);
  } else {
    return is_time(body.time);
  }
}

bool times_are_sound(RecordType type, const char* body) {
  switch (type) {
    case RecordType::kKernel:
    case RecordType::kCopy:
    case RecordType::kMemset:
      return has_times<ActivityBody>(body);
    case RecordType::kApiCall:
      return has_times<ApiCallBody>(body);
    case RecordType::kSync:
      return has_times<SyncBody>(body);
    case RecordType::kRange:
      return has_times<RangeBody>(body);
    case RecordType::kCounter:
      return has_times<CounterBody>(body);
    case RecordType::kInfo:
      return has_times<InfoBody>(body);
    case RecordType::kCapture:
      return has_times<CaptureBody>(body);
    case RecordType::kLoss:
      return has_times<LossBody>(body);
    default:
      return true;
  }
}

// False where the type is none that fits in one slot.
bool deliver(RecordSink& sink, const RecordHeader& header, const char* body) {
  switch (header.type) {
    case RecordType::kKernelConfig:
      sink.on_config(body_as<KernelConfigBody>(body));
      return true;
    case RecordType::kKernel:
      sink.on_kernel(header.thread, body_as<ActivityBody>(body));
      return true;
    case RecordType::kCopy:
      sink.on_copy(header.thread, body_as<ActivityBody>(body));
      return true;
    case RecordType::kMemset:
      sink.on_memset(header.thread, body_as<ActivityBody>(body));
      return true;
    case RecordType::kApiCall:
      sink.on_api_call(header.thread, body_as<ApiCallBody>(body));
      return true;
    case RecordType::kSync:
      sink.on_sync(header.thread, body_as<SyncBody>(body));
      return true;
    case RecordType::kRange:
      sink.on_range(header.thread, body_as<RangeBody>(body));
      return true;
    case RecordType::kCounter:
      sink.on_counter(header.thread, body_as<CounterBody>(body));
      return true;
    case RecordType::kInfo:
      sink.on_info(body_as<InfoBody>(body));
      return true;
    case RecordType::kCapture:
      sink.on_capture(body_as<CaptureBody>(body));
      return true;
    case RecordType::kLoss:
      sink.on_loss(body_as<LossBody>(body));
      return true;
    case RecordType::kNone:
    case RecordType::kString:
      break;
  }
  return false;
}

}  // namespace

base::Result<Reader> Reader::open(const std::string& path) {
  Reader reader;
  reader.path_ = path;
  reader.fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (reader.fd_ < 0) {
    const auto kind = errno == ENOENT ? base::ErrorKind::kNotFound : base::ErrorKind::kPermission;
    return base::fail(error(kind, std::string("cannot open: ") + std::strerror(errno), path));
  }
  struct stat status {};
  if (::fstat(reader.fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    return base::fail(error(base::ErrorKind::kFormat, "not a regular file", path));
  }
  if (status.st_uid != ::geteuid()) {
    return base::fail(error(base::ErrorKind::kPermission, "belongs to another user", path));
  }
  reader.bytes_ = static_cast<std::size_t>(status.st_size);
  if (reader.bytes_ < kHeaderBytes + kSlotBytes ||
      reader.bytes_ > kHeaderBytes + std::size_t{kMostSlots} * kSlotBytes) {
    return base::fail(error(base::ErrorKind::kFormat, "the size is not that of a ring", path));
  }
  void* memory = ::mmap(nullptr, reader.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, reader.fd_, 0);
  if (memory == MAP_FAILED) {
    return base::fail(error(base::ErrorKind::kResource, "cannot map it into memory", path));
  }
  reader.header_ = static_cast<Header*>(memory);
  reader.slots_ = reinterpret_cast<const Slot*>(static_cast<char*>(memory) + kHeaderBytes);
  if (auto checked = reader.check_header(path.substr(path.rfind('/') + 1)); !checked) {
    return base::fail(std::move(checked.error()));
  }
  reader.introduce();
  return reader;
}

// `name`: of the file, without its folder.
base::Result<void> Reader::check_header(const std::string& name) {
  const auto bad = [&](std::string message) {
    return base::fail(error(base::ErrorKind::kFormat, std::move(message), path_));
  };
  if (header_->magic.load(std::memory_order_acquire) != kMagic) {
    return bad("no ring: the magic number is missing");
  }
  const std::uint32_t version = header_->version;
  if (version != kVersion) {
    return base::fail(base::Error{.kind = base::ErrorKind::kUnsupported,
                                  .message = "ring of version " + std::to_string(version),
                                  .file = path_,
                                  .expected = "version " + std::to_string(kVersion)});
  }
  const std::uint32_t slots = header_->slot_count;
  if (slots == 0 || (slots & (slots - 1)) != 0 ||
      bytes_ != kHeaderBytes + std::size_t{slots} * kSlotBytes) {
    return bad("the number of slots does not fit the file's size");
  }
  mask_ = slots - 1;
  pid_ = header_->pid;
  parent_pid_ = header_->parent_pid;
  start_ticks_ = header_->process_start_ticks;
  created_ = header_->created;
  if (name.rfind(std::to_string(pid_) + "-" + std::to_string(start_ticks_) + ".", 0) != 0) {
    return bad("the ring is of another process than its name says");
  }
  position_ = header_->tail.load(std::memory_order_relaxed);
  end_ = position_;
  if (head() - position_ > mask_ + 1) {
    return bad("the ring's ends make no sense");
  }
  return {};
}

// Tells the process who reads, so that it notices when we die.
void Reader::introduce() {
  ProcessStat self;
  if (read_process_stat(0, &self)) {
    header_->reader_start_ticks.store(self.start_ticks, std::memory_order_relaxed);
    header_->reader_pid.store(static_cast<std::uint32_t>(::getpid()), std::memory_order_release);
  }
}

Reader::Reader(Reader&& other) noexcept { *this = std::move(other); }

Reader& Reader::operator=(Reader&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    fd_ = std::exchange(other.fd_, -1);
    header_ = std::exchange(other.header_, nullptr);
    slots_ = std::exchange(other.slots_, nullptr);
    bytes_ = other.bytes_;
    mask_ = other.mask_;
    position_ = other.position_;
    end_ = other.end_;
    pid_ = other.pid_;
    parent_pid_ = other.parent_pid_;
    start_ticks_ = other.start_ticks_;
    created_ = other.created_;
    corrupt_ = other.corrupt_;
    ended_ = other.ended_;
    counts_ = other.counts_;
  }
  return *this;
}

Reader::~Reader() { release(); }

void Reader::release() {
  if (header_ != nullptr) {
    ::munmap(header_, bytes_);
    header_ = nullptr;
  }
  if (fd_ >= 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

// Reading beyond a file's end is a fatal signal.
bool Reader::check_size() {
  struct stat status {};
  corrupt_ =
      corrupt_ || ::fstat(fd_, &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes_;
  return !corrupt_;
}

std::uint64_t Reader::head() { return header_->head.load(std::memory_order_acquire); }

bool Reader::published(std::uint64_t position) const {
  return slot_at(position).slot.sequence.load(std::memory_order_acquire) == position + 1;
}

std::size_t Reader::poll(RecordSink& sink, std::size_t most) {
  if (!check_size()) {
    return 0;
  }
  const std::uint64_t before = counts_.records;
  end_ = head();
  if (end_ - position_ > mask_ + 1) {
    corrupt_ = true;
    return 0;
  }
  std::uint64_t freed = position_;
  while (position_ != end_ && counts_.records - before < most) {
    std::uint32_t slots = take(sink);
    if (slots == 0 && writer_ended()) {
      // All that will ever be published is published: look once more, then pass over.
      slots = take(sink);
      if (slots == 0) {
        slots = 1;
        counts_.passed_over += slots;
      }
    }
    if (slots == 0) {
      break;
    }
    position_ += std::min<std::uint64_t>(slots, end_ - position_);
    if (position_ - freed >= kReleaseEvery) {
      header_->tail.store(position_, std::memory_order_release);
      freed = position_;
    }
  }
  header_->tail.store(position_, std::memory_order_release);
  return counts_.records - before;
}

std::uint32_t Reader::take(RecordSink& sink) {
  if (!published(position_)) {
    return 0;
  }
  const Slot& slot = slot_at(position_);
  RecordHeader header;
  char body[kBodyBytes];
  copy_record(slot, &header, body);
  if (header.type == RecordType::kString) {
    return take_string(sink, slot);
  }
  if (header.slots == 1 && times_are_sound(header.type, body) && deliver(sink, header, body)) {
    ++counts_.records;
  } else {
    ++counts_.malformed;
  }
  return 1;
}

std::uint32_t Reader::take_string(RecordSink& sink, const Slot& first) {
  RecordHeader header;
  char body[kBodyBytes];
  copy_record(first, &header, body);
  const auto string = body_as<StringBody>(body);
  if (string.id == 0 || string.length > kMaxStringBytes ||
      header.slots != 1 + further_slots(string.length) || header.slots > end_ - position_) {
    ++counts_.malformed;
    return 1;
  }
  char text[kMaxStringBytes];
  std::size_t done = std::min<std::size_t>(string.length, sizeof string.bytes);
  std::memcpy(text, string.bytes, done);
  for (std::uint32_t i = 1; i < header.slots; ++i) {
    if (!published(position_ + i)) {
      if (!ended_) {
        return 0;
      }
      counts_.passed_over += header.slots;
      return header.slots;
    }
    const std::size_t part = std::min<std::size_t>(string.length - done, kContinuationBytes);
    std::memcpy(text + done, slot_at(position_ + i).continuation, part);
    done += part;
  }
  sink.on_string(string.id, {text, string.length});
  ++counts_.records;
  return header.slots;
}

bool Reader::writer_ended() {
  ended_ = ended_ || process_ended(pid_, start_ticks_);
  return ended_;
}

bool Reader::drained() const {
  return corrupt_ || header_->head.load(std::memory_order_acquire) == position_;
}

std::array<std::uint64_t, kRecordTypes> Reader::dropped() const {
  std::array<std::uint64_t, kRecordTypes> counts{};
  for (std::size_t type = 0; type < kRecordTypes; ++type) {
    counts[type] = header_->dropped[type].load(std::memory_order_relaxed);
  }
  return counts;
}

WriterState Reader::state() const {
  const std::uint32_t state = header_->state.load(std::memory_order_acquire);
  constexpr auto kLast = static_cast<std::uint32_t>(WriterState::kInert);
  return static_cast<WriterState>(std::min(state, kLast));
}

CaptureReason Reader::state_reason() const {
  const std::uint32_t reason = header_->state_reason.load(std::memory_order_relaxed);
  constexpr auto kLast = static_cast<std::uint32_t>(CaptureReason::kDisabled);
  return reason <= kLast ? static_cast<CaptureReason>(reason) : CaptureReason::kNone;
}

std::uint32_t Reader::cupti_version() const {
  return header_->cupti_version.load(std::memory_order_relaxed);
}

std::uint64_t Reader::own_cpu_ns() const {
  return header_->own_cpu_ns.load(std::memory_order_relaxed);
}

void Reader::beat(std::uint64_t now) {
  if (check_size()) {
    header_->heartbeat.store(now, std::memory_order_release);
  }
}

void Reader::set_control(std::uint32_t bits) {
  if (check_size()) {
    header_->control.store(bits, std::memory_order_release);
  }
}

std::uint32_t Reader::control() const { return header_->control.load(std::memory_order_relaxed); }

void Reader::unlink() { ::unlink(path_.c_str()); }

}  // namespace pyrometer::ring
