#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/config/config_reader.h"
#include "engine/config/with_results_in.h"
#include "tests/unit/engine/config/search_yaml.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(Config, EmptySectionsMeanTheDefaults) {
  const SearchConfig config = Yaml().parse();
  EXPECT_EQ(config.micrograph_path, "image.mrc");
  EXPECT_EQ(config.optics.label, "some label");
  EXPECT_EQ(config.optics.spherical_aberration, 2.7);
  EXPECT_EQ(config.optics.amplitude_contrast_ratio, 0.07);
  EXPECT_EQ(config.defocus.min, -1000.0);
  EXPECT_EQ(config.defocus.step, 200.0);
  ASSERT_THAT(config.orientations, SizeIs(1));
  EXPECT_EQ(config.orientations[0].psi_step, 1.5);
  EXPECT_EQ(config.orientations[0].theta_step, 2.5);
  EXPECT_EQ(config.orientations[0].symmetry, "C1");
  EXPECT_TRUE(config.filters.whitening.enabled);
  EXPECT_EQ(config.filters.whitening.max_freq, 0.5);
  EXPECT_TRUE(config.filters.whitening.do_power_spectrum);
  EXPECT_FALSE(config.filters.bandpass.enabled);
  EXPECT_FALSE(config.results.allow_file_overwrite);
  EXPECT_EQ(config.results.relative_defocus, "defocus.mrc");
  EXPECT_THAT(config.computation.gpu_ids, ElementsAre("0"));
  EXPECT_THAT(config.notes, IsEmpty());
}

// The shape that Leopard-EM 1.0 and 1.1 published, with keys that were renamed since.
TEST(Config, PublishedExamplesWithNullsAndOldZernikeNamesAreRead) {
  Yaml yaml;
  yaml.top += "micrograph: null\ntemplate_volume: null\n";
  yaml.optics +=
      "  ctf_B_factor: 60.0\n  phase_shift: 0.0\n  chromatic_aberration: 0.0\n"
      "  mtf_reference: null\n  mtf_values: null\n  beam_tilt_x: null\n  beam_tilt_y: null\n"
      "  odd_zernike: null\n  even_zernike: null\n  zernike_moments: null\n"
      "  odd_zernikes: null\n  even_zernikes: null\n  mag_matrix: null\n";
  yaml.defocus = "{enabled: true, defocus_max: 1200.0, defocus_min: -1200.0, defocus_step: 200.0}";
  yaml.orientation =
      "{psi_step: 1.5, theta_step: 2.5, phi_min: null, phi_max: null, theta_min: null, "
      "theta_max: null, psi_min: null, psi_max: null, base_grid_method: uniform, symmetry: C1}";
  yaml.filters =
      "{whitening_filter: {enabled: true, num_freq_bins: null, max_freq: 0.5, "
      "do_power_spectrum: true}, bandpass_filter: {enabled: false, low_freq_cutoff: null, "
      "high_freq_cutoff: null, falloff: null}, phase_randomization_filter: {enabled: false, "
      "cuton: null}, arbitrary_curve_filter: {enabled: false, frequencies: null, "
      "amplitudes: null}}";
  yaml.results += "  total_projections: 0\n  total_orientations: 0\n  total_defocus: 0\n";
  yaml.computation = "{gpu_ids: [0, 1], num_cpus: 4, backend: streamed}";
  const SearchConfig config = yaml.parse();
  EXPECT_EQ(config.optics.ctf_b_factor, 60.0);
  EXPECT_THAT(defocus_planes(config.defocus), SizeIs(13));
  EXPECT_THAT(config.computation.gpu_ids, ElementsAre("0", "1"));
  EXPECT_EQ(config.filters.bandpass.high_freq_cutoff, 1.0);
  EXPECT_THAT(config.notes, ElementsAre(HasSubstr("num_cpus")));
}

