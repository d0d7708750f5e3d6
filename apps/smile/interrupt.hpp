/// Ctrl-C, for every command that works long.
#pragma once

#include <atomic>

namespace smile::program {

/// From now on SIGINT and SIGTERM set the flag that is returned; a second one ends the program at once.
const std::atomic<bool>* stop_on_interrupt();

/// The same for one more signal. @pre stop_on_interrupt() has been called
void stop_on_signal(int signal);

}  // namespace smile::program
