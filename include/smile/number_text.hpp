// SPDX-License-Identifier: Apache-2.0
/// One way of writing numbers for people, in tables, verdicts and messages.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace smile {

/// "-" of NaN; "1.235e+07" from a million on and below 1e-4; no decimals from a thousand on.
inline std::string number_text(double value, int decimals = 3) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  const bool scientific = size != 0 && (size >= 1e6 || size < 1e-4);
  char text[64];
  std::snprintf(text, sizeof text, scientific ? "%.*e" : "%.*f",
                scientific     ? 3
                : size >= 1000 ? 0
                               : decimals,
                value);
  return text;
}

}  // namespace smile