TEST(Config, ValuesAreCoercedAsLeopardDoes) {
  Yaml yaml = with_optics("phase_shift: '90.5'\n  ctf_B_factor: 1_000");
  yaml.filters =
      "{whitening_filter: {enabled: 'no', num_freq_bins: 200.0}, "
      "bandpass_filter: {enabled: 1, falloff: 0}}";
  yaml.defocus = "{enabled: yes, skip_enforce_zero: 'True', defocus_step: '2e2'}";
  const SearchConfig config = yaml.parse();
  EXPECT_EQ(config.optics.phase_shift, 90.5);
  EXPECT_EQ(config.optics.ctf_b_factor, 1000);
  EXPECT_FALSE(config.filters.whitening.enabled);
  EXPECT_EQ(config.filters.whitening.num_freq_bins, 200);
  EXPECT_TRUE(config.filters.bandpass.enabled);
  EXPECT_TRUE(config.defocus.enabled);
  EXPECT_TRUE(config.defocus.skip_enforce_zero);
  EXPECT_EQ(config.defocus.step, 200.0);
}

TEST(Config, AnUnknownKeyIsRefusedWithFileLinePathAndNearestKey) {
  EXPECT_THAT(
      with_optics("spherical_abberation: 2.7").refusal(),
      AllOf(HasSubstr("'search.yaml' line 10"), HasSubstr("optics_group.spherical_abberation"),
            HasSubstr("did you mean 'spherical_aberration'?")));
  EXPECT_THAT(with_top("pixel_size_search_config: {}").refusal(),
              HasSubstr("unknown key 'pixel_size_search_config'"));
  EXPECT_THAT(with_filters("{whitening_filter: {enable: true}}").refusal(),
              AllOf(HasSubstr("preprocessing_filters.whitening_filter.enable'"),
                    HasSubstr("did you mean 'enabled'?")));
  EXPECT_THAT(with_results("allow_file_overwrit: true").refusal(),
              HasSubstr("did you mean 'allow_file_overwrite'?"));
}

TEST(Config, AnUnknownKeyOfTheComputationIsOnlyNoted) {
  const SearchConfig config = with_computation("{num_cpu: 3}").parse();
  EXPECT_THAT(config.notes, ElementsAre(AllOf(HasSubstr("computational_config.num_cpu"),
                                              HasSubstr("num_cpus"), HasSubstr("no effect"))));
}

TEST(Config, ComputationThatHasNoEffectIsSaid) {
  const SearchConfig config = with_computation("{num_cpus: 4, backend: zipfft}").parse();
  EXPECT_THAT(config.notes,
              ElementsAre(AllOf(HasSubstr("computational_config.num_cpus"), HasSubstr("--threads")),
                          HasSubstr("computational_config.backend")));
  EXPECT_THAT(with_computation("{num_cpus: 1, backend: streamed}").parse().notes, IsEmpty());
}

TEST(Config, ABandWithoutWidthNeedsAFalloff) {
  const std::string band = "enabled: true, low_freq_cutoff: 0.1, high_freq_cutoff: 0.1";
  EXPECT_THAT(with_filters("{bandpass_filter: {" + band + "}}").refusal(),
              HasSubstr("high_freq_cutoff"));
  EXPECT_THAT(with_filters("{bandpass_filter: {" + band + ", falloff: 0.05}}").refusal(),
              IsEmpty());
}

TEST(Config, AMissingKeyIsNamed) {
  Yaml yaml;
  yaml.top = "micrograph_path: image.mrc\n";
  EXPECT_THAT(yaml.refusal(), HasSubstr("template_volume_path is missing"));
  Yaml no_voltage;
  no_voltage.optics.erase(no_voltage.optics.find("  voltage"), 17);
  EXPECT_THAT(no_voltage.refusal(), HasSubstr("optics_group.voltage is missing"));
  Yaml no_mip;
  no_mip.results.erase(0, no_mip.results.find('\n') + 1);
  EXPECT_THAT(no_mip.refusal(), HasSubstr("match_template_result.mip_path is missing"));
  EXPECT_THAT(with_defocus("null").refusal(), HasSubstr("defocus_search_config is empty"));
}

