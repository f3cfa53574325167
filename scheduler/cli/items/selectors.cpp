#include "scheduler/cli/items/selectors.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/hex.h"
#include "base/parse_number.h"
#include "scheduler/cli/items/items.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// So many files are looked up one by one; for more of them all items are listed once.
constexpr size_t kFewFiles = 4;
// As many numbers as fit into one request's address.
constexpr size_t kNumbersAsked = 500;

std::string parameter(const std::string& name, const std::string& value) {
  return value.empty() ? "" : "&" + name + "=" + base::percent_encode(value);
}

// "12" or "1-20"; nullopt for anything else.
std::optional<std::pair<int64_t, int64_t>> range_of(const std::string& text) {
  const size_t dash = text.find('-');
  const auto first = base::parse_number<int64_t>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : base::parse_number<int64_t>(text.substr(dash + 1));
  if (!first || !last || *first < 1) return std::nullopt;
  return std::pair(*first, *last);
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

// Whether every part of it is a number or a range.
bool names_numbers(const std::string& word) {
  const std::vector<std::string> parts = parts_of(word);
  return std::all_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return range_of(part).has_value(); });
}

// What the daemon stores: a path without links. One that is not there is taken as it is.
std::string path_of(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::canonical(file, error);
  return error ? std::filesystem::absolute(file).lexically_normal().string() : path.string();
}

class Selector {
 public:
  Selector(const Context& context, Filters filters)
      : context_(context), filters_(std::move(filters)) {}

  std::vector<int64_t> run(const ParsedWords& words, bool any_word) {
    take_numbers(words.numbers);
    for (const auto& [first, last] : words.ranges) {
      take("from=" + std::to_string(first) + "&up_to=" + std::to_string(last));
    }
    take_files(words.files);
    if (words.last) take_last();
    if (words.all || !any_word) take("");
    return std::move(ids_);
  }

 private:
  void add(int64_t id) {
    if (known_.insert(id).second) ids_.push_back(id);
  }

  // Returns how many it finds.
  int64_t take(const std::string& query) {
    int64_t found = 0;
    for_each_item(context_, query + "&brief=1" + query_of(filters_), 0, [&](const json& item) {
      ++found;
      add(item.at("id").get<int64_t>());
    });
    return found;
  }

  void take_numbers(const std::vector<int64_t>& numbers) {
    if (filters_.empty()) {
      for (const int64_t number : numbers) add(number);
      return;
    }
    for (size_t begin = 0; begin < numbers.size(); begin += kNumbersAsked) {
      std::string ids;
      for (size_t i = begin; i < std::min(begin + kNumbersAsked, numbers.size()); ++i) {
        ids += (ids.empty() ? "ids=" : ",") + std::to_string(numbers[i]);
      }
      take(ids);
    }
  }

  void take_files(const std::vector<std::string>& files) {
    if (files.size() > kFewFiles) {
      take_many_files(files);
      return;
    }
    for (const std::string& file : files) {
      if (take("micrograph=" + base::percent_encode(path_of(file))) > 0) continue;
      const bool is_name = file.find('/') == file.npos;
      if (is_name && take("file_name=" + base::percent_encode(file)) > 0) continue;
      no_item_of(file);
    }
  }

  void take_many_files(const std::vector<std::string>& files) {
    std::map<std::string, std::vector<int64_t>> by_path;
    std::map<std::string, std::vector<int64_t>> by_name;
    for_each_item(context_, "brief=1" + query_of(filters_), 0, [&](const json& item) {
      const std::string path = text_of(item, "micrograph");
      const auto id = item.at("id").get<int64_t>();
      by_path[path].push_back(id);
      by_name[std::filesystem::path(path).filename().string()].push_back(id);
    });
    for (const std::string& file : files) {
      auto found = by_path.find(path_of(file));
      if (found == by_path.end()) {
        found = by_name.find(file);
        if (found == by_name.end()) no_item_of(file);
      }
      for (const int64_t id : found->second) add(id);
    }
  }

  [[noreturn]] static void no_item_of(const std::string& file) {
    throw Failure(Exit::kNotFound, "no item of '" + file +
                                       "'; name items by number (1-20,31), last, all or the name "
                                       "of a micrograph");
  }

  void take_last() {
    Filters own = filters_;
    own.mine = own.mine || own.owner.empty();
    const json answer = context_.get("/v1/items?newest=1&limit=1&brief=1" + query_of(own));
    for (const json& item : answer.at("items")) add(item.at("id").get<int64_t>());
    if (answer.at("items").empty()) {
      throw Failure(Exit::kNotFound, "there is no last item: none of yours is selected");
    }
  }

  const Context& context_;
  Filters filters_;
  std::vector<int64_t> ids_{};
  std::set<int64_t> known_{};
};

// Whether nobody has named the items that it selects.
bool is_broad(const Selection& selection) {
  if (selection.empty()) return false;
  return selection.words.empty() || parse_words(selection.words).all;
}

}  // namespace

bool Filters::empty() const {
  return state.empty() && priority.empty() && label.empty() && owner.empty() &&
         search_template.empty() && !mine;
}

ParsedWords parse_words(const std::vector<std::string>& words) {
  ParsedWords parsed;
  for (const std::string& word : words) {
    if (word == "last" || word == "all") {
      (word == "last" ? parsed.last : parsed.all) = true;
      continue;
    }
    if (!names_numbers(word)) {
      parsed.files.push_back(word);
      continue;
    }
    for (const std::string& part : parts_of(word)) {
      const auto [first, last] = range_of(part).value();
      if (last < first) {
        throw Failure(Exit::kUsage, "invalid range '" + part + "'; write the lower number first");
      }
      if (part.find('-') == part.npos) {
        parsed.numbers.push_back(first);
      } else {
        parsed.ranges.emplace_back(first, last);
      }
    }
  }
  return parsed;
}

std::string query_of(const Filters& filters) {
  std::string query = parameter("state", filters.state) + parameter("priority", filters.priority) +
                      parameter("label", filters.label) + parameter("owner", filters.owner) +
                      parameter("template", filters.search_template);
  if (filters.mine) query += "&owner_uid=" + std::to_string(::geteuid());
  return query;
}

std::vector<int64_t> select_items(const Context& context, const Selection& selection) {
  if (selection.empty()) {
    throw Failure(Exit::kUsage,
                  "no items named; give numbers (1-20,31), last, all, the name of a micrograph, or "
                  "--label, --state, --mine, --owner or --template");
  }
  return Selector(context, selection.filters)
      .run(parse_words(selection.words), !selection.words.empty());
}

std::vector<int64_t> select_to_change(const Context& context, const Selection& selection,
                                      const std::string& states) {
  if (!is_broad(selection)) return select_items(context, selection);
  Selection own = selection;
  own.filters.mine = own.filters.mine || own.filters.owner.empty();
  if (own.filters.state.empty()) own.filters.state = states;
  return select_items(context, own);
}

std::vector<int64_t> select_to_export(const Context& context, const Selection& selection) {
  Selection done = selection;
  const bool names_none = selection.empty() || is_broad(selection);
  if (names_none && selection.filters.state.empty()) done.filters.state = "DONE";
  return select_items(context, done);
}

std::vector<int64_t> select_to_wait_for(const Context& context, const Selection& selection) {
  Selection unfinished = selection;
  if (is_broad(selection) && selection.filters.state.empty()) {
    unfinished.filters.state = "QUEUED,HELD,ACTIVE";
  }
  return select_items(context, unfinished);
}

}  // namespace scheduler::cli
