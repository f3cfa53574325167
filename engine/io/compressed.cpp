#include "engine/io/compressed.h"

#include <zlib.h>

#include <new>
#include <utility>
#include <vector>

namespace engine {
namespace {

constexpr const char* kGzipName = "gzip";

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
    while (stream_.avail_out > 0 && fill()) unpack();
    return count - stream_.avail_out;
  }

 private:
  // False at the end of the file.
  bool fill() {
    if (stream_.avail_in == 0) {
      stream_.next_in = buffer_.data();
      stream_.avail_in = static_cast<uInt>(raw_(buffer_.data(), buffer_.size()));
    }
    if (stream_.avail_in > 0) return true;
    if (in_member_) refuse_cut_compression(kGzipName);
    return false;
  }

  void unpack() {
    // After a member another one may follow.
    if (!in_member_) ::inflateReset(&stream_);
    in_member_ = true;
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      in_member_ = false;
      ++members_;
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK) {
      if (members_ > 0 && stream_.total_out == 0) refuse_rest_of_compression(kGzipName);
      refuse_damaged_compression(kGzipName);
    }
  }

  RawRead raw_;
  std::vector<Bytef> buffer_ = std::vector<Bytef>(size_t{1} << 16);
  z_stream stream_{};
  bool in_member_ = true;
  int members_ = 0;  // read to their end
};

}  // namespace

Compression compression_of(const std::string& begin) {
  if (begin.starts_with("\x1f\x8b\x08")) return Compression::kGzip;
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

void refuse_cut_compression(const char* kind) {
  throw DamagedCompression(std::string("is cut short: what ") + kind +
                           " packed does not end in the file; copy it again");
}

void refuse_damaged_compression(const char* kind) {
  throw DamagedCompression(std::string("is damaged: ") + kind +
                           " cannot unpack it, or its check sum is another; copy it again");
}

void refuse_rest_of_compression(const char* kind) {
  throw DamagedCompression(std::string("goes on after its end with bytes that ") + kind +
                           " has not packed; copy it again, or pack the MRC file anew");
}

}  // namespace engine