TEST(Config, NumbersOutOfRangeOrNotNumbersAreRefused) {
  EXPECT_THAT(with_optics("phase_shift: .nan").refusal(), HasSubstr("finite"));
  EXPECT_THAT(with_optics("phase_shift: -.inf").refusal(), HasSubstr("finite"));
  EXPECT_THAT(with_optics("phase_shift: 1e999").refusal(), HasSubstr("out of range"));
  EXPECT_THAT(with_optics("phase_shift: '2,5'").refusal(), HasSubstr("must be a number"));
  EXPECT_THAT(with_optics("phase_shift: 010").refusal(), HasSubstr("begins with 0"));
  EXPECT_THAT(with_optics("phase_shift: ninety").refusal(),
              AllOf(HasSubstr("optics_group.phase_shift"), HasSubstr("'ninety'")));
  EXPECT_THAT(with_optics("phase_shift: [1]").refusal(), HasSubstr("not a list or a map"));
  EXPECT_THAT(with_optics("ctf_B_factor: -1").refusal(), HasSubstr("at least 0"));
  EXPECT_THAT(with_optics("amplitude_contrast_ratio: 1.2").refusal(), HasSubstr("at most 1"));
  EXPECT_THAT(with_computation("{num_cpus: 1.5}").refusal(), HasSubstr("whole number"));
  EXPECT_THAT(with_computation("{num_cpus: 0}").refusal(), HasSubstr("at least 1"));
  EXPECT_THAT(with_defocus("{enabled: 2}").refusal(), HasSubstr("true or false"));
  Yaml zero;
  zero.optics.replace(zero.optics.find("1.06"), 4, "0");
  EXPECT_THAT(zero.refusal(), HasSubstr("optics_group.pixel_size must be greater than 0"));
}

TEST(Config, OpticsThatNoMicroscopeHasAreRefused) {
  const auto with = [](const std::string& from, const std::string& to) {
    Yaml yaml;
    yaml.optics.replace(yaml.optics.find(from), from.size(), to);
    return yaml.refusal();
  };
  EXPECT_THAT(with("1.06", "1e30"),
              HasSubstr("optics_group.pixel_size must be at most 100 A, but is 1e+30"));
  EXPECT_THAT(with("1.06", "1e-9"), HasSubstr("optics_group.pixel_size must be at least 0.01 A"));
  EXPECT_THAT(with("300.0", "1e300"), HasSubstr("optics_group.voltage must be at most 10000 kV"));
  EXPECT_THAT(with("300.0", "300000"), HasSubstr("at most 10000 kV, but is 300000"));
  EXPECT_THAT(with("defocus_u: 5200.0", "defocus_u: 1e200"),
              HasSubstr("optics_group.defocus_u must be at most 1e+06 A"));
  EXPECT_THAT(with_optics("spherical_aberration: 1e200").refusal(),
              HasSubstr("optics_group.spherical_aberration must be at most 100 mm"));
  EXPECT_THAT(with_optics("phase_shift: 1e200").refusal(), HasSubstr("at most 360 degrees"));
  EXPECT_THAT(with("astigmatism_angle: 25.0", "astigmatism_angle: 900"),
              HasSubstr("optics_group.astigmatism_angle must be at most 360 degrees, but is 900"));
  EXPECT_THAT(with("astigmatism_angle: 25.0", "astigmatism_angle: -360"), IsEmpty());
  EXPECT_THAT(with_optics("ctf_B_factor: 1e200").refusal(), HasSubstr("at most 1e+06 A^2"));
}

TEST(Config, ZernikesAreReadAndTheirNamesCheckedEarly) {
  const SearchConfig config =
      with_optics("even_zernikes: {Z44c: 0.4, Z60: -1}\n  odd_zernikes: {Z31s: 2}").parse();
  EXPECT_THAT(config.optics.even_zernikes, ElementsAre(Pair("Z44c", 0.4), Pair("Z60", -1.0)));
  EXPECT_THAT(config.optics.odd_zernikes, ElementsAre(Pair("Z31s", 2.0)));
  EXPECT_THAT(with_optics("even_zernikes: {Z40: 1}").refusal(),
              HasSubstr("optics_group.even_zernikes.Z40"));
  EXPECT_THAT(with_optics("even_zernikes: {Z31c: 1}").refusal(), HasSubstr("unknown key"));
  EXPECT_THAT(with_optics("even_zernike: {Z60: 1}").refusal(), HasSubstr("even_zernikes"));
}

