#include "scheduler/cli/items/logs.h"

#include <ostream>
#include <string>
#include <thread>
#include <utility>

#include "scheduler/cli/items/items.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

json log_piece(const Context& context, int64_t item, int64_t offset, int64_t attempt) {
  std::string target =
      "/v1/items/" + std::to_string(item) + "/log?offset=" + std::to_string(offset);
  if (attempt != 0) target += "&attempt=" + std::to_string(attempt);
  return context.get(target);
}

// Begins with `title`. --follow stays with the attempt that it began with.
void print_log(const Context& context, int64_t item, std::string title, const LogOptions& options) {
  int64_t offset = 0;
  int64_t attempt = options.attempt.value_or(0);
  for (;;) {
    const json piece = log_piece(context, item, offset, attempt);
    const std::string text = text_of(piece, "text");
    context.out() << std::exchange(title, "")
                  << (context.screen().terminal ? printable_lines(text) : text) << std::flush;
    attempt = piece.at("attempt");
    offset = piece.at("next_offset");
    if (offset < piece.at("size").get<int64_t>() && !text.empty()) continue;
    if (!options.follow || piece.at("ended").get<bool>()) return;
    std::this_thread::sleep_for(options.poll);
  }
}

json log_document(const Context& context, int64_t item, const LogOptions& options) {
  json document = log_piece(context, item, 0, options.attempt.value_or(0));
  const int64_t attempt = document.at("attempt");
  std::string text = text_of(document, "text");
  for (int64_t offset = document.at("next_offset"); offset < document.at("size");) {
    const json piece = log_piece(context, item, offset, attempt);
    if (piece.at("next_offset") == offset) break;
    text += text_of(piece, "text");
    offset = piece.at("next_offset");
  }
  document.erase("text_base64");
  document.erase("offset");
  document.erase("next_offset");
  api::put_text(document, "text", text);
  return document;
}

}  // namespace

Exit logs(const Context& context, const std::vector<int64_t>& items, const LogOptions& options) {
  if (options.follow && items.size() > 1) {
    throw Failure(Exit::kUsage, "--follow prints the log of one item, but " +
                                    std::to_string(items.size()) + " items are selected");
  }
  json documents = json::array();
  bool first = true;
  const Exit exit = for_each_selected(context, items, [&](int64_t item) {
    if (context.wants_json()) {
      documents.push_back(log_document(context, item, options));
      return;
    }
    std::string title;
    if (items.size() > 1) {
      title = (first ? "" : "\n") + ("==> item " + std::to_string(item)) + " <==\n";
    }
    print_log(context, item, title, options);
    first = false;
  });
  return print_documents(context, "logs", std::move(documents), items, exit);
}

}  // namespace scheduler::cli
