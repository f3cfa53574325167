// Finds, when a micrograph is enqueued, what would make every search of it fail.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/files/file_io.h"

namespace scheduler {

// The optics according to a microscope's list of micrographs or a template's settings; 0: not
// given.
struct SearchOptics {
  double pixel_size = 0;            // A
  double voltage = 0;               // kV
  double spherical_aberration = 0;  // mm
};

// The size of a micrograph, from its header; `descriptor` is open for reading. May block on the
// file system. Throws Invalid naming the file if it is not an MRC file, is cut short, is a stack or
// has odd sides.
db::ImageSize micrograph_size(int descriptor, const FileFacts& file);

// Throws Invalid when the image is smaller than the template, or its header has another pixel size.
// A size of 0 is not known and is accepted.
void check_fits(const std::string& path, const db::ImageSize& image,
                const db::Template& search_template, const SearchOptics& settings);

// Throws Invalid when the list that names the micrograph, or its CTF file, has other optics than
// the template.
void check_listed(const std::string& path, const SearchOptics& listed,
                  const db::Template& search_template, const SearchOptics& settings);

}  // namespace scheduler