TEST(Config, TheMagnificationMatrixHasFourNumbersAndAnInverse) {
  EXPECT_THAT(*with_optics("mag_matrix: [1.01, 0, 0.002, 0.99]").parse().optics.mag_matrix,
              ElementsAre(1.01, 0, 0.002, 0.99));
  EXPECT_THAT(with_optics("mag_matrix: [1, 0, 0]").refusal(), HasSubstr("exactly 4"));
  EXPECT_THAT(with_optics("mag_matrix: [1, 2, 2, 4]").refusal(), HasSubstr("singular"));
}

TEST(Config, WhatHasNoEffectIsNotedOnce) {
  const SearchConfig config =
      with_optics("beam_tilt_x: 0.1\n  chromatic_aberration: 2.0\n  mtf_reference: some.star")
          .parse();
  EXPECT_THAT(config.notes, ElementsAre(HasSubstr("optics_group.beam_tilt_x"),
                                        HasSubstr("optics_group.chromatic_aberration"),
                                        HasSubstr("optics_group.mtf_reference")));
  EXPECT_THAT(
      with_filters("{phase_randomization_filter: {enabled: true, cuton: 0.2}}").parse().notes,
      ElementsAre(HasSubstr("phase_randomization_filter")));
}

TEST(Config, FiltersAreReadWithTheirNulls) {
  const auto filters =
      with_filters(
          "{whitening_filter: {max_freq: null, do_power_spectrum: null}, "
          "bandpass_filter: {enabled: true, low_freq_cutoff: 0.01, high_freq_cutoff: 0.4, "
          "falloff: 0.05}}")
          .parse()
          .filters;
  EXPECT_FALSE(filters.whitening.max_freq);
  EXPECT_FALSE(filters.whitening.do_power_spectrum);
  EXPECT_EQ(filters.bandpass.low_freq_cutoff, 0.01);
  EXPECT_EQ(filters.bandpass.falloff, 0.05);
  EXPECT_THAT(with_filters("{bandpass_filter: {enabled: true, low_freq_cutoff: 2}}").refusal(),
              HasSubstr("high_freq_cutoff"));
}

TEST(Config, AnEnabledCurveNeedsTwoAscendingListsOfOneLength) {
  const auto curve = with_filters(
                         "{arbitrary_curve_filter: {enabled: true, "
                         "frequencies: [0, 0.1, 0.5], amplitudes: [1, 0.5, 2]}}")
                         .parse()
                         .filters.arbitrary_curve;
  EXPECT_THAT(curve.frequencies, ElementsAre(0, 0.1, 0.5));
  EXPECT_THAT(curve.amplitudes, ElementsAre(1, 0.5, 2));
  const auto curve_refusal = [](const std::string& lists) {
    return with_filters("{arbitrary_curve_filter: {enabled: true, " + lists + "}}").refusal();
  };
  EXPECT_THAT(curve_refusal("amplitudes: [1, 2]"), HasSubstr("frequencies is needed"));
  EXPECT_THAT(curve_refusal("frequencies: [1, 2]"), HasSubstr("amplitudes is needed"));
  EXPECT_THAT(curve_refusal("frequencies: [0, 1], amplitudes: [1]"), HasSubstr("1 values for 2"));
  EXPECT_THAT(curve_refusal("frequencies: [0, 0], amplitudes: [1, 1]"), HasSubstr("ascend"));
  EXPECT_THAT(curve_refusal("frequencies: [0, .inf], amplitudes: [1, 1]"),
              HasSubstr("frequencies[1]"));
}

TEST(Config, NewerKeysAreRefusedByNameUntilTheyAreSupported) {
  EXPECT_THAT(with_results("hdf5_path: out.h5").refusal(),
              HasSubstr("match_template_result.hdf5_path is not supported yet"));
  EXPECT_THAT(with_results("correlation_table_path: table.h5").refusal(),
              HasSubstr("correlation_table_path is not supported yet"));
  EXPECT_THAT(with_filters("{random_fourier_dropout: {enabled: true}}").refusal(),
              HasSubstr("not supported yet"));
  Yaml accepted = with_results("hdf5_path: null\n  correlation_table_path: null");
  accepted.filters =
      "{random_fourier_dropout: {enabled: false, dropout_fraction: 0.1, seed: null}}";
  accepted.computation = "{backend: zipfft}";
  EXPECT_EQ(accepted.parse().computation.backend, "zipfft");
  EXPECT_THAT(with_filters("{random_fourier_dropout: null}").refusal(), IsEmpty());
}

