#include "scheduler/cli/template_commands.h"

#include "scheduler/cli/terminal/arguments.h"

namespace scheduler::cli {

void TemplateCommands::add(CLI::App& app, const AddCommand& add_command) {
  CLI::App* parent =
      app.add_subcommand("template", "Register and list templates with their search settings");
  parent->require_subcommand(1);
  parent->footer(
      "Example:\n  margay template add ribosome.mrc --name ribosome --config search.yaml");
  add_registering(*parent, add_command);
  add_changing(*parent, add_command);
}

void TemplateCommands::add_registering(CLI::App& parent, const AddCommand& add_command) {
  CLI::App* command =
      add_command(parent, "add", "Register a template volume with its search settings",
                  "margay template add ribosome.mrc --name ribosome --config search.yaml",
                  [this](const Context& context) { return add_template(context, template_); });
  add_option(*command, "FILE", template_.volume, "", "Volume (MRC; also .gz or .bz2)")->required();
  add_option(*command, "--name", template_.name, "NAME", "Name for 'enqueue --template'")
      ->required();
  add_option(*command, "--config", template_.config, "YAML",
             "Leopard-EM match_template configuration (YAML); its micrograph and result "
             "paths are ignored")
      ->required();
  add_command(parent, "list", "List registered templates", "margay template list",
              [](const Context& context) { return list_templates(context); });
  command = add_command(
      parent, "show", "Show a template or its search settings",
      "margay template show ribosome\n  margay template show ribosome@2 --settings > search.yaml",
      [this](const Context& context) { return show_template(context, name_, settings_); });
  add_option(*command, "NAME", name_, "", "NAME (the newest version) or NAME@VERSION")->required();
  command->add_flag("--settings", settings_, "Print the settings as they were registered");
}

void TemplateCommands::add_changing(CLI::App& parent, const AddCommand& add_command) {
  CLI::App* command =
      add_command(parent, "remove", "Remove a template; finished items keep their results",
                  "margay template remove ribosome@1",
                  [this](const Context& context) { return remove_template(context, name_); });
  add_option(*command, "NAME", name_, "", "NAME (all versions) or NAME@VERSION")->required();
  command = add_command(
      parent, "rename", "Rename a template with all its versions",
      "margay template rename ribosome ribosome-70S",
      [this](const Context& context) { return rename_template(context, name_, new_name_); });
  add_option(*command, "NAME", name_, "", "Name of the template")->required();
  add_option(*command, "NEW", new_name_, "", "New name")->required();
}

}  // namespace scheduler::cli
