#include <zstd.h>

#include <string>
#include <vector>

#include "base/decompress.h"

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

 private:
  void step(ZSTD_outBuffer& out) {
    // Output may still be held inside the stream, so it is asked first and only then refilled.
    if (in_.pos == in_.size && !pending_output_ && !refill()) {
      if (!error_ && frame_open_) stop("the zstd stream ends early");
      done_ = true;
      return;
    }
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &out, &in_);
    if (ZSTD_isError(code)) {
      stop(std::string("the zstd stream is damaged: ") + ZSTD_getErrorName(code));
      return;
    }
    frame_open_ = code != 0;
    pending_output_ = out.pos == out.size && frame_open_;
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
    error_->kind = ErrorKind::kFormat;
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
