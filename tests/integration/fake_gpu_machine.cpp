#include "tests/integration/fake_gpu_machine.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tests {

namespace fs = std::filesystem;

FakeGpuMachine::FakeGpuMachine() {
  for (const char* folder : {"package/bin", "package/share/margay/selftest", "path", "home"}) {
    fs::create_directories(file(folder));
  }
  const fs::path source = MARGAY_SOURCE_DIR;
  fs::copy(source / "tools/gpu-check", file("package"));
  fs::copy(source / "tools/gpu_check", file("package/gpu_check"), fs::copy_options::recursive);
  fs::copy(source / "tests/data/lsu_crop.yaml", file("package/share/margay/selftest"));
  scratch_.write("package/FROM", "abcdef glibc 2.36 or newer driver 580 or newer");
  scratch_.write("clock", "0");
  for (const std::string tool :
       {"sh", "sleep", "cat", "mv", "sed", "head", "tr", "env", "readlink"}) {
    const fs::path bin = fs::exists("/bin/" + tool) ? "/bin" : "/usr/bin";
    fs::create_symlink(bin / tool, file("path/" + tool));
  }
  fs::create_symlink(kPython, file("path/python3"));
  for (const std::string name : {"nvidia-smi", "nvcc", "ldconfig", "ncu", "compute-sanitizer"}) {
    add("path/" + name);
  }
  for (const std::string name : {"margay-engine", "gpu_test", "gpu_bench"}) {
    add("package/bin/" + name);
  }
}

void FakeGpuMachine::add(const std::string& path) const {
  fs::create_symlink(fs::path(MARGAY_SOURCE_DIR) / "tests/fakes/fake_gpu_machine.sh", file(path));
}

void FakeGpuMachine::move_into_a_tree() {
  fs::create_directories(file("tree/tools"));
  fs::create_directories(file("tree/build"));
  fs::rename(file("package/gpu-check"), file("tree/tools/gpu-check"));
  fs::rename(file("package/gpu_check"), file("tree/tools/gpu_check"));
  fs::rename(file("package"), file("tree/build/gpu"));
  check_ = "tree/tools/gpu-check";
  add("path/git");
}

void FakeGpuMachine::remove(const std::string& path) const { fs::remove_all(file(path)); }

void FakeGpuMachine::script(const std::string& name, const std::string& text) const {
  scratch_.write(name + ".sh", text + "\n");
}

FakeGpuMachine::Strings FakeGpuMachine::command(const Strings& arguments,
                                                const Strings& more_environment) const {
  Strings words = {"/usr/bin/env",
                   "-i",
                   "PATH=" + file("path"),
                   "HOME=" + file("home"),
                   "TMPDIR=" + scratch_.path(),
                   "CUDA_HOME=" + file("cuda"),
                   "MARGAY_GPU_CHECK_ROOT=" + file("root"),
                   "FAKE_MACHINE=" + scratch_.path(),
                   "MARGAY_GPU_CHECK_CLOCK=" + file("clock")};
  words.insert(words.end(), more_environment.begin(), more_environment.end());
  words.insert(words.end(), {file(check_), "--results", file("results")});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Finished FakeGpuMachine::check(const Strings& arguments, const Strings& more_environment) const {
  return run_program(command(arguments, more_environment), scratch_.path());
}

Finished FakeGpuMachine::check_in_shell(const std::string& before, const std::string& after) const {
  std::string words;
  for (const std::string& word : command({}, {})) words += "'" + word + "' ";
  return run_program({"/bin/sh", "-c", before + words + after}, scratch_.path());
}

std::unique_ptr<Program> FakeGpuMachine::start(const Strings& arguments) const {
  return std::make_unique<Program>(command(arguments, {}), scratch_.path());
}

std::string FakeGpuMachine::result(const std::string& extension) const {
  if (!fs::exists(file("results"))) return "";
  for (const auto& entry : fs::directory_iterator(file("results"))) {
    if (entry.path().extension() == extension) return text_of(entry.path().string());
  }
  return "";
}

FakeGpuMachine::Strings FakeGpuMachine::calls() const {
  Strings lines;
  std::istringstream stream(text_of(file("calls")));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace tests
