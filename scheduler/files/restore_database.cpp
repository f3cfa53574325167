#include "scheduler/files/restore_database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "db/backup.h"
#include "db/lock_file.h"
#include "db/restored.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/files/unknown_attempts.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

// Who owns the database, and who may read it.
struct Rights {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t mode = 0640;
};

Rights rights_of(const std::string& database) {
  struct stat facts {};
  if (::stat(database.c_str(), &facts) == 0) {
    return {facts.st_uid, facts.st_gid, facts.st_mode & 0777U};
  }
  if (::stat(base::folder_of(database).c_str(), &facts) == 0) return {facts.st_uid, facts.st_gid};
  throw RestoreRefused("the state folder '" + base::folder_of(database) +
                       "' is not there; make it, owned by the daemon's user");
}

void give(const std::string& path, const Rights& rights) {
  if (::chmod(path.c_str(), rights.mode) != 0) {
    throw base::FileError(errno, "cannot change the mode of '" + path + "'");
  }
  if (::geteuid() == 0 && ::lchown(path.c_str(), rights.uid, rights.gid) != 0) {
    throw base::FileError(errno, "cannot give '" + path + "' to the daemon's user");
  }
}

// Of two names in one second the second has a number.
std::string name_to_keep(const std::string& database, int64_t now) {
  const auto time = static_cast<std::time_t>(now);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 32> stamp{};
  std::strftime(stamp.data(), stamp.size(), "%Y%m%dT%H%M%SZ", &utc);
  const std::string name = database + ".before-restore-" + stamp.data();
  std::string free = name;
  for (int i = 2; fs::exists(free); ++i) free = name + "-" + std::to_string(i);
  return free;
}

class Restorer {
 public:
  Restorer(const RestoreRequest& request, int64_t now)
      : request_(request), now_(now), rights_(rights_of(request.database)) {}

  Restored restore() {
    if (!fs::exists(request_.copy)) {
      throw RestoreRefused("there is no copy '" + request_.copy + "'");
    }
    const db::LockFile lock = take_lock();
    check_is_other_file();
    restored_.copy = whole(request_.copy);
    check_jobs();
    base::AtomicFile file(request_.database, base::Folder::kMustExist);
    {
      db::Connection copy(request_.copy, db::Access::kReadOnly);
      db::copy_database(copy, file.temporary());
    }
    add_what_it_does_not_know(file.temporary());
    whole(file.temporary());
    give(file.temporary(), rights_);
    keep_present();
    file.commit();
    base::sync_folder_of(request_.database);
    return std::move(restored_);
  }

 private:
  // The daemon's user must be able to take it later.
  db::LockFile take_lock() const {
    const std::string path = request_.database + ".lock";
    const bool is_new = !fs::exists(path);
    db::LockFile lock(path);
    if (is_new) give(path, {rights_.uid, rights_.gid, 0640});
    return lock;
  }

  void check_is_other_file() const {
    std::error_code ignored;  // without a database it is another file
    if (fs::equivalent(request_.copy, request_.database, ignored)) {
      throw RestoreRefused("'" + request_.copy + "' is the database itself; name a copy of it");
    }
  }

  static db::Verification whole(const std::string& path) {
    db::Verification found = db::verify_database(path);
    if (found.problems.empty()) return found;
    const std::string first = found.problems.front().says;
    throw CopyRefused(
        "'" + path + "' cannot be restored: " + first + "; nothing was changed, name another copy",
        std::move(found));
  }

  void check_jobs() const {
    if (request_.without_jobs) return;
    const std::string mark = request_.jobs + "/" + kOwnerFile;
    const auto owner = base::read_file(mark);
    if (!owner) {
      throw RestoreRefused(
          "the folder of jobs '" + request_.jobs +
          "' is away, and only it shows which searches were submitted after the copy: mount it, "
          "name it by 'jobs' in the configuration, or give --without-jobs if it is gone for good; "
          "nothing was changed");
    }
    if (base::trimmed(*owner) == restored_.copy.instance) return;
    throw RestoreRefused("the folder of jobs '" + request_.jobs + "' belongs to the database " +
                         base::trimmed(*owner) + ", and '" + request_.copy + "' is a copy of " +
                         restored_.copy.instance + "; nothing was changed, name another copy");
  }

  // 0 where there is none, or where it cannot be read.
  int64_t highest_item_of_present() {
    if (!fs::exists(request_.database)) return 0;
    try {
      db::Connection present(request_.database);
      return db::highest_item(present);
    } catch (const db::DatabaseError& error) {
      restored_.kept_problem = error.what();
      return 0;
    }
  }

  void add_what_it_does_not_know(const std::string& path) {
    int64_t highest = highest_item_of_present();
    db::Connection connection(path);
    UnknownAttempts unknown;
    if (!request_.without_jobs) {
      unknown = find_unknown_attempts(request_.jobs, db::newest_attempts(connection));
    }
    highest = std::max(highest, unknown.highest_item);
    db::add_found_attempts(connection, unknown.found, highest, now_);
    for (const db::FoundAttempt& found : unknown.found) {
      std::vector<int64_t>& items = restored_.looked_up;
      if (items.empty() || items.back() != found.item_id) items.push_back(found.item_id);
    }
    restored_.unknown_items = std::move(unknown.items);
  }

  // By a second name, so that there is a database at every instant. SQLite would read the
  // write-ahead log of the one as the other's: it is folded in, or kept with its own where the
  // database is so damaged that this fails.
  void keep_present() {
    const std::string& database = request_.database;
    const std::string kept = name_to_keep(database, now_);
    if (fs::exists(database)) {
      fold_log();
      fs::create_hard_link(database, kept);
      restored_.kept = kept;
    }
    if (fs::exists(database + "-wal")) fs::rename(database + "-wal", kept + "-wal");
    fs::remove(database + "-shm");
  }

  void fold_log() {
    try {
      db::Connection present(request_.database);
      db::Statement checkpoint(present, "PRAGMA wal_checkpoint(TRUNCATE)");
      constexpr int kBusy = 0;  // the column
      if (checkpoint.step() && checkpoint.integer(kBusy) != 0) {
        throw RestoreRefused("'" + request_.database +
                             "' is being read by another process, such as a backup; try again "
                             "when that has ended; nothing was changed");
      }
    } catch (const db::DatabaseError& error) {
      restored_.kept_problem = error.what();
    }
  }

  const RestoreRequest& request_;
  const int64_t now_;
  const Rights rights_;
  Restored restored_;
};

}  // namespace

Restored restore_database(const RestoreRequest& request, int64_t now) {
  return Restorer(request, now).restore();
}

}  // namespace scheduler
