// NumPy's files of structured records (.npy, and cryoSPARC's .cs). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/ingest/ingest_error.h"

namespace scheduler::ingest {

struct NumpyField {
  std::string name{};
  char kind = 'V';  // NumPy's letter: f, i, u, b, S, U, V
  bool swapped = false;
  size_t bytes = 0;   // of one value
  size_t count = 1;   // values in the field
  size_t offset = 0;  // in the record
};

class NumpyRecords {
 public:
  // `bytes` must outlive the object. Throws IngestError naming the file: another format, pickled
  // objects, a header that makes no sense, fewer bytes than the header promises.
  NumpyRecords(const std::string& bytes, const std::string& name);

  size_t size() const { return size_; }
  const NumpyField* find(const std::string& name) const;
  // Of a field that begins with a number; nullopt for other kinds.
  std::optional<double> number(size_t record, const NumpyField& field) const;
  // Of S and U, without the zeros that fill it, in UTF-8; nullopt for other kinds and for what is
  // no Unicode.
  std::optional<std::string> text(size_t record, const NumpyField& field) const;

 private:
  const unsigned char* at(size_t record, const NumpyField& field) const;

  const std::string& bytes_;
  std::vector<NumpyField> fields_;
  size_t record_bytes_ = 0;
  size_t begin_ = 0;
  size_t size_ = 0;
};

}  // namespace scheduler::ingest
