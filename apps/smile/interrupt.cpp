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
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
  return &interrupted;
}

void stop_on_signal(int signal) {
  std::signal(signal, note_interrupt);
}

}  // namespace smile::program
