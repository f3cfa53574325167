#include "db/items.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "db/table.h"

namespace db {
namespace {

// A field of the item's CTF, as a function that Column takes.
template <typename Value>
auto of_ctf(Value Ctf::*field) {
  return [field](auto& item) -> auto& { return item.ctf.*field; };
}

// The same of the micrograph's identity.
template <typename Value>
auto of_micrograph(Value FileId::*field) {
  return [field](auto& item) -> auto& { return item.micrograph_id.*field; };
}

template <typename Value>
auto of_image(Value ImageSize::*field) {
  return [field](auto& item) -> auto& { return item.micrograph_size.*field; };
}

// The column `forgiven` is the field exempt_through: a released schema keeps its names.
const Table<Item> kItems(
    "items", {{"id", &Item::id, Use::kKey},
              {"micrograph_path", &Item::micrograph_path},
              {"template_id", &Item::template_id},
              {"repeat", &Item::repeat},
              {"priority", &Item::priority, Use::kChanges},
              {"state", &Item::state, Use::kChanges},
              {"reason", &Item::reason, Use::kChanges},
              {"defocus_u", of_ctf(&Ctf::defocus_u), Use::kChanges},
              {"defocus_v", of_ctf(&Ctf::defocus_v), Use::kChanges},
              {"astigmatism_angle", of_ctf(&Ctf::astigmatism_angle), Use::kChanges},
              {"phase_shift", of_ctf(&Ctf::phase_shift), Use::kChanges},
              {"ctf_source", of_ctf(&Ctf::source), Use::kChanges},
              {"micrograph_bytes", &Item::micrograph_bytes, Use::kChanges},
              {"micrograph_mtime_ns", &Item::micrograph_mtime_ns, Use::kChanges},
              {"micrograph_inode", of_micrograph(&FileId::inode), Use::kChanges},
              {"micrograph_device", of_micrograph(&FileId::device), Use::kChanges},
              {"micrograph_mount", of_micrograph(&FileId::mount), Use::kChanges},
              {"micrograph_sha256", &Item::micrograph_sha256, Use::kChanges},
              {"micrograph_ctime_ns", &Item::micrograph_ctime_ns, Use::kChanges},
              {"micrograph_width", of_image(&ImageSize::width), Use::kChanges},
              {"micrograph_height", of_image(&ImageSize::height), Use::kChanges},
              {"micrograph_pixel_size", of_image(&ImageSize::pixel_size), Use::kChanges},
              {"owner_uid", &Item::owner_uid},
              {"owner", &Item::owner},
              {"group_name", &Item::group},
              {"label", &Item::label},
              {"cancel_requested", &Item::cancel_requested, Use::kChanges},
              {"created", &Item::created},
              {"changed", &Item::changed, Use::kChanges},
              {"not_before", &Item::not_before, Use::kChanges},
              {"finish_by", &Item::finish_by, Use::kChanges},
              {"searched", &Item::searched, Use::kChanges},
              {"forgiven", &Item::exempt_through, Use::kChanges},
              {"options", [](const Item& item) { return options_text(item.options); },
               [](const std::string& text, Item& item) { item.options = parse_options(text); },
               Use::kChanges}});

std::string marks(size_t count) {
  std::string list;
  for (size_t i = 0; i < count; ++i) list += i == 0 ? "?" : ", ?";
  return "(" + list + ")";
}

// For LIKE.
std::string escaped(const std::string& text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::string where(const ItemQuery& query) {
  // Rows that were asked for by their numbers are not left out in silence.
  std::string text = query.ids.empty() ? kItems.readable() + "AND id > ?" : "WHERE id > ?";
  if (!query.ids.empty()) text += " AND id IN " + marks(query.ids.size());
  if (!query.states.empty()) text += " AND state IN " + marks(query.states.size());
  if (!query.priorities.empty()) text += " AND priority IN " + marks(query.priorities.size());
  if (query.template_id) text += " AND template_id = ?";
  if (!query.label.empty()) text += " AND label = ?";
  if (!query.owner.empty()) text += " AND owner = ?";
  if (!query.template_ids.empty())
    text += " AND template_id IN " + marks(query.template_ids.size());
  if (query.owner_uid) text += " AND owner_uid = ?";
  if (!query.micrograph.empty()) text += " AND micrograph_path = ?";
  if (!query.file_name.empty()) text += " AND micrograph_path LIKE ? ESCAPE '\\'";
  if (query.up_to_id > 0) text += " AND id <= ?";
  text += query.newest ? " ORDER BY id DESC" : " ORDER BY id";
  if (query.limit > 0) text += " LIMIT ?";
  return text;
}

void bind_query(Statement& statement, const ItemQuery& query) {
  statement.bind(query.after_id);
  for (const int64_t id : query.ids) statement.bind(id);
  for (const ItemState state : query.states) statement.bind(to_string(state));
  for (const Priority priority : query.priorities) statement.bind(to_string(priority));
  if (query.template_id) statement.bind(*query.template_id);
  if (!query.label.empty()) statement.bind(query.label);
  if (!query.owner.empty()) statement.bind(query.owner);
  for (const int64_t id : query.template_ids) statement.bind(id);
  if (query.owner_uid) statement.bind(*query.owner_uid);
  if (!query.micrograph.empty()) statement.bind(query.micrograph);
  if (!query.file_name.empty()) statement.bind("%/" + escaped(query.file_name));
  if (query.up_to_id > 0) statement.bind(query.up_to_id);
  if (query.limit > 0) statement.bind(query.limit);
}

}  // namespace

// Lines "name=value": neither has a newline in it.
std::string options_text(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [name, value] : options) text += name + "=" + value + "\n";
  return text;
}

std::map<std::string, std::string> parse_options(const std::string& text) {
  std::map<std::string, std::string> options;
  if (text.empty()) return options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != line.npos) options[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return options;
}

int64_t ItemStore::insert(const Item& item) { return kItems.insert(database_, item); }

std::optional<Item> ItemStore::find(int64_t id) const {
  return kItems.one(database_, "WHERE id = ?", id);
}

std::optional<Item> ItemStore::find_newest(const std::string& micrograph_path,
                                           int64_t template_id) const {
  return kItems.one(database_, "WHERE micrograph_path = ? AND template_id = ? ORDER BY repeat DESC",
                    micrograph_path, template_id);
}

std::vector<Item> ItemStore::list(const ItemQuery& query) const {
  const std::scoped_lock lock(database_.mutex());
  if (query.states.size() > 1 && query.limit > 0) return list_of_states(query);
  Statement statement(database_.connection(), kItems.select() + where(query));
  bind_query(statement, query);
  std::vector<Item> items = kItems.rows(statement);
  if (query.newest) std::reverse(items.begin(), items.end());
  return items;
}

// Of each state its first page, since SQLite would sort all items of several states to find it.
std::vector<Item> ItemStore::list_of_states(const ItemQuery& query) const {
  std::map<int64_t, Item> items;
  for (const ItemState state : query.states) {
    ItemQuery one = query;
    one.states = {state};
    for (Item& item : list(one)) items.emplace(item.id, std::move(item));
  }
  const auto limit = static_cast<size_t>(query.limit);
  while (items.size() > limit) {
    items.erase(query.newest ? items.begin() : std::prev(items.end()));
  }
  std::vector<Item> page;
  for (auto& [id, item] : items) page.push_back(std::move(item));
  return page;
}

std::vector<std::string> ItemStore::unreadable(int64_t most) const {
  return kItems.unreadable(database_, most);
}

std::map<ItemState, int64_t> ItemStore::counts() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT state, count(*) FROM items GROUP BY state");
  std::map<ItemState, int64_t> counts;
  while (query.step()) {
    if (const auto state = parse<ItemState>(query.text(0))) counts[*state] = query.integer(1);
  }
  return counts;
}

Unfinished ItemStore::unfinished_of(int64_t owner_uid, const std::string& label) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(),
                  "SELECT count(*), count(DISTINCT nullif(nullif(label, ''), ?)) FROM items "
                  "WHERE owner_uid = ? AND state IN (?, ?, ?)");
  query.bind(label).bind(owner_uid);
  for (const ItemState state : {ItemState::kQueued, ItemState::kHeld, ItemState::kActive}) {
    query.bind(to_string(state));
  }
  query.step();
  return {.items = query.integer(0), .labels = query.integer(1) + (label.empty() ? 0 : 1)};
}

void ItemStore::update(const Item& item) { kItems.update(database_, item); }

void ItemStore::set_state(int64_t id, ItemState state, const std::string& reason, int64_t now) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE items SET state = ?, reason = ?, changed = ? WHERE id = ?")
      .bind(to_string(state))
      .bind(reason)
      .bind(now)
      .bind(id)
      .run();
}

}  // namespace db
