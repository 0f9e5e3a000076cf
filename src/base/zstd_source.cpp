#include <zstd.h>

#include <string>
#include <vector>

#include "base/decompress.h"
#include "base/trailing_bytes.h"

namespace pyrometer::base {
namespace {

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> inner)
      : inner_(std::move(inner)), input_(ZSTD_DStreamInSize()), stream_(ZSTD_createDStream()) {
    // Files made with --long need a window above the default limit of 128 MB.
    if (stream_) (void)ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, 30);
  }

  Result<std::size_t> read(char* to, std::size_t size) override {
    if (error_) return fail(*error_);
    if (!stream_) return fail({.kind = ErrorKind::kResource, .message = "out of memory"});
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0 && !done_ && !error_ && size > 0) step(out);
    if (out.pos == 0 && error_) return fail(*error_);
    return out.pos;
  }
  bool is_costly() const override { return true; }
  void collect_remarks(std::vector<std::string>& out) const override {
    inner_->collect_remarks(out);
    if (!remark_.empty()) out.push_back(remark_);
  }

 private:
  void step(ZSTD_outBuffer& out) {
    // Output may still be held inside the stream, so it is asked first and only then refilled.
    if (in_.pos == in_.size && !pending_output_ && !refill()) {
      if (!error_ && frame_open_ && !pass_junk()) stop("the zstd stream ends early");
      done_ = true;
      return;
    }
    if (!frame_open_) frame_begin_ = consumed_ - static_cast<std::int64_t>(in_.size - in_.pos);
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in_);
    if (ZSTD_isError(code)) {
      if (pass_junk()) return;
      stop(std::string("the zstd stream is damaged: ") + ZSTD_getErrorName(code));
      return;
    }
    frame_open_ = code != 0;
    if (code == 0) ++frames_;
    pending_output_ = out.pos == out.size && frame_open_;
  }

  // True when what follows the last frame does not begin as a frame does.
  bool pass_junk() {
    constexpr std::int64_t kMagic = 4;
    const std::int64_t at = consumed_ - static_cast<std::int64_t>(in_.size - in_.pos);
    if (frames_ == 0 || at - frame_begin_ > kMagic) return false;
    remark_ = describe_trailing_bytes(*inner_, frame_begin_, consumed_, "zstd");
    done_ = true;
    return true;
  }

  bool refill() {
    auto got = inner_->read(input_.data(), input_.size());
    if (!got) {
      error_ = std::make_unique<Error>(got.error());
      return false;
    }
    in_ = ZSTD_inBuffer{input_.data(), *got, 0};
    consumed_ += static_cast<std::int64_t>(*got);
    return *got > 0;
  }

  void stop(std::string message) {
    error_ = std::make_unique<Error>();
    error_->kind = ErrorKind::kDamaged;
    error_->message = std::move(message);
    error_->offset = consumed_ - static_cast<std::int64_t>(in_.size - in_.pos);
    error_->advice = "Copy the file again from where it was recorded";
  }

  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  std::unique_ptr<ByteSource> inner_;
  std::vector<char> input_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::int64_t consumed_ = 0;  // bytes taken from inner_
  std::int64_t frame_begin_ = 0;
  int frames_ = 0;  // complete ones
  std::string remark_;
  bool frame_open_ = false;
  bool pending_output_ = false;
  bool done_ = false;
  std::unique_ptr<Error> error_;
};

}  // namespace

bool looks_like_zstd(std::string_view head) { return head.starts_with("\x28\xB5\x2F\xFD"); }

std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> inner) {
  return std::make_unique<ZstdSource>(std::move(inner));
}

}  // namespace pyrometer::base
