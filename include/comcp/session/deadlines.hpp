// SPDX-License-Identifier: MIT
//
// The deadlines of a session: those of detail/deadlines.hpp, which connections use too.
#pragma once

#include <comcp/detail/deadlines.hpp>
