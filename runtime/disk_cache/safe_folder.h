// open_safe_folder: opens a folder that nobody but this user and root can put files into, and says why not where others can. Code is run from the
// folder, so whoever can write to it, or can put another folder in its place, could run code in this process.
//
// The path is walked from the root, one name at a time, each relative to the open folder before it. Every folder on the way must belong to the user
// or to root, and must not be writable by group or others, unless it is sticky as /tmp is, where nobody can replace what belongs to somebody else.
// A symbolic link on the way must belong to the user or to root too; its target is walked in the same way. Access lists (ACLs) need no look: they
// show in the group's bits. Tested by tests/unit/runtime/disk_cache/safe_folder_test.cc.
#pragma once

#include <string>

#include "runtime/disk_cache/folder_calls.h"
#include "strew/status.h"

namespace strew::inline v0 {

enum class FolderUse {
  read,   ///< a folder that is not there is an empty OpenFile
  write,  ///< folders that are missing are made, with access for the user only
};

/// `path` must be absolute. Code::io: the system refused. Code::invalid_argument: others can write there.
Expected<OpenFile> open_safe_folder(FolderCalls& calls, const std::string& path, FolderUse use);

/// Ok if nobody but the user and root can change what has this owner and these permissions. `name` begins the message.
Status check_unshared(FolderCalls& calls, const struct stat& info, const std::string& name);

}  // namespace strew::inline v0
