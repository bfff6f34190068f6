#pragma once

#include <string>

#include "data/error.h"

namespace slipstream::test {

/// The sentence with which `action` was refused; says so if it wasn't.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace slipstream::test
