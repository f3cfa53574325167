// The users' commands: every change is checked, done in one transaction and audited. Users change
// items only through here; the daemon alone stores what became of them.
//
// Commands may be called by several threads at once (the database has the lock). They throw the
// types of errors.h, and what the database throws.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/database.h"
#include "db/items.h"
#include "db/records.h"
#include "scheduler/clock.h"
#include "scheduler/commands/micrograph_checks.h"
#include "scheduler/commands/plan_view.h"
#include "scheduler/commands/published_plan.h"
#include "scheduler/config/limits.h"
#include "scheduler/crash_point.h"
#include "scheduler/errors.h"
#include "scheduler/files/file_io.h"
#include "scheduler/policy/urgent_right.h"

namespace scheduler {

// The user who asks, from the socket's peer credentials. Privileged are root and the daemon's own
// user.
struct Caller {
  int64_t uid = 0;
  std::string name;
  bool privileged = false;
  // Returns the names of the user's Unix groups. It is called only where they matter, since it may
  // take a while. Not set: the user has no groups.
  std::function<std::set<std::string>()> groups{};
  // Returns the name of the primary group, "#GID" if it has no name; called only where it matters.
  // Not set: the group is not known.
  std::function<std::string()> group{};
};

// How many of the tokens that make items urgent a group has left.
struct GroupTokens {
  std::string group{};
  int of_week = 0;
  int left = 0;
  int64_t next = 0;  // when it gets one more, seconds since the epoch; 0: it has all of them
};

// Whether a caller may make items urgent.
struct UrgentRight {
  bool has = false;                   // may do so without a token
  std::string who{};                  // who may do so without a token, in words
  std::vector<GroupTokens> tokens{};  // of the caller's groups, where tokens are needed

  bool may() const;  // by right or with a token
};

// How a caller may make items urgent: by right, with a token of the item's group, or not at all.
enum class UrgentBy { kRight, kToken, kNothing };

// An item's options for the cluster: sbatch's long names and their values.
using ItemOptions = std::map<std::string, std::string>;
// Returns the options with canonical values. Throws BadOption with the message for the caller.
using OptionsCheck = std::function<ItemOptions(const Caller&, const ItemOptions&)>;

struct TemplateRequest {
  std::string name;  // letters, digits, and . _ - after the first
  FileFacts volume;
  std::string volume_sha256;
  std::string search_yaml;  // Leopard-EM configuration; its micrograph and result paths are dropped
  std::string settings_name = "search settings";  // the file that they are from, for messages
  db::SearchCounts counts{};
};

struct AddedTemplate {
  db::Template record;
  bool existed = false;  // the same volume and settings were registered already
};

struct EnqueueRequest {
  FileFacts micrograph;
  std::string template_name;
  std::optional<int> template_version;  // default: the newest
  db::Priority priority = db::Priority::kNormal;
  db::Ctf ctf;
  std::string label;
  bool again = false;  // make another item although there is one
  bool hold = false;   // enqueue as HELD
  ItemOptions options{};
  int64_t finish_by = 0;  // deadline; 0: none. One that cannot be met is accepted, too
  // The caller's Unix group that the item counts for; empty: the primary one.
  std::string group{};
  db::ImageSize image{};  // from the micrograph's header; 0: not looked at
  SearchOptics listed{};  // from the list that names the micrograph
  // The micrograph's SHA-256 as the caller states it: each content is enqueued only once, for ever,
  // whatever its path. Empty: each path is enqueued only once.
  std::string content{};
};

// The outcome of one of several requests or changes: its item, or why it was refused.
struct Enqueued {
  std::optional<db::Item> item{};
  std::optional<CommandError> refused{};
};

// Changes an item and returns the detail for the audit; nullopt: nothing needs to be changed.
// Throws the reason for a refusal.
using ItemChange = std::function<std::optional<std::string>(db::Item&)>;
struct ItemAction {
  std::string name{};  // for the audit
  ItemChange change{};
};

struct RetryRequest {
  bool drop_options = false;               // discard the item's own options
  ItemOptions options{};                   // replace the item's own options, name by name
  std::optional<db::Priority> priority{};  // the item's new priority
  // The item's micrograph as the caller opened it; unset: the retry is refused.
  std::optional<FileFacts> micrograph{};
};

// The details of an item.
struct ItemView {
  db::Item item;
  db::Template search_template;
  std::vector<db::Attempt> attempts;  // by number
  std::optional<db::Result> result;
  std::string explanation;           // why it waits, runs or ended, one sentence
  std::optional<int64_t> late_by{};  // seconds, from late_by() in published_plan.h
  std::optional<ExpectedTimes> expected{};
};

struct CommandsOptions {
  CrashHook crash{};
  // Checks an item's options. Not set: every option is refused, since there is no Slurm to give it
  // to.
  OptionsCheck check_options{};
  // Limits on users; privileged users are bound only by the lengths.
  Limits quotas{};
  // Who may make items urgent; privileged users may always.
  UrgentAllow urgent_allow{};
  // Tokens with which other users may make items urgent.
  UrgentTokens urgent_tokens{};
  // Whether an item's peaks, logs and scripts may be read only by its owner and privileged users.
  // What the queue shows of a result (counts and the best z) is for everyone.
  bool only_owners_read = false;
  // The daemon's last plan. Without it, no item is planned yet.
  std::function<LastPlan()> plan{};
};

class Commands {
 public:
  // The database and the clock must outlive the object.
  Commands(db::Database& database, const Clock& clock, CommandsOptions options = {})
      : database_(database), clock_(clock), options_(std::move(options)) {}

