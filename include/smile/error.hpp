// SPDX-License-Identifier: Apache-2.0
/// Errors with a place, a cause and a mend. Numerical trouble inside a chain is never one of these: it is an
/// event of the sampler (spec 1.8). The command line alone turns an Error into a line of text and an exit
/// status.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace smile {

/// Wrong usage, configuration or input (`usage`, exit status 2), or a run that failed (`run`, exit status 1).
enum class ErrorKind { usage, run };

class Error : public std::runtime_error {
 public:
  /// @param where  the place: "file:line:column", "config.yaml:12: sampler.step_size", a path, an option
  /// @param what   what is wrong, with the offending value
  /// @param mend   what the reader can do about it; never empty
  Error(std::string where, std::string what, std::string mend, ErrorKind kind = ErrorKind::usage)
      : std::runtime_error(where + ": " + what + "; " + mend),
        where_(std::move(where)),
        cause_(std::move(what)),
        mend_(std::move(mend)),
        kind_(kind) {}

  const std::string& where() const noexcept { return where_; }
  const std::string& cause() const noexcept { return cause_; }
  const std::string& mend() const noexcept { return mend_; }
  ErrorKind kind() const noexcept { return kind_; }
  /// Exit status of the command line: 2 for usage, 1 for a failed run.
  int exit_status() const noexcept { return kind_ == ErrorKind::usage ? 2 : 1; }

 private:
  std::string where_, cause_, mend_;
  ErrorKind kind_;
};

}  // namespace smile
