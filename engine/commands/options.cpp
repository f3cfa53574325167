#include "engine/commands/options.h"

#include "base/cli_pages.h"
#include "engine/io/duration.h"

namespace engine {

CLI::Validator one_of(const std::vector<std::string>& names) {
  CLI::Validator words = CLI::IsMember(names);
  return words.description("").name(base::name_of_words(names));
}

void add_config(CLI::App& command, std::string& config, const std::string& description) {
  command.add_option("CONFIG", config, description)->required()->type_name("FILE");
}

CLI::Option& add_file(CLI::App& command, const std::string& name, std::string& path,
                      const std::string& description) {
  return *command.add_option(name, path, description)->type_name("FILE");
}

void add_number(CLI::App& command, const std::string& name, double& value, double smallest,
                double largest, const std::string& description) {
  command.add_option(name, value, description)
      ->transform(range(smallest, largest))
      ->type_name("NUMBER")
      ->capture_default_str();
}

void add_choice_of_number(CLI::App& command, const std::string& name, std::optional<double>& value,
                          double smallest, double largest, const std::string& description) {
  command
      .add_option_function<double>(
          name, [&value](double given) { value = given; }, description)
      ->transform(range(smallest, largest))
      ->type_name("NUMBER");
}

void add_choice(CLI::App& command, const std::string& name, std::string& value,
                const std::vector<std::string>& names, const std::string& description) {
  command.add_option(name, value, description)
      ->check(one_of(names))
      ->type_name("NAME")
      ->capture_default_str();
}

CLI::Option& add_count(CLI::App& command, const std::string& name, int& value, int smallest,
                       int largest, const std::string& description) {
  return *command.add_option(name, value, description)
              ->transform(range(smallest, largest))
              ->type_name("N");
}

void add_choice_of_count(CLI::App& command, const std::string& name, std::optional<int>& value,
                         int smallest, int largest, const std::string& description) {
  command.add_option(name, value, description)->transform(range(smallest, largest))->type_name("N");
}

void add_duration(CLI::App& command, const std::string& name, std::chrono::milliseconds& value,
                  const std::string& description) {
  const auto read = [name, &value](const std::string& text) { value = parse_duration(text, name); };
  command.add_option_function<std::string>(name, read, description)->type_name("TIME");
}

void add_device_options(CLI::App& command, DeviceOptions& device) {
  add_choice(
      command, "--backend", device.backend, {"auto", "cuda", "cpu"},
      "Search on cuda, cpu or auto, which takes the CPU only where there is no NVIDIA device");
  add_choice(command, "--fft", device.fft, {"auto", "fused", "fftw", "cufft"},
             "Transform by fused (Margay's own; on a CUDA device for templates that fit), on the "
             "processor also by fftw, where this build has it, on a CUDA device also by cufft; "
             "auto: fused where the template and the device allow it, else cufft");
  add_choice(command, "--precision", device.precision, {"fp32", "fp16"},
             "Compute in fp32; on a CUDA device also in fp16; the error is measured and reported");
  add_count(command, "--threads", device.threads, 0, 4096, "CPU threads (0 = every core)")
      .capture_default_str();
  add_count(command, "--batch", device.batch, 0, 1 << 20,
            "Batch size in units of work (0 = automatic)")
      .capture_default_str();
  add_number(command, "--memory", device.memory, kUsualGigabytes, 1e5,
             "GB that each rank on the processor may use for fused transforms, which are faster in "
             "larger groups; a search that needs more takes what it needs");
}

void add_mismatch_flag(CLI::App& command, bool& flag) {
  command.add_flag("--allow-pixel-size-mismatch", flag,
                   "Use the configuration's pixel size where a header contradicts it");
}

void add_peak_options(CLI::App& command, PeakChoice& peaks) {
  command
      .add_option_function<std::string>(
          "--metric",
          [&peaks](const std::string& name) {
            peaks.metric = name == "mip" ? PeakMetric::kMip : PeakMetric::kScaledMip;
          },
          "Pick peaks on scaled-mip, or on mip for templates of high symmetry (default: as the "
          "configuration says, else scaled-mip)")
      ->check(one_of({"scaled-mip", "mip"}))
      ->type_name("NAME");
  add_choice_of_number(command, "--false-positives", peaks.false_positives, 1e-12, 1e6,
                       "Expected number of false peaks per micrograph (default: as the "
                       "configuration says, else 1)");
  add_choice_of_number(command, "--mask-radius", peaks.mask_radius, 0, 1e6,
                       "Pick no peak within this many pixels of a higher one (default: the "
                       "configuration's particle_radius, else Leopard-EM's 5)");
}

}  // namespace engine
