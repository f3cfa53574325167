#include "slurm/job/attempt_claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/descriptor.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

// Empty when it is not there or cannot be read.
std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.good();
}

bool is_there(const fs::path& path) { return access(path.c_str(), F_OK) == 0; }

// The first one wins. A full disk must not change what the rank ends with.
void write_once(const fs::path& path, const std::string& text) {
  const base::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file) [[maybe_unused]]
    const ssize_t count = write(file.get(), text.data(), text.size());
}

}  // namespace

bool AttemptClaim::has_newer_attempt() const {
  return is_newer_attempt(text_of_file(folder_.parent_path() / "current"), number_);
}

bool AttemptClaim::take_claim(const JobIdentity& identity) const {
  const fs::path claim = folder_ / "claim";
  if (mkdir(claim.c_str(), 0777) != 0 && !may_take_over(text_of_file(claim / "owner"), identity)) {
    return false;
  }
  return write_file(claim / "owner.new", owner_text(identity)) &&
         std::rename((claim / "owner.new").c_str(), (claim / "owner").c_str()) == 0;
}

Beginning AttemptClaim::begin(const JobIdentity& identity) const {
  if (has_newer_attempt()) return Beginning::kFenced;
  // An administrator may requeue a job that has done its work.
  if (is_there(folder_ / "manifest.json")) return Beginning::kDone;
  if (!take_claim(identity)) return Beginning::kTaken;
  // The daemon raises the fence and then looks for a claim: one of the two sees the other.
  if (has_newer_attempt()) {
    fs::remove_all(folder_ / "claim");
    return Beginning::kFenced;
  }
  return Beginning::kOurs;
}

void AttemptClaim::clear_faults() const {
  fs::remove_all(folder_ / "faults");
  fs::remove(folder_ / "failed_host");
  fs::create_directory(folder_ / "faults");
}

std::optional<RankFault> AttemptClaim::first_fault() const {
  return parse_fault(text_of_file(folder_ / "faults/first"));
}

std::string AttemptClaim::host_of_fault(const std::string& rank) const {
  const auto fault = parse_fault(text_of_file(folder_ / "faults" / rank));
  return fault ? fault->host : "";
}

void AttemptClaim::blame_host(const std::string& host) const {
  if (!host.empty()) write_file(folder_ / "failed_host", host + "\n");
}

std::string AttemptClaim::log() const { return text_of_file(folder_ / "job.log"); }

std::string AttemptClaim::own_checkpoint() const {
  const fs::path checkpoint = folder_ / "checkpoint.mgc";
  return is_there(checkpoint) ? checkpoint.string() : "";
}

void record_fault(const fs::path& faults, int rank, const RankFault& fault) {
  write_once(faults / std::to_string(rank), fault_text(fault));
  write_once(faults / "first", fault_text(fault));
}

}  // namespace slurm
