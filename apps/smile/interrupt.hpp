// SPDX-License-Identifier: Apache-2.0
/// Ctrl-C and its like, for every command that works long.
#pragma once

#include <atomic>

namespace smile::program {

/// From now on SIGINT, SIGTERM and SIGHUP set the flag that is returned; a second one ends the program at
/// once. A SIGHUP that was ignored when the program started (nohup) stays ignored.
const std::atomic<bool>* stop_on_interrupt();

/// The same for one more signal. @pre stop_on_interrupt() has been called
void stop_on_signal(int signal);

}  // namespace smile::program
