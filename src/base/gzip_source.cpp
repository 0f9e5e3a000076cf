#include <isa-l/igzip_lib.h>

#include <string>
#include <vector>

#include "base/decompress.h"
#include "base/trailing_bytes.h"

namespace pyrometer::base {
namespace {

constexpr std::size_t kInputBytes = 128 * 1024;

// RFC 1952 through ISA-L's igzip.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> inner)
      : inner_(std::move(inner)), input_(kInputBytes) {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (error_) return fail(*error_);
    if (done_ || size == 0) return std::size_t{0};
    state_.next_out = reinterpret_cast<std::uint8_t*>(to);
    state_.avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(size, 1U << 30));
    const std::uint32_t asked = state_.avail_out;
    while (state_.avail_out == asked && !done_ && !error_) step();
    const std::size_t got = asked - state_.avail_out;
    if (got == 0 && error_) return fail(*error_);
    return got;
  }
  bool is_costly() const override { return true; }
  void collect_remarks(std::vector<std::string>& out) const override {
    inner_->collect_remarks(out);
    if (!remark_.empty()) out.push_back(remark_);
  }

 private:
  void step() {
    if (state_.avail_in == 0 && !refill()) {
      if (between_members_ || !drain()) {
        if (!between_members_ && source_error_) error_ = std::move(source_error_);
        if (!between_members_ && !error_) stop("the gzip stream ends early");
        done_ = true;
      }
      return;
    }
    if (between_members_ && !start_member()) return;
    const int code = isal_inflate(&state_);
    if (code < 0) {
      stop(code == ISAL_INCORRECT_CHECKSUM ? "the gzip stream is damaged: checksum mismatch"
                                           : "the gzip stream is damaged");
      return;
    }
    if (state_.block_state == ISAL_BLOCK_FINISH) between_members_ = true;
  }

  // Another member follows, or padding that the format allows, or bytes that do not belong here.
  bool start_member() {
    const std::uint8_t next = *state_.next_in;
    if (next == 0x1F) {
      isal_inflate_reset(&state_);
      state_.crc_flag = ISAL_GZIP;
      between_members_ = false;
      return true;
    }
    if (next == 0) {  // tapes and some tools pad with zeros
      ++state_.next_in;
      --state_.avail_in;
      return false;
    }
    const std::int64_t end = consumed_ - static_cast<std::int64_t>(state_.avail_in);
    remark_ = describe_trailing_bytes(*inner_, end, consumed_, "gzip");
    done_ = true;
    return false;
  }

  // Without more input, the decompressor may hold output still. False when it has no more.
  bool drain() {
    const std::uint32_t room = state_.avail_out;
    const int code = isal_inflate(&state_);
    if (code >= 0 && state_.block_state == ISAL_BLOCK_FINISH) between_members_ = true;
    return state_.avail_out < room;
  }

  bool refill() {
    auto got = inner_->read(reinterpret_cast<char*>(input_.data()), input_.size());
    if (!got) {
      source_error_ = std::make_unique<Error>(got.error());
      return false;
    }
    state_.next_in = input_.data();
    state_.avail_in = static_cast<std::uint32_t>(*got);
    consumed_ += static_cast<std::int64_t>(*got);
    return *got > 0;
  }

  void stop(const char* message) {
    error_ = std::make_unique<Error>();
    error_->kind = ErrorKind::kDamaged;
    error_->message = message;
    error_->offset = consumed_ - static_cast<std::int64_t>(state_.avail_in);
    error_->advice = "Copy the file again from where it was recorded";
  }

  std::unique_ptr<ByteSource> inner_;
  std::vector<std::uint8_t> input_;
  inflate_state state_{};
  std::int64_t consumed_ = 0;  // bytes taken from inner_
  bool between_members_ = false;
  bool done_ = false;
  std::unique_ptr<Error> error_;
  std::unique_ptr<Error> source_error_;  // of inner_, told once all before it is delivered
  std::string remark_;
};

}  // namespace

bool looks_like_gzip(std::string_view head) { return head.starts_with("\x1F\x8B"); }

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> inner) {
  return std::make_unique<GzipSource>(std::move(inner));
}

}  // namespace pyrometer::base
