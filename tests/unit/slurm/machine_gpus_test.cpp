#include "slurm/machine_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/scratch_folder.h"

namespace slurm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTwo =
    "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaa-1)\n"
    "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbb-2)\n";
constexpr const char* kSplit =
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaa-1)\n"
    "  MIG 3g.20gb     Device  0: (UUID: MIG-cccc-3)\n"
    "  MIG 3g.20gb     Device  1: (UUID: MIG-dddd-4)\n"
    "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbb-2)\n";
constexpr const char* kMixed =
    "GPU 0: NVIDIA T4 (UUID: GPU-aaaa-1)\n"
    "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbbb-2)\n";

std::vector<std::string> ids_of(const std::vector<Gpu>& gpus) {
  std::vector<std::string> ids;
  for (const Gpu& gpu : gpus) ids.push_back(gpu.id);
  return ids;
}

std::vector<std::string> chosen(const char* list, const GpuChoice& choice) {
  return ids_of(choose_gpus(parse_gpu_list(list), choice));
}

std::vector<std::string> visible(const char* list, const std::string& names,
                                 const std::string& order = "") {
  return ids_of(choose_gpus(visible_gpus(parse_gpu_list(list), names, order), {}));
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const GpuError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(GpuList, IsReadWithModelsAndThePartsOfMig) {
  const auto gpus = parse_gpu_list(kSplit);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].whole, (Gpu{"GPU-aaaa-1", "NVIDIA A100-SXM4-40GB"}));
  EXPECT_THAT(gpus[0].parts, ElementsAre(Gpu{"MIG-cccc-3", "NVIDIA A100-SXM4-40GB MIG 3g.20gb"},
                                         Gpu{"MIG-dddd-4", "NVIDIA A100-SXM4-40GB MIG 3g.20gb"}));
  EXPECT_THAT(gpus[1].parts, IsEmpty());
  EXPECT_THAT(chosen(kSplit, {}), ElementsAre("MIG-cccc-3", "MIG-dddd-4", "GPU-bbbb-2"));
}

TEST(GpuList, LeavesOutWhatIsNoGpu) {
  EXPECT_THAT(parse_gpu_list(""), IsEmpty());
  EXPECT_THAT(parse_gpu_list("No devices were found\n"), IsEmpty());
  EXPECT_THAT(parse_gpu_list("Unable to determine the device handle for gpu 0000:05:00.0: GPU is "
                             "lost.  Reboot the system to recover this GPU\n"),
              IsEmpty());
  EXPECT_THAT(parse_gpu_list("GPU 0: A (UUID: )\nGPU 0: A (UUID: GPU-1\nGPU 0 A (UUID: GPU-1)\n"
                             "GPU 0: A (UUID: GPU-1,GPU-2)\n  MIG 1g Device 0: (UUID: MIG-1)\n"),
              IsEmpty());
}

TEST(GpuChoice, IsAllOrTheFirstOnesOrThoseThatAreNamed) {
  EXPECT_THAT(chosen(kTwo, {}), ElementsAre("GPU-aaaa-1", "GPU-bbbb-2"));
  EXPECT_THAT(chosen(kTwo, {.count = 1}), ElementsAre("GPU-aaaa-1"));
  EXPECT_THAT(chosen(kTwo, {.count = 0}), IsEmpty());
  EXPECT_THAT(chosen(kTwo, {.named = {"1"}}), ElementsAre("GPU-bbbb-2"));
  EXPECT_THAT(chosen(kTwo, {.named = {"GPU-bb", "0"}}), ElementsAre("GPU-bbbb-2", "GPU-aaaa-1"));
  EXPECT_THAT(chosen(kSplit, {.named = {"MIG-dd"}}), ElementsAre("MIG-dddd-4"));
  EXPECT_THAT(chosen(kSplit, {.named = {"0"}}), ElementsAre("MIG-cccc-3", "MIG-dddd-4"));
  EXPECT_THAT(chosen(kSplit, {.count = 2}), ElementsAre("MIG-cccc-3", "MIG-dddd-4"));
}

TEST(GpuChoice, OfWhatIsNotThereIsRefused) {
  EXPECT_EQ(refusal([] { chosen(kTwo, {.count = 3}); }), "asks for 3 GPUs, and this machine has 2");
  EXPECT_THAT(refusal([] { chosen(kTwo, {.named = {"2"}}); }), HasSubstr("names '2'"));
  EXPECT_THAT(refusal([] { chosen(kTwo, {.named = {"GPU-"}}); }), HasSubstr("names 'GPU-'"))
      << "it is the beginning of two";
  EXPECT_THAT(refusal([] { chosen(kTwo, {.named = {""}}); }), HasSubstr("names ''"));
  EXPECT_THAT(refusal([] { chosen(kTwo, {.named = {"99999999999999999999"}}); }),
              HasSubstr("which is not one GPU of this machine"));
  EXPECT_THAT(refusal([] {
                chosen(kTwo, {.named = {"0", "GPU-aaaa"}});
              }),
              HasSubstr("names the GPU GPU-aaaa-1 twice"));
}

