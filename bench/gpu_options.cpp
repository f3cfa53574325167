#include "bench/gpu_options.h"

#include <cstdio>
#include <utility>

#include "engine/error.h"

namespace bench {
namespace {

// "5760x4092": width, height.
CaseOptions case_of(const std::string& size, const std::string& n) {
  CaseOptions c;
  char rest = 0;
  if (std::sscanf(size.c_str(), "%dx%d%c", &c.width, &c.height, &rest) != 2 ||
      std::sscanf(n.c_str(), "%d%c", &c.n, &rest) != 1 || c.n < 2 || c.n % 2 != 0 ||
      c.width < c.n || c.height < c.n) {
    throw engine::UsageError("'" + size + "' '" + n +
                             "' is no micrograph (5760x4092) with an even template (512) in it");
  }
  return c;
}

std::vector<SideOptions> all_sides() {
  return {{"cufft", "fp32"}, {"fused", "fp32"}, {"fused", "fp16"}};
}

using engine::cuda::ColumnGrid;
using engine::cuda::ColumnKernel;

constexpr std::pair<const char*, ColumnGrid> kGrids[] = {
    {"transforms-first", ColumnGrid::kTransformsFirst}, {"chunks-first", ColumnGrid::kChunksFirst}};
constexpr std::pair<const char*, ColumnKernel> kKernels[] = {{"in-two", ColumnKernel::kInTwo},
                                                             {"in-three", ColumnKernel::kInThree}};
constexpr std::pair<const char*, bool> kRows[] = {{"rows-ahead", true}, {"rows-in-turn", false}};

// Returns false where `word` is not among the words; throws where another of them came before.
template <typename Words, typename Value>
bool take_word(const std::string& word, const Words& words, std::optional<Value>& value) {
  for (const auto& [known, meaning] : words) {
    if (word != known) continue;
    if (value) throw engine::UsageError("--side: '" + word + "' comes after its alternative");
    value = meaning;
    return true;
  }
  return false;
}

// "fused:fp32".
SideOptions plain_side_of(const std::string& name) {
  std::string known;
  for (const SideOptions& side : all_sides()) {
    const std::string its_name = side.fft + ":" + side.precision;
    if (name == its_name) return side;
    known += (known.empty() ? "" : ", ") + its_name;
  }
  throw engine::UsageError("--side: '" + name + "' is none of " + known);
}

// "fused:fp32:chunks-first:in-three".
SideOptions side_of(const std::string& name) {
  size_t end = name.find(':', name.find(':') + 1);
  SideOptions side = plain_side_of(name.substr(0, end));
  while (end != std::string::npos) {
    const size_t begin = end + 1;
    end = name.find(':', begin);
    const std::string word = name.substr(begin, end - begin);
    if (side.fft != "fused") {
      throw engine::UsageError("--side: '" + name + "': '" + word +
                               "' is for the fused path alone");
    }
    if (!take_word(word, kGrids, side.columns.grid) &&
        !take_word(word, kKernels, side.columns.columns) &&
        !take_word(word, kRows, side.columns.rows_ahead)) {
      throw engine::UsageError("--side: '" + word +
                               "' is none of transforms-first, chunks-first, in-two, in-three, "
                               "rows-ahead, rows-in-turn");
    }
  }
  return side;
}

std::vector<CaseOptions> usual_cases() {
  return {{4096, 4096, 512}, {4096, 4096, 384}, {4092, 5760, 512}, {4092, 5760, 384}};
}

}  // namespace

std::string words_of(const engine::cuda::KernelWishes& columns) {
  std::string text;
  for (const auto& [word, grid] : kGrids) {
    if (columns.grid == grid) text = word;
  }
  for (const auto& [word, kernel] : kKernels) {
    if (columns.columns == kernel) text += (text.empty() ? "" : " ") + std::string(word);
  }
  for (const auto& [word, ahead] : kRows) {
    if (columns.rows_ahead == ahead) text += (text.empty() ? "" : " ") + std::string(word);
  }
  return text;
}

std::string usage() {
  return "usage: gpu_bench [--json FILE] [--rounds N] [--side FFT:PRECISION[:WORD]...]...\n"
         "                 [--case WIDTHxHEIGHT TEMPLATE]...\n"
         "       gpu_bench --facts [--json FILE]\n\n"
         "Correlations per second on CUDA device 0, every path and precision in turn, at the rate\n"
         "of a long search: a new maximum of a pixel is rare.\n"
         "Without --side: cufft:fp32, fused:fp32, fused:fp16.\n"
         "A side of the fused path may choose its kernels; without these words the plan chooses:\n"
         "  transforms-first, chunks-first  which blocks of the columns run side by side\n"
         "  in-two, in-three                the stages of their transforms: 2304 points have "
         "both,\n"
         "                                  other lengths three\n"
         "  rows-ahead, rows-in-turn        whether the last rows of a transform are read while "
         "those\n"
         "                                  before are worked on\n"
         "Without --case: 4096x4096 and 5760x4092 with templates of 512 and 384.\n"
         "--facts: what the device is, and how fast it copies; no case.\n"
         "A profiler that begins when the program asks for it sees the rounds alone.\n"
         "Ends with status 70 without a device, 71 for what does not fit its memory.\n";
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  size_t at = 0;
  const auto next = [&](const std::string& of) {
    if (at >= arguments.size()) throw engine::UsageError(of + " needs a value (see --help)");
    return arguments[at++];
  };
  while (at < arguments.size()) {
    const std::string& argument = arguments[at++];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--json") {
      options.json = next(argument);
    } else if (argument == "--facts") {
      options.facts = true;
    } else if (argument == "--side") {
      options.sides.push_back(side_of(next(argument)));
    } else if (argument == "--case") {
      const std::string size = next(argument);
      options.cases.push_back(case_of(size, next(argument)));
    } else if (argument == "--rounds") {
      const std::string text = next(argument);
      char rest = 0;
      if (std::sscanf(text.c_str(), "%d%c", &options.rounds, &rest) != 1 || options.rounds < 1) {
        throw engine::UsageError("--rounds: '" + text + "' is no number from 1");
      }
    } else {
      throw engine::UsageError("unknown argument '" + argument + "' (see --help)");
    }
  }
  if (options.cases.empty()) options.cases = usual_cases();
  if (options.sides.empty()) options.sides = all_sides();
  return options;
}

}  // namespace bench
