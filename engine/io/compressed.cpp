#include "engine/io/compressed.h"

#include <zlib.h>

#include <new>
#include <utility>
#include <vector>

namespace engine {
namespace {

class Gzip : public Decompressor {
 public:
  explicit Gzip(RawRead raw) : raw_(std::move(raw)) {
    // 16: a gzip header and nothing else.
    if (::inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { ::inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  size_t read(void* bytes, size_t count) override {
    stream_.next_out = static_cast<Bytef*>(bytes);
    stream_.avail_out = static_cast<uInt>(count);
    while (stream_.avail_out > 0 && fill()) {
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        // Another member may follow.
        ::inflateReset(&stream_);
      } else if (code != Z_OK) {
        throw DamagedCompression("is damaged: gzip cannot unpack it; copy it again");
      }
    }
    return count - stream_.avail_out;
  }

 private:
  bool fill() {
    if (stream_.avail_in > 0) return true;
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<uInt>(raw_(buffer_.data(), buffer_.size()));
    return stream_.avail_in > 0;
  }

  RawRead raw_;
  std::vector<Bytef> buffer_ = std::vector<Bytef>(size_t{1} << 16);
  z_stream stream_{};
};

}  // namespace

Compression compression_of(const std::string& begin) {
  if (begin.starts_with("\x1f\x8b")) return Compression::kGzip;
  if (begin.starts_with("BZh")) return Compression::kBzip2;
  return Compression::kNone;
}

std::unique_ptr<Decompressor> make_decompressor(Compression kind, Decompressor::RawRead raw) {
  switch (kind) {
    case Compression::kNone:
      return nullptr;
    case Compression::kGzip:
      return std::make_unique<Gzip>(std::move(raw));
    case Compression::kBzip2:
      if (auto found = make_bzip2(raw)) return found;
      throw DamagedCompression(
          "is compressed with bzip2, which this build cannot read; unpack it first");
  }
  return nullptr;
}

}  // namespace engine
