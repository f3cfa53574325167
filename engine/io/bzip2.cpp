// Implements make_bzip2 of compressed.h.
#include <bzlib.h>

#include <new>
#include <utility>
#include <vector>

#include "engine/io/compressed.h"

namespace engine {
namespace {

constexpr const char* kBzip2Name = "bzip2";

class Bzip2 : public Decompressor {
 public:
  explicit Bzip2(RawRead raw) : raw_(std::move(raw)) { begin(); }
  ~Bzip2() override { end(); }
  Bzip2(const Bzip2&) = delete;
  Bzip2& operator=(const Bzip2&) = delete;

  size_t read(void* bytes, size_t count) override {
    stream_.next_out = static_cast<char*>(bytes);
    stream_.avail_out = static_cast<unsigned>(count);
    while (stream_.avail_out > 0 && fill()) unpack();
    return count - stream_.avail_out;
  }

 private:
  // Leaves alone what is read and written.
  void begin() {
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    in_stream_ = true;
  }
  void end() {
    if (in_stream_) ::BZ2_bzDecompressEnd(&stream_);
    in_stream_ = false;
  }

  // False at the end of the file.
  bool fill() {
    if (stream_.avail_in == 0) {
      stream_.next_in = buffer_.data();
      stream_.avail_in = static_cast<unsigned>(raw_(buffer_.data(), buffer_.size()));
    }
    if (stream_.avail_in > 0) return true;
    if (in_stream_) refuse_cut_compression(kBzip2Name);
    return false;
  }

  void unpack() {
    // After a stream another one may follow: programs that compress by many threads write many.
    if (!in_stream_) begin();
    const int code = ::BZ2_bzDecompress(&stream_);
    if (code == BZ_STREAM_END) {
      end();
      ++streams_;
    } else if (code == BZ_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code == BZ_DATA_ERROR_MAGIC && streams_ > 0) {
      refuse_rest_of_compression(kBzip2Name);
    } else if (code != BZ_OK) {
      refuse_damaged_compression(kBzip2Name);
    }
  }

  RawRead raw_;
  std::vector<char> buffer_ = std::vector<char>(size_t{1} << 16);
  bz_stream stream_{};
  bool in_stream_ = false;
  int streams_ = 0;  // read to their end
};

}  // namespace

std::unique_ptr<Decompressor> make_bzip2(const Decompressor::RawRead& raw) {
  return std::make_unique<Bzip2>(raw);
}

}  // namespace engine
