// Reads NumPy's files of structured records (.npy, and cryoSPARC's .cs). Pure.
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
  size_t offset = 0;  // bytes from the start of the record
};

class NumpyRecords {
 public:
  // `bytes` must outlive the object. Throws IngestError naming the file for another format, pickled
  // objects, a header that makes no sense, or fewer bytes than the header promises.
  NumpyRecords(const std::string& bytes, const std::string& name);

  size_t size() const { return size_; }
  const NumpyField* find(const std::string& name) const;
  // The first value of a numeric field; nullopt for other kinds.
  std::optional<double> number(size_t record, const NumpyField& field) const;
  // The text of a field of kind S or U in UTF-8, without padding zeros; nullopt for other kinds and
  // for invalid Unicode.
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
