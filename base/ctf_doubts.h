// Recognises CTF values that are most likely slips or in another unit.
#pragma once

#include <string>

namespace base {

// True for a defocus, in A with underfocus positive, that micrographs have, and for 0.
bool is_usual_defocus(double defocus);
// Returns a question to the author of the value, such as "is it in um? 1 um is 10000 A"; empty
// where the defocus, in A, is usual.
std::string defocus_doubt(double defocus);

// Returns such a question about a phase shift in degrees; empty where there is none.
std::string phase_shift_doubt(double phase_shift);

}  // namespace base
