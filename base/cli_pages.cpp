#include "base/cli_pages.h"

#include "base/text.h"

namespace base {
namespace {

constexpr const char* kWords = "words:";

std::vector<std::string> words_of(CLI::Option& option) {
  try {
    for (int i = 0;; ++i) {
      const std::string name = option.get_validator(i)->get_name();
      if (name.starts_with(kWords)) return split(name.substr(std::string(kWords).size()), ' ');
    }
  } catch (const CLI::OptionNotFound&) {
    return {};  // it was the last one
  }
}

PageOption page_option(CLI::Option& option) {
  PageOption page{.help = option.get_description(),
                  .standard = option.get_default_str(),
                  .words = words_of(option),
                  .required = option.get_required(),
                  .several = option.get_items_expected_max() > 1};
  for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
  if (page.names.empty()) {
    page.names.push_back(option.get_name(true));
  } else if (option.get_items_expected_max() > 0) {
    page.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  }
  return page;
}

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

}  // namespace

std::string name_of_words(const std::vector<std::string>& words) {
  return kWords + joined(words, " ");
}

PageCommand page_of(CLI::App& app) {
  PageCommand page{
      .name = app.get_name(), .description = app.get_description(), .footer = app.get_footer()};
  for (CLI::Option* option : app.get_options()) {
    if (is_shown(*option)) page.options.push_back(page_option(*option));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (!command->get_group().empty()) page.commands.push_back(page_of(*command));
  }
  return page;
}

void add_page_options(CLI::App& app, int section, const std::vector<std::string>& see_also) {
  // CLI11 prints a version, with the end of its last line, and ends: so it does with these texts.
  const auto print = [](std::string text) {
    text.pop_back();
    throw CLI::CallForVersion(text, 0);
  };
  const auto print_page = [=, &app] {
    print(man_page(page_of(app), section, MARGAY_VERSION, see_also));
  };
  app.add_flag_callback("--man-page", print_page)->group("");
  app.add_flag_callback("--bash-completion", [=, &app] { print(bash_completion(page_of(app))); })
      ->group("");
}

}  // namespace base