TEST(Config, TwoMapsCannotHaveOneName) {
  Yaml yaml;
  yaml.results.replace(yaml.results.find("psi.mrc"), 7, "mip.mrc");
  EXPECT_THAT(yaml.refusal(), AllOf(HasSubstr("orientation_psi_path"), HasSubstr("mip_path")));
}

TEST(Config, DevicesAreReadInEveryForm) {
  const auto devices = [](const std::string& text) {
    return with_computation("{gpu_ids: " + text + "}").parse().computation.gpu_ids;
  };
  EXPECT_THAT(devices("2"), ElementsAre("2"));
  EXPECT_THAT(devices("all"), ElementsAre("all"));
  EXPECT_THAT(devices("cpu"), ElementsAre("cpu"));
  EXPECT_THAT(devices("[0, 'cuda:1']"), ElementsAre("0", "cuda:1"));
  EXPECT_THAT(devices("null"), ElementsAre("0"));
  EXPECT_THAT(with_computation("{gpu_ids: []}").refusal(), HasSubstr("gpu_ids"));
  EXPECT_THAT(with_computation("{gpu_ids: [-1]}").refusal(), HasSubstr("gpu_ids[0]"));
  EXPECT_THAT(with_computation("{gpu_ids: gpu7}").refusal(), HasSubstr("'gpu7'"));
  EXPECT_THAT(with_computation("{backend: fast}").refusal(), HasSubstr("zipfft"));
}

TEST(Config, ArraysInMemoryCannotBeGivenInAFile) {
  EXPECT_THAT(with_top("micrograph: [1, 2]").refusal(), HasSubstr("micrograph_path"));
}

TEST(Config, AKeyWrittenTwiceIsRefused) {
  EXPECT_THAT(with_optics("voltage: 200").refusal(), HasSubstr("voltage is written twice"));
}

TEST(Config, MergedMapsCountBehindTheKeysWrittenOut) {
  Yaml yaml;
  yaml.orientation =
      "{orientation_configs: [&a {psi_step: 7, symmetry: C2}, {<<: *a, symmetry: C3}]}";
  const auto grids = yaml.parse().orientations;
  EXPECT_EQ(grids[1].psi_step, 7.0);
  EXPECT_EQ(grids[1].symmetry, "C3");
}

TEST(Config, WhatIsNotOneYamlMapIsRefusedByName) {
  const auto text_refusal = [](const std::string& text) {
    return refusal([&] { parse_search_config(text, "search.yaml"); });
  };
  EXPECT_THAT(text_refusal(""), HasSubstr("'search.yaml' is empty"));
  EXPECT_THAT(text_refusal("- 1\n- 2\n"), HasSubstr("map"));
  EXPECT_THAT(text_refusal("a: [1, 2\n"), AllOf(HasSubstr("search.yaml"), HasSubstr("not YAML")));
  EXPECT_THAT(text_refusal("a: 1\n---\nb: 1\n"), HasSubstr("2 YAML documents"));
  EXPECT_THAT(text_refusal(",\n"), HasSubstr("line 1: not YAML"));
  EXPECT_THAT(text_refusal("a: 1\nx: &x [*x]\n"), HasSubstr("line 2: an alias"));
  EXPECT_THAT(text_refusal("a: 1\nb: \xff\n"), AllOf(HasSubstr("line 2"), HasSubstr("UTF-8")));
  EXPECT_THAT(text_refusal(std::string("a: 1\n\0", 6)), HasSubstr("UTF-8"));
  EXPECT_THAT(text_refusal("optics_group: {<<: &a {<<: *a}}\n"), Not(IsEmpty()));
  EXPECT_THAT(text_refusal(std::string(100000, '[')), Not(IsEmpty()));
  EXPECT_THAT(text_refusal("? [a]\n: 1\n"), HasSubstr("key"));
}

TEST(Config, PathsStayAsTheyAreWritten) {
  Yaml yaml;
  yaml.top = "micrograph_path: \"../a b/'x'\\n\\u00e4.mrc\"\ntemplate_volume_path: ./t.mrc\n";
  const SearchConfig config = yaml.parse();
  EXPECT_EQ(config.micrograph_path, "../a b/'x'\n\xc3\xa4.mrc");
  EXPECT_EQ(config.template_volume_path, "./t.mrc");
}

