#include "scheduler/ingest/parse_list.h"

#include <string_view>

#include "scheduler/ingest/cryosparc.h"
#include "scheduler/ingest/relion.h"
#include "scheduler/ingest/star.h"

namespace scheduler::ingest {

std::vector<ListedMicrograph> parse_list(const std::string& bytes, const std::string& name) {
  const std::string_view text(bytes);
  if (text.starts_with("\x93NUMPY") || text.starts_with("\x94"
                                                        "CSDAT")) {
    return parse_cryosparc(bytes, name);
  }
  if (is_star(bytes)) return parse_relion(bytes, name);
  throw IngestError(name +
                    ": neither a RELION STAR file (micrographs_ctf.star) nor cryoSPARC's .cs; "
                    "CTFFIND's text files are read by 'margay enqueue --ctf'");
}

}  // namespace scheduler::ingest
