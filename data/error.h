#pragma once

#include <stdexcept>
#include <string>

namespace slipstream {

/// A sentence for a person: it names the file or option concerned and says what to do. Exit code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line or a configuration file is wrong; nothing was started. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace slipstream
