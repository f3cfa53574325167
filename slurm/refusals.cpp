#include "slurm/refusals.h"

#include <algorithm>

namespace slurm {
namespace {

// A code may have a second sentence in another release.
constexpr SlurmRefusal kRefusals[] = {
    // The job asks for what the cluster does not have.
    {2005, "More processors requested than permitted", Refusal::kJob},
    {2006, "Node count specification invalid", Refusal::kJob},
    {2012, "Pathname of a file, directory or other parameter too long", Refusal::kJob},
    {2014, "Requested node configuration is not available", Refusal::kJob},
    {2015, "Requested partition configuration not available now", Refusal::kJob},
    {2025, "Task count specification invalid", Refusal::kJob},
    {2041, "Requested more tasks than available processors", Refusal::kJob},
    {2044, "Memory required by task is not available", Refusal::kJob},
    {2051, "Requested time limit is invalid", Refusal::kJob},
    {2054, "Invalid time specified", Refusal::kJob},
    {2069, "CPU count specification invalid", Refusal::kJob},
    {2124, "Invalid time-min specification", Refusal::kJob},
    // It is refused for the moment. A partition that is drained, a reservation that is not usable
    // and submissions that are switched off come back without a change of what the site asks for.
    // EAGAIN, MaxJobCount is reached. By its number alone: sbatch has the sentence for its own
    // calls.
    {11, "", Refusal::kBusy},
    {2007, "Unable to create job record, try again", Refusal::kBusy},
    {2007, "MaxJobCount limit reached", Refusal::kBusy},
    {2013, "Immediate execution impossible, insufficient priority", Refusal::kBusy},
    {2016, "Requested nodes are busy", Refusal::kBusy},
    {2019, "I/O error writing script/environment to file", Refusal::kBusy},
    {2035, "Immediate execution impossible, resources too fragmented", Refusal::kBusy},
    {2040, "Licenses currently unavailable", Refusal::kBusy},
    {2050, "Job violates accounting/QOS policy", Refusal::kBusy},
    {2055, "Requested reservation is in use", Refusal::kBusy},
    {2056, "Requested reservation not usable now", Refusal::kBusy},
    {2068, "Required node not available (down, drained or reserved)", Refusal::kBusy},
    {2070, "Required partition not available (inactive or drain)", Refusal::kBusy},
    {2074, "Requested account has breached requested QOS usage threshold", Refusal::kBusy},
    {2078, "Job can not start immediately", Refusal::kBusy},
    {2105, "System submissions disabled", Refusal::kBusy},
    {2125, "Immediate execution impossible. Individual job submission", Refusal::kBusy},
    // Names that do not exist or may not be used, and requests that are malformed.
    {2000, "Invalid partition name specified", Refusal::kConfiguration},
    {2001, "No partition specified or system default partition", Refusal::kConfiguration},
    {2002, "Access/permission denied", Refusal::kConfiguration},
    {2003, "User's group not permitted to use this partition", Refusal::kConfiguration},
    {2004, "Requested nodes not in this partition", Refusal::kConfiguration},
    {2008, "Job size specification needs to be provided", Refusal::kConfiguration},
    {2009, "Job script not specified", Refusal::kConfiguration},
    {2010, "Invalid user id", Refusal::kConfiguration},
    {2018, "Invalid node name specified", Refusal::kConfiguration},
    {2023, "Task distribution specification invalid", Refusal::kConfiguration},
    {2026, "Error generating job credential", Refusal::kConfiguration},
    {2029, "Invalid feature specification", Refusal::kConfiguration},
    {2036, "Requested operation not supported on this system", Refusal::kConfiguration},
    {2037, "Requested operation is presently disabled", Refusal::kConfiguration},
    {2038, "Job dependency problem", Refusal::kConfiguration},
    {2045, "Invalid account or account/partition combination specified", Refusal::kConfiguration},
    {2048, "Invalid license specification", Refusal::kConfiguration},
    {2052, "Access denied to requested reservation", Refusal::kConfiguration},
    {2053, "Requested reservation is invalid", Refusal::kConfiguration},
    {2057, "Invalid wckey specification", Refusal::kConfiguration},
    {2063, "Job cannot be submitted without the current working", Refusal::kConfiguration},
    {2066, "Invalid qos specification", Refusal::kConfiguration},
    {2072, "Invalid generic resource (gres) specification", Refusal::kConfiguration},
    {2080, "Reservation request lacks users, groups or accounts", Refusal::kConfiguration},
    {2081, "Invalid job array specification", Refusal::kConfiguration},
    {2094, "Burst Buffer request invalid", Refusal::kConfiguration},
    {2099, "Invalid mcs_label specifi", Refusal::kConfiguration},
    {2102, "Duplicate generic resource (gres) specification", Refusal::kConfiguration},
    {2107, "Job not heterogeneous job leader", Refusal::kConfiguration},
    {2113, "Invalid group id", Refusal::kConfiguration},
    {2115, "Invalid Trackable RESource (TRES) specification", Refusal::kConfiguration},
    {2119, "Invalid GRES specification", Refusal::kConfiguration},
    {2122, "Requested GRES option unsupported", Refusal::kConfiguration},
    {2123, "Invalid --nice value", Refusal::kConfiguration},
    {2127, "Environment is missing in job", Refusal::kConfiguration},
    {2130, "Multiple partition job request not supported", Refusal::kConfiguration},
    {2132, "Cannot request more threads per core than the job allocation", Refusal::kConfiguration},
    {2133, "Invalid preferred feature specification", Refusal::kConfiguration},
    {8000, "Time limit specification required, but not provided", Refusal::kConfiguration},
    // sbatch says so also if it does not trust the answer, after which there may be a job.
    {kBadAuthentication, "", Refusal::kConfiguration},
    // slurmrestd could not read the request.
    {9000, "", Refusal::kConfiguration},
    {9001, "", Refusal::kConfiguration},
    {9002, "", Refusal::kConfiguration},
    {9200, "", Refusal::kConfiguration},
    {9201, "", Refusal::kConfiguration},
    {9202, "", Refusal::kConfiguration},
    {9204, "", Refusal::kConfiguration},
    {9207, "", Refusal::kConfiguration},
    {9208, "", Refusal::kConfiguration},
};

template <typename Matches>
Refusal first_that(Matches matches) {
  const auto* found = std::find_if(std::begin(kRefusals), std::end(kRefusals), matches);
  return found == std::end(kRefusals) ? Refusal::kNone : found->kind;
}

}  // namespace

std::span<const SlurmRefusal> slurm_refusals() { return kRefusals; }

Refusal refusal_of_code(int64_t code) {
  return first_that([&](const SlurmRefusal& refusal) { return refusal.code == code; });
}

Refusal refusal_of_sentence(std::string_view text) {
  return first_that([&](const SlurmRefusal& refusal) {
    return !refusal.sentence.empty() && text.starts_with(refusal.sentence);
  });
}

}  // namespace slurm
