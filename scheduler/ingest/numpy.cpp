#include "scheduler/ingest/numpy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/parse_number.h"

namespace scheduler::ingest {
namespace {

// More than any program writes, and little enough for the memory.
constexpr size_t kMostFields = 10'000;
constexpr size_t kMostFieldBytes = size_t{1} << 30;

constexpr bool kLittleEndianHost = std::endian::native == std::endian::little;

// The header: a dictionary as Python writes it, of which only the forms that NumPy uses are read.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void read() {
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      take_value(key);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!has_fields_ || !has_shape_) refuse("its header lacks descr or shape");
  }

  std::vector<NumpyField> fields{};
  size_t record_bytes = 0;
  size_t records = 1;

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw IngestError(name_ + ": cannot be read: " + problem);
  }

  void take_value(const std::string& key) {
    if (key == "descr") {
      if (next() != '[') refuse("it holds plain numbers, not records with named fields");
      take_fields();
    } else if (key == "shape") {
      has_shape_ = true;
      records = product_of_tuple();
    } else if (key == "fortran_order") {
      if (!take_word("False") && !take_word("True")) refuse("its header makes no sense");
    } else {
      refuse("its header has an unknown key '" + key + "'");
    }
  }

  void take_fields() {
    has_fields_ = true;
    expect('[');
    while (!take(']')) {
      take_field();
      if (!take(',')) {
        expect(']');
        break;
      }
    }
  }

  void take_field() {
    if (fields.size() == kMostFields) refuse("it has more than 10000 fields");
    expect('(');
    NumpyField field{.name = quoted()};
    expect(',');
    set_type(quoted(), field);
    if (take(',') && next() == '(') field.count = product_of_tuple();
    take(',');
    expect(')');
    field.offset = record_bytes;
    if (field.count > kMostFieldBytes / std::max<size_t>(field.bytes, 1)) {
      refuse("the field '" + field.name + "' is too large");
    }
    record_bytes += field.bytes * field.count;
    if (record_bytes > kMostFieldBytes) refuse("its records are too large");
    fields.push_back(std::move(field));
  }

  // "<f4", "|S120", "<U64".
  void set_type(const std::string& type, NumpyField& field) const {
    const auto count =
        type.size() > 2 ? base::parse_number<uint32_t>(type.substr(2)) : std::optional<uint32_t>();
    if (!count || std::strchr("<>|=", type[0]) == nullptr || type[0] == '\0') {
      refuse("the field '" + field.name + "' has the unknown type '" + type + "'");
    }
    if (type[1] == 'O') {
      refuse("the field '" + field.name +
             "' holds Python objects, which are not read; export the "
             "exposures from cryoSPARC again");
    }
    field.kind = type[1];
    field.swapped = (type[0] == '>') == kLittleEndianHost && (type[0] == '<' || type[0] == '>');
    field.bytes = static_cast<size_t>(*count) * (type[1] == 'U' ? 4 : 1);
  }

  // "(3,)", "(2, 2)", "()".
  size_t product_of_tuple() {
    size_t product = 1;
    expect('(');
    while (!take(')')) {
      const size_t start = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      const auto number = base::parse_number<size_t>(text_.substr(start, at_ - start));
      if (!number || (*number != 0 && product > kMostFieldBytes / *number)) {
        refuse("its header has a shape that makes no sense");
      }
      product *= *number;
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return product;
  }

  std::string quoted() {
    const char quote = next();
    if (quote != '\'' && quote != '"') refuse("its header makes no sense");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("its header makes no sense");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    if (word.find('\\') != std::string_view::npos) refuse("its header makes no sense");
    at_ = end + 1;
    return std::string(word);
  }

  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    next();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse("its header makes no sense");
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  bool has_fields_ = false;
  bool has_shape_ = false;
};

uint64_t unsigned_at(const unsigned char* bytes, size_t size, bool swapped) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    const bool from_end = swapped != kLittleEndianHost;
    value = value << 8 | bytes[from_end ? size - 1 - i : i];
  }
  return value;
}

// False: no Unicode.
bool append_utf8(uint32_t code, std::string& text) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const auto tail = [&](int shift) { text += static_cast<char>(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

}  // namespace

NumpyRecords::NumpyRecords(const std::string& bytes, const std::string& name) : bytes_(bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  const auto cut = [&] { return IngestError(name + ": is cut short; copy it again"); };
  if (!std::string_view(bytes).starts_with(kMagic)) {
    throw IngestError(name + ": is not a file of NumPy");
  }
  if (bytes.size() < 12) throw cut();
  const auto* raw = reinterpret_cast<const unsigned char*>(bytes.data());
  const int version = raw[6];
  if (version < 1 || version > 3) {
    throw IngestError(name + ": is of version " + std::to_string(version) +
                      " of NumPy's format; versions 1 to 3 can be read");
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  const uint64_t length = unsigned_at(raw + 8, length_bytes, !kLittleEndianHost);
  begin_ = 8 + length_bytes;
  if (length > bytes.size() - begin_) throw cut();
  HeaderReader header(std::string_view(bytes).substr(begin_, length), name);
  header.read();
  begin_ += length;
  fields_ = std::move(header.fields);
  record_bytes_ = header.record_bytes;
  size_ = header.records;
  if (record_bytes_ == 0) throw IngestError(name + ": its records have no bytes");
  if ((bytes.size() - begin_) / record_bytes_ < size_) throw cut();
}

const NumpyField* NumpyRecords::find(const std::string& name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const NumpyField& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

const unsigned char* NumpyRecords::at(size_t record, const NumpyField& field) const {
  return reinterpret_cast<const unsigned char*>(bytes_.data()) + begin_ + record * record_bytes_ +
         field.offset;
}

std::optional<double> NumpyRecords::number(size_t record, const NumpyField& field) const {
  if (field.count == 0) return std::nullopt;
  const size_t bytes = field.bytes;
  const bool whole = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (!whole) return std::nullopt;
  const uint64_t bits = unsigned_at(at(record, field), bytes, field.swapped);
  switch (field.kind) {
    case 'f':
      if (bytes == 4) return std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (bytes == 8) return std::bit_cast<double>(bits);
      return std::nullopt;
    case 'u':
    case 'b':
      return static_cast<double>(bits);
    case 'i': {
      const auto shift = 64 - 8 * bytes;
      return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string> NumpyRecords::text(size_t record, const NumpyField& field) const {
  const unsigned char* bytes = at(record, field);
  if (field.count != 1) return std::nullopt;
  if (field.kind == 'S') {
    std::string text(reinterpret_cast<const char*>(bytes), field.bytes);
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
  }
  if (field.kind != 'U') return std::nullopt;
  std::string text;
  for (size_t i = 0; i < field.bytes; i += 4) {
    const auto code = static_cast<uint32_t>(unsigned_at(bytes + i, 4, field.swapped));
    if (code == 0) break;
    if (!append_utf8(code, text)) return std::nullopt;
  }
  return text;
}

}  // namespace scheduler::ingest