  // Throws NotPermitted when the item exists and its files are not for this caller.
  void check_may_read(const Caller& caller, int64_t item_id) const;

  // Checks what can be refused before the volume is read, which takes long. `volume_sha256` is not
  // used.
  void check_template(const Caller& caller, const TemplateRequest& request) const;
  AddedTemplate add_template(const Caller& caller, const TemplateRequest& request);
  // Removes one version, or all: new items cannot use them. Returns what was removed. Throws
  // NotFound, NotPermitted, and Conflict while one has unfinished items.
  std::vector<db::Template> remove_template(const Caller& caller, const std::string& name,
                                            std::optional<int> version);
  // Renames all versions. Throws NotFound, NotPermitted, Invalid, Conflict.
  void rename_template(const Caller& caller, const std::string& name, const std::string& new_name);

  UrgentRight urgent_right(const Caller& caller) const;

  // Checks what all files of a request share. Throws BadOption and Invalid.
  void check_shared(const Caller& caller, const ItemOptions& options,
                    const std::string& label) const;

  // Throws NotPermitted when the caller may not have `items` more items, or this label.
  void check_quota(const Caller& caller, int64_t items, const std::string& label) const;

  // Enqueues all in one durable transaction and returns an answer for each, in their order. One
  // that is refused, such as with Conflict for a micrograph that was enqueued with this template
  // version already, does not affect the others. Throws NotPermitted, with nothing stored, when the
  // new items exceed the caller's quota. A dry run stores nothing.
  std::vector<Enqueued> enqueue(const Caller& caller, const std::vector<EnqueueRequest>& requests,
                                bool dry_run = false);
  // Enqueues a single item. Throws the reason for a refusal.
  db::Item enqueue(const Caller& caller, const EnqueueRequest& request);

  // Each returns the changed item. Throws NotFound, NotPermitted, and Conflict when the item's
  // state forbids the change.
  db::Item promote(const Caller& caller, int64_t item_id, db::Priority priority);
  // Sets the deadline; 0: none.
  db::Item finish_by(const Caller& caller, int64_t item_id, int64_t time);
  db::Item hold(const Caller& caller, int64_t item_id);
  db::Item release(const Caller& caller, int64_t item_id);
  // The next tick asks a running job to stop; the item is CANCELLED once the job is gone.
  db::Item cancel(const Caller& caller, int64_t item_id);
  // Requeues a FAILED, QUARANTINED or CANCELLED item; the returned item's `reason` says what
  // changed. The item's micrograph becomes the file that the caller passed.
  db::Item retry(const Caller& caller, int64_t item_id, const RetryRequest& request);

  // The same changes as actions for several items at once. An action must not outlive this object.
  // They throw what applies to all items, such as NotPermitted.
  ItemAction promotion(const Caller& caller, db::Priority priority);
  // Refuses an item whose priority it would raise.
  ItemAction demotion(const Caller& caller, db::Priority priority);
  static ItemAction deadline(int64_t time);
  static ItemAction holding(const Caller& caller);
  static ItemAction releasing();
  static ItemAction cancellation(const Caller& caller);
  // `requests` are by item id.
  ItemAction retrying(const Caller& caller, std::map<int64_t, RetryRequest> requests);
  db::Item change(const Caller& caller, int64_t item_id, const ItemAction& action);
  // Changes all items in one durable transaction and returns an answer for each, in their order; a
  // refused one does not affect the others. A dry run returns the same answers and changes nothing.
  std::vector<Enqueued> change(const Caller& caller, const std::vector<int64_t>& item_ids,
                               const ItemAction& action, bool dry_run = false);

  // Moves ended items out of the records in one durable transaction, and returns an answer for each
  // with the item as it was. The daemon then removes the folders of their attempts in the
  // background; the files of their results stay unless `results` is set, which also removes results
  // that an earlier removal has kept. An item that has not ended is refused with Conflict.
  std::vector<Enqueued> remove(const Caller& caller, const std::vector<int64_t>& item_ids,
                               bool results, bool dry_run = false);

