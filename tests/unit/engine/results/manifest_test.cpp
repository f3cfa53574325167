#include "engine/results/manifest.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/json.h"
#include "base/sha256.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kHashOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

// A finished search whose files all hold "abc".
Manifest finished(const ScratchFolder& folder) {
  Manifest manifest;
  SearchConfig& config = manifest.config;
  config.path = folder.file("config.yaml");
  config.micrograph_path = folder.file("micrograph.mrc");
  config.template_volume_path = folder.file("template.mrc");
  config.optics.pixel_size = 1.06;
  OutputPaths& paths = manifest.outputs;
  paths.maps = {.mip = folder.file("mip.mrc"),
                .scaled_mip = folder.file("scaled_mip.mrc"),
                .correlation_average = folder.file("mean.mrc"),
                .correlation_variance = folder.file("sd.mrc"),
                .orientation_psi = folder.file("psi.mrc"),
                .orientation_theta = folder.file("theta.mrc"),
                .orientation_phi = folder.file("phi.mrc"),
                .relative_defocus = folder.file("defocus.mrc")};
  config.results = paths.maps;
  paths.csv = folder.file("peaks.csv");
  paths.manifest = folder.file("manifest.json");
  manifest.pictures = {{"z_histogram", folder.file("z_histogram.png")}};
  for (const std::string& path :
       {config.path, config.micrograph_path, config.template_volume_path, paths.maps.mip,
        paths.maps.scaled_mip, paths.maps.correlation_average, paths.maps.correlation_variance,
        paths.maps.orientation_psi, paths.maps.orientation_theta, paths.maps.orientation_phi,
        paths.maps.relative_defocus, paths.csv, manifest.pictures[0].second}) {
    write_file(path, "abc");
  }
  const InputFiles files{.micrograph = {.sha256 = kHashOfAbc}, .volume = {.sha256 = kHashOfAbc}};
  manifest.input_hashes = hash_inputs(config, files);
  manifest.attempt = "12/3/5f";
  manifest.device = {.backend = "cpu",
                     .name = "a processor",
                     .instruction_set = "AVX2",
                     .threads = 2,
                     .libraries = {{"fftw", "3.3.10"}},
                     .transforms = {"fftw fp32"}};
  manifest.timings = {.search = 10.0, .started = "2026-01-01T00:00:00Z"};
  manifest.orientations = 130;
  manifest.defocus_planes = 3;
  manifest.correlations = 390;
  manifest.units = 130;
  manifest.resumed_units = 65;
  manifest.peaks = 3;
  manifest.cutoff = 6.5;
  return manifest;
}

TEST(HashInputs, IsOfTheFilesThatWereReadWhateverIsInTheirPlaceByThen) {
  const ScratchFolder folder;
  SearchConfig config;
  config.micrograph_path = folder.file("micrograph.mrc");
  config.template_volume_path = folder.file("template.mrc");
  config.optics.pixel_size = 2.0;
  Image image(6, 8, 1.0f);
  image.pixels[0] = 2.0f;
  Volume volume{.size = 4, .voxels = std::vector<float>(64, 1.0f)};
  volume.voxels[0] = 2.0f;
  write_mrc(config.micrograph_path, image, 2.0);
  write_mrc(config.template_volume_path, volume, 2.0);
  const std::string micrograph = base::sha256_of_file(config.micrograph_path);
  const std::string read_volume = base::sha256_of_file(config.template_volume_path);
  const InputFiles files = read_inputs(config, false);
  write_file(config.micrograph_path, "abc");
  write_file(config.template_volume_path, "abc");
  const InputHashes hashes = hash_inputs(config, files);
  EXPECT_EQ(hashes.micrograph, micrograph);
  EXPECT_EQ(hashes.volume, read_volume);
}

