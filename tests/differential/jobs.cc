// See jobs.h. The jobs are processes and not threads, so that a fault in one does not end the others, and because the
// fault handler and the guarded buffers are per process. Tested by ./dev test, which runs the differential test in as
// many jobs as there are cores.
#include "tests/differential/jobs.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace strew::test {
namespace {

struct Child {
  pid_t pid = -1;
  int pipe = -1;
  std::string report;
};

Child start(int job, const std::function<bool(int, std::string&)>& body) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    std::string report;
    const bool good = body(job, report);
    std::fflush(stdout);
    for (size_t sent = 0; sent < report.size();) {
      const ssize_t n = write(ends[1], report.data() + sent, report.size() - sent);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    _exit(good ? 0 : 1);
  }
  close(ends[1]);
  return {pid, ends[0], {}};
}

/// Waits for the child. Prints a message if a signal ended it, because the child could not.
bool succeeded(int job, pid_t pid) {
  int status = 0;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return false;
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
    std::printf("FAIL job %d was ended by signal %d (%s)\n", job, WTERMSIG(status), strsignal(WTERMSIG(status)));
  else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    std::printf("job %d ended with status %d\n", job, WEXITSTATUS(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool run_in_jobs(int jobs, const std::function<bool(int, std::string&)>& body, std::vector<std::string>& reports) {
  std::vector<Child> children;
  for (int job = 0; job < jobs; ++job) children.push_back(start(job, body));
  bool good = true;
  size_t open = children.size();
  while (open > 0) {
    std::vector<pollfd> polls;
    for (const Child& child : children) polls.push_back({child.pipe, POLLIN, 0});  // a closed pipe is -1 and ignored
    poll(polls.data(), polls.size(), -1);
    for (size_t i = 0; i < children.size(); ++i) {
      if ((polls[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      char buffer[4096];
      const ssize_t n = read(children[i].pipe, buffer, sizeof buffer);
      if (n > 0) {
        children[i].report.append(buffer, static_cast<size_t>(n));
        continue;
      }
      close(children[i].pipe);
      children[i].pipe = -1;
      --open;
      if (succeeded(static_cast<int>(i), children[i].pid) || !good) continue;
      good = false;
      for (const Child& other : children)
        if (other.pipe >= 0) kill(other.pid, SIGTERM);
    }
  }
  for (Child& child : children) reports.push_back(std::move(child.report));
  return good;
}

}  // namespace strew::test