  // Stops all submissions, also after the daemon's next start; submitted jobs continue. Replaces an
  // earlier pause. Throws NotPermitted and Invalid. With a lane (its account, partition, QOS or
  // reservation), only jobs of that lane are paused; throws BadOption for another option, and where
  // there is no Slurm.
  void pause(const Caller& caller, const std::string& reason, const ItemOptions& lane = {});
  // Ends the pause of all submissions, or of this lane. Returns false when there was no such pause.
  // Throws NotPermitted and BadOption.
  bool resume(const Caller& caller, const ItemOptions& lane = {});

  // Throws NotFound.
  ItemView show(int64_t item_id) const;
  // Why each of these items waits, runs or has ended, in their order.
  std::vector<std::string> explain(const std::vector<db::Item>& items) const;
  PlanView plan_view() const;
  // For each item by how many seconds it may miss its deadline, from late_by() in published_plan.h.
  std::vector<std::optional<int64_t>> late(const std::vector<db::Item>& items) const;
  // When each item is expected to start and to be done, in their order; nullopt: not known.
  std::vector<std::optional<ExpectedTimes>> expected(const std::vector<db::Item>& items) const;
  // The published plan and what it means for the item; without a forecast where the plan does not
  // know when the item is done. Throws NotFound.
  struct Forecast {
    LastPlan plan{};
    std::optional<ItemForecast> item{};
  };
  Forecast forecast(int64_t item_id) const;
  ExpectedQueue queue_end() const { return expected_queue(last_plan().get()); }

 private:
  LastPlan last_plan() const;
  // kRight for a priority below urgent. Asks for the caller's groups, so it must not be called
  // within a transaction.
  UrgentBy urgent_by(const Caller& caller, db::Priority priority) const;
  // The caller with its groups already asked for, so that a transaction does not wait for them.
  static Caller with_known_groups(const Caller& caller);
  // Throws NotPermitted for kNothing.
  void check_urgent(UrgentBy by) const;
  GroupTokens tokens_left(const std::string& group) const;
  // Throws NotPermitted when the group has no token left.
  void check_token(const std::string& group) const;
  // Throws NotPermitted when the caller no longer belongs to the item's group and so may not use
  // its tokens.
  static void check_member(const Caller& caller, const db::Item& item);
  void take_token(const Caller& caller, const db::Item& item);
  // Takes a token if the item becomes urgent, or is retried as urgent, and needs one; returns the
  // text for the audit. A token that was taken for the item in the last week still counts.
  std::string pay_for_urgent(const Caller& caller, UrgentBy by, const db::Item& item, bool becomes);
  std::string group_for(const Caller& caller, const std::string& wanted) const;
  // Returns the options with canonical values. Throws BadOption.
  ItemOptions checked(const Caller& caller, const ItemOptions& options) const;
  static void check_template_name(const std::string& name);
  // The versions of a template that the caller may change. Throws NotFound and NotPermitted.
  std::vector<db::Template> versions_of(const Caller& caller, const std::string& name,
                                        std::optional<int> version) const;
  // The repeat number of a new item of the micrograph. Throws Conflict where there is one already.
  int repeat_of(const Caller& caller, const EnqueueRequest& request,
                const db::Template& search_template) const;
  // A template and the optics of its settings.
  struct KnownTemplate {
    db::Template record;
    SearchOptics optics{};
  };
  KnownTemplate find_template(const EnqueueRequest& request) const;
  void check_request(const EnqueueRequest& request) const;
  // What is known of a request before the transaction.
  struct Checked {
    ItemOptions options{};
    std::string group{};
    UrgentBy urgent_by = UrgentBy::kRight;
  };
  Checked check_enqueue(const Caller& caller, const EnqueueRequest& request) const;
  db::Item insert(const Caller& caller, const EnqueueRequest& request, const Checked& checked,
                  const KnownTemplate& known);
  void check_new_items(const Caller& caller, const std::vector<Enqueued>& answers) const;
  static void check_may_change(const Caller& caller, const db::Item& item);
  db::Item changeable(const Caller& caller, int64_t item_id) const;
  db::Item remove_one(const Caller& caller, int64_t item_id, bool results);
  std::string change_options(const Caller& caller, const RetryRequest& request,
                             db::Item& item) const;
  std::string change_class(const Caller& caller, const RetryRequest& request, UrgentBy by,
                           db::Item& item);
  bool change_one(const Caller& caller, const ItemAction& action, db::Item& item);
  std::string retry_item(const Caller& caller, const RetryRequest& request, UrgentBy by,
                         db::Item& item);
  void check_lane(const ItemOptions& lane) const;
  void commit(db::Transaction& transaction);
  void audit(const Caller& caller, const std::string& action, int64_t item_id,
             const std::string& detail);

  db::Database& database_;
  const Clock& clock_;
  CommandsOptions options_;
};

}  // namespace scheduler