TEST(Config, SaysHowPeaksArePicked) {
  Yaml yaml;
  EXPECT_FALSE(yaml.parse().peaks.metric || yaml.parse().peaks.false_positives ||
               yaml.parse().peaks.particle_radius);
  yaml.peaks = "{metric: mip, false_positives: 0.5, particle_radius: 120}";
  const PeakSection peaks = yaml.parse().peaks;
  EXPECT_EQ(peaks.metric, "mip");
  EXPECT_EQ(peaks.false_positives, 0.5);
  EXPECT_EQ(peaks.particle_radius, 120.0);
  yaml.peaks = "{metric: z}";
  EXPECT_THAT(yaml.refusal(), HasSubstr("peaks.metric must be scaled-mip or mip, but is 'z'"));
  yaml.peaks = "{false_positives: 0}";
  EXPECT_THAT(yaml.refusal(), HasSubstr("peaks.false_positives"));
  yaml.peaks = "{particle_radius: -1}";
  EXPECT_THAT(yaml.refusal(), HasSubstr("peaks.particle_radius"));
  yaml.peaks = "{particle_raduis: 1}";
  EXPECT_THAT(yaml.refusal(), HasSubstr("particle_radius"));
}

TEST(Config, ACopyIsTheSameSearchWithItsResultsElsewhere) {
  Yaml yaml;
  yaml.top = "micrograph_path: \"a: b 'c'.mrc\"\ntemplate_volume_path: \"007\"\n";
  yaml.orientation = "{psi_step: 3, symmetry: null, phi_min: 0, phi_max: 90}";
  const SearchConfig copy = parse_search_config(with_results_in("/tmp/x y", yaml.text()), "copy");
  EXPECT_EQ(copy.micrograph_path, "a: b 'c'.mrc");
  EXPECT_EQ(copy.template_volume_path, "007");
  EXPECT_EQ(copy.optics.pixel_size, 1.06);
  EXPECT_EQ(copy.orientations.at(0).symmetry, std::nullopt);
  EXPECT_EQ(copy.orientations.at(0).phi.max, 90);
  EXPECT_EQ(copy.results.scaled_mip, "/tmp/x y/scaled_mip.mrc");
  EXPECT_EQ(copy.results.relative_defocus, "/tmp/x y/relative_defocus.mrc");
}

TEST(Config, AGivenMicrographTakesThePlaceOfTheFilesAndOfItsHash) {
  const ScratchFolder folder;
  Yaml yaml;
  yaml.top += "micrograph_sha256: " + std::string(64, 'a') + "\n";
  write_file(folder.file("search.yaml"), yaml.text());
  const SearchConfig config = read_search_config(folder.file("search.yaml"), "other.mrc");
  EXPECT_EQ(config.micrograph_path, "other.mrc");
  EXPECT_EQ(config.micrograph_sha256, "") << "which is the other file's";
  yaml.top = "template_volume_path: template.mrc\n";
  write_file(folder.file("search.yaml"), yaml.text());
  EXPECT_EQ(read_search_config(folder.file("search.yaml"), "other.mrc").micrograph_path,
            "other.mrc");
  EXPECT_THAT(refusal([&] { read_search_config(folder.file("search.yaml")); }),
              HasSubstr("micrograph_path"));
}

TEST(Config, FilesAreReadByPathAndNamedWhenTheyCannotBe) {
  const ScratchFolder folder;
  write_file(folder.file("search.yaml"), Yaml().text());
  EXPECT_EQ(read_search_config(folder.file("search.yaml")).path, folder.file("search.yaml"));
  EXPECT_THAT(refusal([&] { read_search_config(folder.file("absent.yaml")); }),
              AllOf(HasSubstr("absent.yaml"), HasSubstr("does not exist")));
  EXPECT_THAT(refusal([&] { read_search_config(folder.path()); }), HasSubstr(folder.path()));
  write_file(folder.file("image.mrc"), std::string((size_t{16} << 20) + 1, ' '));
  EXPECT_THAT(refusal([&] { read_search_config(folder.file("image.mrc")); }), HasSubstr("16 MB"));
}

}  // namespace
}  // namespace engine
