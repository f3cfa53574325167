// What would be wrong with a micrograph in every search of it, found when it is enqueued.
#pragma once

#include <string>

#include "db/records.h"
#include "scheduler/files/file_io.h"

namespace scheduler {

// What a microscope's list of micrographs, or a template's settings, say of the optics; 0: nothing.
struct SearchOptics {
  double pixel_size = 0;            // A
  double voltage = 0;               // kV
  double spherical_aberration = 0;  // mm
};

// The size of a micrograph, from its header; `descriptor` is open for reading. May block on the
// file system. Throws Invalid naming the file: not an MRC file, cut short, a stack, odd sides.
db::ImageSize micrograph_size(int descriptor, const FileFacts& file);

// Throws Invalid where the image is smaller than the template, or has another pixel size in its
// header. A size of 0 is not known and fits.
void check_fits(const std::string& path, const db::ImageSize& image,
                const db::Template& search_template, const SearchOptics& settings);

// Throws Invalid where the list that names the micrograph has other optics than the template.
void check_listed(const std::string& path, const SearchOptics& listed,
                  const db::Template& search_template, const SearchOptics& settings);

}  // namespace scheduler
