#include "db/items.h"

#include <sstream>

namespace db {
namespace {

// The column `forgiven` is the field exempt_through: a released schema keeps its names.
const std::string kSelect =
    "SELECT id, micrograph_path, template_id, repeat, priority, state, reason, defocus_u, "
    "defocus_v, astigmatism_angle, phase_shift, ctf_source, micrograph_bytes, "
    "micrograph_mtime_ns, owner_uid, owner, label, cancel_requested, created, changed, "
    "not_before, forgiven, options FROM items ";

// Lines "name=value": neither has a newline in it.
std::string options_text(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [name, value] : options) text += name + "=" + value + "\n";
  return text;
}

std::map<std::string, std::string> options_of(const std::string& text) {
  std::map<std::string, std::string> options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) options[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return options;
}

template <typename Value>
Value known(const std::optional<Value>& value, const Statement& row) {
  if (value) return *value;
  throw DatabaseError("the database holds an unknown state or priority for item " +
                      std::to_string(row.integer(0)) + ": it was written by a newer margayd");
}

Item read_row(const Statement& row) {
  Item item;
  item.id = row.integer(0);
  item.micrograph_path = row.text(1);
  item.template_id = row.integer(2);
  item.repeat = static_cast<int>(row.integer(3));
  item.priority = known(parse_priority(row.text(4)), row);
  item.state = known(parse_item_state(row.text(5)), row);
  item.reason = row.text(6);
  item.ctf.defocus_u = row.real(7);
  item.ctf.defocus_v = row.real(8);
  item.ctf.astigmatism_angle = row.real(9);
  item.ctf.phase_shift = row.real(10);
  item.ctf.source = row.text(11);
  item.micrograph_bytes = row.integer(12);
  item.micrograph_mtime_ns = row.integer(13);
  item.owner_uid = row.integer(14);
  item.owner = row.text(15);
  item.label = row.text(16);
  item.cancel_requested = row.integer(17) != 0;
  item.created = row.integer(18);
  item.changed = row.integer(19);
  item.not_before = row.integer(20);
  item.exempt_through = static_cast<int>(row.integer(21));
  item.options = options_of(row.text(22));
  return item;
}

std::string marks(size_t count) {
  std::string list;
  for (size_t i = 0; i < count; ++i) list += i == 0 ? "?" : ", ?";
  return "(" + list + ")";
}

std::string where(const ItemQuery& query) {
  std::string text = "WHERE id > ?";
  if (!query.ids.empty()) text += " AND id IN " + marks(query.ids.size());
  if (!query.states.empty()) text += " AND state IN " + marks(query.states.size());
  if (!query.priorities.empty()) text += " AND priority IN " + marks(query.priorities.size());
  if (query.template_id) text += " AND template_id = ?";
  if (!query.label.empty()) text += " AND label = ?";
  if (!query.owner.empty()) text += " AND owner = ?";
  text += " ORDER BY id";
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
  if (query.limit > 0) statement.bind(query.limit);
}

}  // namespace

int64_t ItemStore::insert(const Item& item) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "INSERT INTO items (micrograph_path, template_id, repeat, priority, state, reason, "
            "defocus_u, defocus_v, astigmatism_angle, phase_shift, ctf_source, micrograph_bytes, "
            "micrograph_mtime_ns, owner_uid, owner, label, cancel_requested, created, changed, "
            "not_before, forgiven, options) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(item.micrograph_path)
      .bind(item.template_id)
      .bind(item.repeat)
      .bind(to_string(item.priority))
      .bind(to_string(item.state))
      .bind(item.reason)
      .bind(item.ctf.defocus_u)
      .bind(item.ctf.defocus_v)
      .bind(item.ctf.astigmatism_angle)
      .bind(item.ctf.phase_shift)
      .bind(item.ctf.source)
      .bind(item.micrograph_bytes)
      .bind(item.micrograph_mtime_ns)
      .bind(item.owner_uid)
      .bind(item.owner)
      .bind(item.label)
      .bind(item.cancel_requested)
      .bind(item.created)
      .bind(item.changed)
      .bind(item.not_before)
      .bind(item.exempt_through)
      .bind(options_text(item.options))
      .run();
  return database_.connection().last_insert_id();
}

std::optional<Item> ItemStore::find(int64_t id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect + "WHERE id = ?");
  query.bind(id);
  if (!query.step()) return std::nullopt;
  return read_row(query);
}

std::optional<Item> ItemStore::find_newest(const std::string& micrograph_path,
                                           int64_t template_id) const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), kSelect +
                                              "WHERE micrograph_path = ? AND template_id = ? "
                                              "ORDER BY repeat DESC LIMIT 1");
  query.bind(micrograph_path).bind(template_id);
  if (!query.step()) return std::nullopt;
  return read_row(query);
}

std::vector<Item> ItemStore::list(const ItemQuery& query) const {
  const std::scoped_lock lock(database_.mutex());
  Statement statement(database_.connection(), kSelect + where(query));
  bind_query(statement, query);
  std::vector<Item> items;
  while (statement.step()) items.push_back(read_row(statement));
  return items;
}

std::map<ItemState, int64_t> ItemStore::counts() const {
  const std::scoped_lock lock(database_.mutex());
  Statement query(database_.connection(), "SELECT state, count(*) FROM items GROUP BY state");
  std::map<ItemState, int64_t> counts;
  while (query.step()) {
    if (const auto state = parse_item_state(query.text(0))) counts[*state] = query.integer(1);
  }
  return counts;
}

void ItemStore::update(const Item& item) {
  const std::scoped_lock lock(database_.mutex());
  Statement(database_.connection(),
            "UPDATE items SET priority = ?, state = ?, reason = ?, defocus_u = ?, defocus_v = ?, "
            "astigmatism_angle = ?, phase_shift = ?, ctf_source = ?, micrograph_bytes = ?, "
            "micrograph_mtime_ns = ?, cancel_requested = ?, changed = ?, not_before = ?, "
            "forgiven = ?, options = ? WHERE id = ?")
      .bind(to_string(item.priority))
      .bind(to_string(item.state))
      .bind(item.reason)
      .bind(item.ctf.defocus_u)
      .bind(item.ctf.defocus_v)
      .bind(item.ctf.astigmatism_angle)
      .bind(item.ctf.phase_shift)
      .bind(item.ctf.source)
      .bind(item.micrograph_bytes)
      .bind(item.micrograph_mtime_ns)
      .bind(item.cancel_requested)
      .bind(item.changed)
      .bind(item.not_before)
      .bind(item.exempt_through)
      .bind(options_text(item.options))
      .bind(item.id)
      .run();
}

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
