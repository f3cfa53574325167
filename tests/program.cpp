#include "tests/program.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace tests {
namespace {

std::string scratch_file() {
  std::string name = (std::filesystem::temp_directory_path() / "margay-test-XXXXXX").string();
  const int fd = mkstemp(name.data());
  if (fd < 0) throw std::system_error(errno, std::generic_category(), name);
  close(fd);
  return name;
}

std::string read_and_remove(const std::string& path) {
  std::string text = text_of(path);
  std::filesystem::remove(path);
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

const passwd& entry_of(const std::string& user) {
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr) throw std::runtime_error("there is no user " + user);
  return *entry;
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const std::string& folder,
                 const std::vector<std::string>& extra_environment)
    : output_path_(scratch_file()), error_path_(scratch_file()) {
  std::vector<std::string> argument_copy = arguments;
  std::vector<std::string> environment = extra_environment;
  for (char** e = environ; *e != nullptr; ++e) environment.emplace_back(*e);
  const std::vector<char*> argv = pointers(argument_copy);
  const std::vector<char*> envp = pointers(environment);
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    const int in = open("/dev/null", O_RDONLY);
    const int out = open(output_path_.c_str(), O_WRONLY | O_TRUNC);
    const int err = open(error_path_.c_str(), O_WRONLY | O_TRUNC);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (chdir(folder.c_str()) != 0) _exit(126);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
}

Program::~Program() {
  if (!finished_) {
    kill(pid_, SIGKILL);
    wait();
  }
}

void Program::signal(int number) const { kill(pid_, number); }

void Program::collect(int status) {
  Finished f;
  if (WIFEXITED(status)) f.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) f.signal = WTERMSIG(status);
  f.output = read_and_remove(output_path_);
  f.error = read_and_remove(error_path_);
  finished_ = f;
}

bool Program::running() {
  int status = 0;
  if (!finished_ && waitpid(pid_, &status, WNOHANG) == pid_) collect(status);
  return !finished_;
}

Finished Program::wait() {
  int status = 0;
  while (!finished_) {
    if (waitpid(pid_, &status, 0) == pid_) {
      collect(status);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waitpid");
    }
  }
  return *finished_;
}

std::string Program::error_so_far() const { return finished_ ? "" : text_of(error_path_); }

std::string text_of_process(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Finished run_program(const std::vector<std::string>& arguments, const std::string& folder,
                     const std::vector<std::string>& extra_environment) {
  return Program(arguments, folder, extra_environment).wait();
}

std::vector<std::string> become(const std::string& user) {
  if (user.empty() || entry_of(user).pw_uid == geteuid()) return {};
  return {"/usr/bin/setpriv", "--reuid", user, "--regid", std::to_string(entry_of(user).pw_gid),
          "--clear-groups"};
}

void give_file(const std::string& path, const std::string& user) {
  if (geteuid() != 0) return;
  const passwd& entry = entry_of(user);
  if (chown(path.c_str(), entry.pw_uid, entry.pw_gid) != 0) {
    throw std::system_error(errno, std::generic_category(), "giving " + path + " to " + user);
  }
}

}  // namespace tests
