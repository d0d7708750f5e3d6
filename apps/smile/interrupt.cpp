// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <csignal>

namespace smile::program {
namespace {

std::atomic<bool> interrupted{false};

extern "C" void note_interrupt(int signal) {
  interrupted.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>* stop_on_interrupt() {
  stop_on_signal(SIGINT);
  stop_on_signal(SIGTERM);
  // The terminal is gone, or the connection to it. `nohup` ignores the signal beforehand: that stays.
  struct sigaction now {};
  if (::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) stop_on_signal(SIGHUP);
  return &interrupted;
}

void stop_on_signal(int signal) {
  std::signal(signal, note_interrupt);
}

}  // namespace smile::program