TEST(VisibleGpus, AreTheEntriesUpToTheFirstThatIsNone) {
  EXPECT_THAT(visible(kTwo, "1,0"), ElementsAre("GPU-bbbb-2", "GPU-aaaa-1"));
  EXPECT_THAT(visible(kTwo, "GPU-bbbb-2"), ElementsAre("GPU-bbbb-2"));
  EXPECT_THAT(visible(kTwo, "1,-1,0"), ElementsAre("GPU-bbbb-2"));
  EXPECT_THAT(visible(kTwo, "0,7,1"), ElementsAre("GPU-aaaa-1"));
  EXPECT_THAT(visible(kTwo, ""), IsEmpty());
  EXPECT_THAT(visible(kTwo, "NoDevFiles"), IsEmpty());
  EXPECT_THAT(visible(kSplit, "MIG-cccc-3"), ElementsAre("MIG-cccc-3"));
  EXPECT_THAT(visible(kSplit, "0"), ElementsAre("MIG-cccc-3", "MIG-dddd-4"));
}

TEST(VisibleGpus, OfDifferentModelsAreNumberedInOneOrderOnly) {
  EXPECT_THAT(refusal([] { visible(kMixed, "0"); }),
              AllOf(HasSubstr("CUDA_VISIBLE_DEVICES=0"), HasSubstr("by UUID"),
                    HasSubstr("CUDA_DEVICE_ORDER=PCI_BUS_ID")));
  EXPECT_THAT(visible(kMixed, "0", "PCI_BUS_ID"), ElementsAre("GPU-aaaa-1"));
  EXPECT_THAT(visible(kMixed, "GPU-bb"), ElementsAre("GPU-bbbb-2"));
}

class FoundGpus : public testing::Test {
 protected:
  FoundGpus() {
    std::filesystem::create_directory(folder_ / "dev");
    sources_.nvidia_smi = folder_ / "nvidia-smi";
    sources_.devices = folder_ / "dev";
  }

  void nvidia_smi(const std::string& does) {
    folder_.write("nvidia-smi", "#!/bin/sh\n[ \"$*\" = -L ] || exit 3\n" + does + "\n");
    std::filesystem::permissions(folder_ / "nvidia-smi", std::filesystem::perms::owner_all);
  }

  std::vector<std::string> ids() { return ids_of(choose_gpus(find_gpus(sources_).gpus, {})); }

  tests::ScratchFolder folder_;
  GpuSources sources_;
};

TEST_F(FoundGpus, AreNoneOnAMachineWithoutThemAndNothingIsSaid) {
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_EQ(find_gpus(sources_).note, "");
  nvidia_smi("echo 'No devices were found'");
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_EQ(find_gpus(sources_).note, "");
}

TEST_F(FoundGpus, AreThoseThatNvidiaSmiLists) {
  nvidia_smi("cat << END\n" + std::string(kSplit) + "END");
  EXPECT_THAT(ids(), ElementsAre("MIG-cccc-3", "MIG-dddd-4", "GPU-bbbb-2"));
  EXPECT_EQ(find_gpus(sources_).note, "");
  sources_.visible = "1";
  EXPECT_THAT(ids(), ElementsAre("GPU-bbbb-2"));
  EXPECT_EQ(find_gpus(sources_).note, "CUDA_VISIBLE_DEVICES=1 leaves 1 of 2 GPUs");
  sources_.visible = "";
  EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(FoundGpus, OfWhichOneIsLostAreTheOthers) {
  nvidia_smi("echo 'GPU 1: A (UUID: GPU-b)'\necho 'GPU 0 is lost' >&2\nexit 15");
  EXPECT_THAT(ids(), ElementsAre("GPU-b"));
  EXPECT_THAT(find_gpus(sources_).note, HasSubstr("GPU 0 is lost"));
}

TEST_F(FoundGpus, AreThoseOfTheDriversFilesWhereNvidiaSmiFails) {
  for (const char* name : {"nvidia0", "nvidia7", "nvidiactl", "nvidia-uvm", "null"}) {
    folder_.write(std::string("dev/") + name, "");
  }
  EXPECT_THAT(ids(), ElementsAre("0", "1"));
  EXPECT_THAT(find_gpus(sources_).note, HasSubstr("by number"));
  nvidia_smi("echo 'Driver/library version mismatch' >&2\nexit 18");
  EXPECT_THAT(ids(), ElementsAre("0", "1"));
  EXPECT_THAT(find_gpus(sources_).note, HasSubstr("Driver/library version mismatch"));
  sources_.visible = "1";
  EXPECT_THAT(ids(), ElementsAre("1"));
}

TEST_F(FoundGpus, AreNoneWhereNvidiaSmiFailsAndItSaysWhy) {
  nvidia_smi(
      "echo 'NVIDIA-SMI has failed because it could not communicate with the driver'\nexit 9");
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(find_gpus(sources_).note, HasSubstr("could not communicate with the driver"));
}

}  // namespace
}  // namespace slurm
