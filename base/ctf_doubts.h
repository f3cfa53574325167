// What a microscope's CTF most likely is not: such values are slips, or in another unit.
#pragma once

#include <string>

namespace base {

// Whether a defocus in A, underfocus positive, is one that micrographs have, or 0.
bool is_usual_defocus(double defocus);
// A question for whoever wrote the value, "is it in um? 1 um is 10000 A"; empty: there is none.
std::string defocus_doubt(double defocus);

// The same for a phase shift in degrees.
std::string phase_shift_doubt(double phase_shift);

}  // namespace base
