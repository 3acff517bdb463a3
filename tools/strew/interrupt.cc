// See interrupt.h. The handler sets a flag, and puts the handlers of handle_signals() back.
#include "tools/strew/interrupt.h"

#include <array>
#include <csignal>

namespace strew::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};
volatile std::sig_atomic_t interrupted = 0;
std::array<struct sigaction, kSignals.size()> before;

void note_interrupt(int) {
  interrupted = 1;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

}  // namespace

void stop_at_interrupt() {
  struct sigaction handler = {};
  handler.sa_handler = note_interrupt;
  handler.sa_flags = SA_ONSTACK | SA_RESTART;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &handler, &before[i]);
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace strew::cli