TEST(WriteManifest, SaysWhatWasReadAndWrittenAndHow) {
  const ScratchFolder folder;
  const Manifest manifest = finished(folder);
  write_manifest(manifest);
  const json text = json::parse(read_file(folder.file("manifest.json")));
  EXPECT_EQ(text["format"], 1);
  EXPECT_EQ(text["program"], "margay-engine");
  EXPECT_EQ(text["version"], MARGAY_VERSION);
  EXPECT_EQ(text["status"], "done");
  EXPECT_EQ(text["attempt"], "12/3/5f");
  EXPECT_FALSE(text["host"].get<std::string>().empty());
  EXPECT_EQ(text["device"]["libraries"]["fftw"], "3.3.10");
  EXPECT_EQ(text["device"]["transforms"], json::array({"fftw fp32"}));
  EXPECT_EQ(text["precision"], "fp32");
  EXPECT_TRUE(text["precision_error"].is_null());
  EXPECT_EQ(text["fft"], "fftw");
  EXPECT_TRUE(text["tiling"].is_null());
  EXPECT_EQ(text["inputs"]["micrograph"]["path"], folder.file("micrograph.mrc"));
  for (const char* name : {"configuration", "micrograph", "template"}) {
    EXPECT_EQ(text["inputs"][name]["sha256"], kHashOfAbc) << name;
  }
  for (const char* name :
       {"mip", "scaled_mip", "correlation_average", "correlation_variance", "orientation_psi",
        "orientation_theta", "orientation_phi", "relative_defocus", "peaks_csv"}) {
    EXPECT_EQ(text["outputs"][name]["sha256"], kHashOfAbc) << name;
    EXPECT_EQ(text["outputs"][name]["bytes"], 3) << name;
  }
  EXPECT_EQ(text["pictures"]["z_histogram"]["path"], folder.file("z_histogram.png"));
  EXPECT_EQ(text["counts"]["orientations"], 130);
  EXPECT_EQ(text["counts"]["defocus_planes"], 3);
  EXPECT_EQ(text["peaks"]["count"], 3);
  EXPECT_EQ(text["peaks"]["metric"], "scaled-mip");
}

TEST(WriteManifest, SaysWhatEachRankDid) {
  const ScratchFolder folder;
  Manifest manifest = finished(folder);
  manifest.rank_0_correlations = 100;
  manifest.other_ranks = {{.rank = 1, .host = "n2", .device = "a device", .correlations = 95}};
  const json text = json::parse(manifest_json(manifest));
  EXPECT_EQ(text["counts"]["rank_0_correlations"], 100);
  EXPECT_EQ(
      text["other_ranks"],
      json::array({{{"rank", 1}, {"host", "n2"}, {"device", "a device"}, {"correlations", 95}}}));
}

TEST(WriteManifest, SaysWhatAReducedPrecisionCosts) {
  const ScratchFolder folder;
  Manifest manifest = finished(folder);
  manifest.precision = "fp16";
  manifest.precision_error = {.units = 16, .rms = 0.25, .largest = 0.5};
  manifest.fft = "fused";
  manifest.tiling = "4 tiles of 2304 x 2304 pixels";
  const json text = json::parse(manifest_json(manifest));
  EXPECT_EQ(text["precision"], "fp16");
  EXPECT_EQ(text["precision_error"],
            (json{{"units", 16}, {"mip_rms", 0.25}, {"mip_largest", 0.5}}));
  EXPECT_EQ(text["fft"], "fused");
  EXPECT_EQ(text["tiling"], "4 tiles of 2304 x 2304 pixels");
}

TEST(WriteManifest, TheRateCountsOnlyWhatThisAttemptDid) {
  const ScratchFolder folder;
  const json text = json::parse(manifest_json(finished(folder)));
  EXPECT_DOUBLE_EQ(text["timings"]["correlations_per_second"].get<double>(), 19.5);
}

TEST(WriteManifest, PathsAreAbsolute) {
  const ScratchFolder folder;
  Manifest manifest = finished(folder);
  const std::string relative = std::filesystem::relative(folder.file("mip.mrc")).string();
  ASSERT_NE(relative.front(), '/');
  manifest.outputs.maps.mip = relative;
  EXPECT_EQ(json::parse(manifest_json(manifest))["outputs"]["mip"]["path"],
            std::filesystem::canonical(folder.path()).string() + "/mip.mrc");
}

TEST(WriteManifest, NamesThatAreNotUtf8DoNotStopIt) {
  const ScratchFolder folder;
  Manifest manifest = finished(folder);
  const std::string strange = folder.file("\xff\xfe odd\n.csv");
  write_file(strange, "abc");
  manifest.outputs.csv = strange;
  manifest.notes = {"about \xff"};
  const json text = json::parse(manifest_json(manifest));
  EXPECT_THAT(text["outputs"]["peaks_csv"]["path"].get<std::string>(), HasSubstr("\uFFFD odd\n"));
}

