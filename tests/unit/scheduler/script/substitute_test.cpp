#include "scheduler/script/substitute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    render_script(text, "site/local.sh", {{"name", "x"}});
  } catch (const ScriptError& error) {
    return error.what();
  }
  return "not refused";
}

// What bash prints for the script.
std::string run(const std::string& script) {
  const tests::ScratchFolder folder;
  const std::string command = "bash " + folder.write("s.sh", script);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> text{};
  const size_t size = fread(text.data(), 1, text.size(), pipe.get());
  return {text.data(), size};
}

TEST(Script, ValuesAreOneWordForTheShellWhateverIsInThem) {
  for (const std::string value : {"plain",
                                  "two words",
                                  "it's",
                                  "\"quoted\"",
                                  "$HOME `id` $(id)",
                                  "line\nbreak",
                                  "ü.mrc",
                                  "",
                                  "a\\b",
                                  "-rf *",
                                  "'; rm -rf /; '",
                                  "{{name}}",
                                  "&amp; <tag>",
                                  "~",
                                  "#no",
                                  "a=b",
                                  "--option=value",
                                  "/a/path-1.2_3,4:5@6+7%",
                                  "{a,b}",
                                  "!",
                                  "[a]"}) {
    const std::string script =
        render_script("printf '%s|' {{name}} end", "local.sh", {{"name", value}});
    EXPECT_EQ(run(script), value + "|end|");
  }
}

TEST(Script, WordsThatNeedNoQuotesHaveNone) {
  EXPECT_EQ(shell_quote("/opt/margay/bin/margay-job"), "/opt/margay/bin/margay-job");
  EXPECT_EQ(shell_quote("--gpus-per-task=1"), "--gpus-per-task=1");
  // Where a command is expected this would be an assignment.
  EXPECT_EQ(shell_quote("PATH=/tmp"), "'PATH=/tmp'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(Script, ANameWithoutAValueIsAnErrorThatSaysWhereAndWhatThereIs) {
  EXPECT_THAT(refusal("#!/bin/bash\n\necho {{nmae}}\n"),
              AllOf(HasSubstr("site/local.sh"), HasSubstr("line 3"), HasSubstr("'nmae'"),
                    HasSubstr("there are name")));
}

TEST(Script, WhatWouldEscapeTheQuotesIsRefused) {
  for (const char* text : {"{{{name}}}", "{{&name}}", "{{& name }}", "{{#name}}x{{/name}}",
                           "{{^name}}x{{/name}}", "{{>name}}", "{{=<% %>=}}", "{{}}"}) {
    EXPECT_THAT(refusal(text), HasSubstr("only {{name}} is allowed")) << text;
  }
}

TEST(Script, AnOpenTagIsRefused) {
  EXPECT_THAT(refusal("echo {{name"), HasSubstr("'{{' without '}}'"));
}

TEST(Script, BlanksInATagAndCommentsAreAllowed) {
  EXPECT_EQ(render_script("a{{! a remark }} {{ name }}", "t", {{"name", "b c"}}), "a 'b c'");
}

TEST(Script, AValueWithAZeroByteIsRefused) {
  EXPECT_THROW(render_script("{{name}}", "t", {{"name", std::string("a\0b", 3)}}), ScriptError);
}

TEST(Script, TheLocalTemplateAsksForNamesThatTheDaemonGives) {
  const std::string text = tests::text_of(std::string(MARGAY_SOURCE_DIR) + "/templates/local.sh");
  ASSERT_FALSE(text.empty());
  std::map<std::string, std::string> values;
  for (const char* name : {"attempt_folder", "attempt_number", "token", "job", "engine", "threads",
                           "batch", "checkpoint_every", "resume", "backend", "probe", "ranks"}) {
    values[name] = "x";
  }
  EXPECT_NO_THROW(render_script(text, "local.sh", values));
}

}  // namespace
}  // namespace scheduler
