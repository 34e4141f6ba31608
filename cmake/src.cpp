// SPDX-License-Identifier: MIT
// The one translation unit of the comcp::src library.
#include <comcp/src.hpp>