TEST(WriteManifest, AMissingMapIsNamedAndNoManifestAppears) {
  const ScratchFolder folder;
  const Manifest manifest = finished(folder);
  std::filesystem::remove(folder.file("theta.mrc"));
  EXPECT_THAT(refusal([&] { write_manifest(manifest); }), HasSubstr("theta.mrc"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("manifest.json")));
}

TEST(ReadSearchedMaps, GivesWhatWasWritten) {
  const ScratchFolder folder;
  write_manifest(finished(folder));
  EXPECT_EQ(read_searched_maps(folder.file("manifest.json"), "scaled_mip.mrc")->correlations, 390);
  EXPECT_FALSE(read_searched_maps(folder.file("manifest.json"), "other_scaled_mip.mrc"));
}

TEST(ReadSearchedMaps, GivesTheGridOfTheSearch) {
  const ScratchFolder folder;
  const std::string path = folder.file("manifest.json");
  const auto grid = [&] { return read_searched_maps(path, "scaled_mip.mrc")->grid; };
  Manifest manifest = finished(folder);
  write_manifest(manifest);
  EXPECT_FALSE(grid());
  manifest.micrograph_height = 1000;
  manifest.micrograph_width = 1000;
  manifest.template_size = 128;
  manifest.grid = SearchGrid{.height = 750, .width = 750, .template_size = 96};
  manifest.crop_error = CropError{.units = 16, .rms = 0.25, .largest = 0.5, .lower = 0.125};
  write_manifest(manifest);
  ASSERT_TRUE(grid());
  EXPECT_EQ(grid()->to, 3);
  EXPECT_EQ(grid()->of, 4);
  const json crop = json::parse(read_file(path))["fourier_crop"];
  EXPECT_EQ(crop["units"], 16);
  EXPECT_EQ(crop["mip_rms"], 0.25);
  EXPECT_EQ(crop["peaks_lower"], 0.125);
  for (const int size : {-96, 0, 128, 200}) {
    manifest.grid->template_size = size;
    write_manifest(manifest);
    EXPECT_THAT(refusal([&] { grid(); }),
                testing::AllOf(HasSubstr("manifest.json"), HasSubstr("fourier_crop")))
        << size;
  }
  manifest.grid->template_size = 96;
  for (const int64_t side : {int64_t{0}, int64_t{-5}, int64_t{1} << 30, int64_t{1} << 40}) {
    write_manifest(manifest);
    json forged = json::parse(read_file(path));
    forged["inputs"]["micrograph"]["height"] = side;
    write_file(path, forged.dump());
    EXPECT_THAT(refusal([&] { grid(); }), HasSubstr("manifest.json")) << side;
  }
}

TEST(ReadSearchedMaps, AbsentIsNoErrorAndDamagedIsOne) {
  const ScratchFolder folder;
  EXPECT_FALSE(read_searched_maps(folder.file("manifest.json"), "scaled_mip.mrc"));
  for (const char* damaged :
       {"", "{\"format\":1", "[]", "{\"format\":1,\"counts\":{}}", "null", "{\"format\":\"one\"}",
        "{\"format\":1e27}", "{\"format\":1,\"counts\":{\"correlations\":-1e27}}"}) {
    write_file(folder.file("manifest.json"), damaged);
    EXPECT_THAT(
        refusal([&] { read_searched_maps(folder.file("manifest.json"), "scaled_mip.mrc"); }),
        HasSubstr("manifest.json"))
        << damaged;
  }
  write_file(folder.file("manifest.json"), "{\"format\":1,\"counts\":{\"correlations\":-1e27}}");
  EXPECT_THAT(refusal([&] { read_searched_maps(folder.file("manifest.json"), "scaled_mip.mrc"); }),
              HasSubstr("'correlations' must be a whole number in range"));
  write_file(folder.file("manifest.json"), "{\"format\":2}");
  EXPECT_THAT(refusal([&] { read_searched_maps(folder.file("manifest.json"), "scaled_mip.mrc"); }),
              HasSubstr("newer margay-engine"));
}

}  // namespace
}  // namespace engine
