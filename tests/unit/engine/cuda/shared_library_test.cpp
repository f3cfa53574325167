// A library that is opened when it is needed: where it is looked for, and the error without it.
#include "engine/cuda/shared_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cmath>
#include <filesystem>

#include "engine/error.h"
#include "tests/unit/engine/scratch.h"

namespace engine::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

LibrarySearch search(const std::vector<std::string>& names,
                     const std::vector<std::string>& folders) {
  return {
      .what = "The library of sines", .names = names, .folders = folders, .remedy = "install it"};
}

double sine_by(const SharedLibrary& library, double x) {
  double (*sine)(double) = nullptr;
  library.find("sin", sine);
  return sine(x);
}

// The message of a failure to open; empty where it opens.
std::string refused(const LibrarySearch& search) {
  try {
    const SharedLibrary library(search);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    return error.what();
  }
  return "";
}

// The path of a library that is open already.
std::string path_of(const char* name) {
  void* handle = dlopen(name, RTLD_NOW);
  link_map* map = nullptr;
  EXPECT_EQ(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
  return map->l_name;
}

TEST(SharedLibraryTest, OpensTheFirstNameThatTheSystemsLoaderKnows) {
  const SharedLibrary library(search({"libmargay-has-none.so.2", "libm.so.6"}, {}));
  EXPECT_DOUBLE_EQ(sine_by(library, 1.0), std::sin(1.0));
}

TEST(SharedLibraryTest, LooksInTheFoldersForWhatTheLoaderDoesNotKnow) {
  const ScratchFolder scratch;
  const std::string name = "libmargay-sines.so.1";
  std::filesystem::create_directory(scratch / "second");
  std::filesystem::create_symlink(path_of("libm.so.6"), scratch / "second/" + name);
  EXPECT_THAT(refused(search({name}, {scratch / "first"})), HasSubstr(name));
  const SharedLibrary library(search({name}, {scratch / "first", scratch / "second"}));
  EXPECT_DOUBLE_EQ(sine_by(library, 0.5), std::sin(0.5));
}

TEST(SharedLibraryTest, SaysWhichFilesItLookedForWhereAndWhatToDo) {
  EXPECT_THAT(refused(search({"libmargay-sines.so.2", "libmargay-sines.so.1"},
                             {"/nowhere/a", "/nowhere/b"})),
              AllOf(HasSubstr("The library of sines"), HasSubstr("libmargay-sines.so.2"),
                    HasSubstr("libmargay-sines.so.1"), HasSubstr("/nowhere/a, /nowhere/b"),
                    HasSubstr("To do: install it")));
}

TEST(SharedLibraryTest, SaysWhyAFileThatIsThereCannotBeOpened) {
  const ScratchFolder scratch;
  write_file(scratch / "libmargay-sines.so.1", "no library");
  EXPECT_THAT(refused(search({"libmargay-sines.so.2", "libmargay-sines.so.1"}, {scratch / ""})),
              AllOf(HasSubstr("file too short"), Not(HasSubstr("No such file"))));
}

TEST(SharedLibraryTest, NamesTheFunctionThatALibraryLacks) {
  const SharedLibrary library(search({"libm.so.6"}, {}));
  try {
    void (*function)() = nullptr;
    library.find("margay_has_no_such_function", function);
    FAIL() << "a function of libm that does not exist was found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("libm.so.6"), HasSubstr("margay_has_no_such_function"),
                      HasSubstr("install it")));
  }
}

}  // namespace
}  // namespace engine::cuda
