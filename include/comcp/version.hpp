// SPDX-License-Identifier: MIT
//
// The version of the library, as numbers and as text. Not the protocol's revisions: those are in protocol/revision.hpp.
#pragma once

#define COMCP_VERSION_MAJOR 0
#define COMCP_VERSION_MINOR 1
#define COMCP_VERSION_PATCH 0

#define COMCP_VERSION "0.1.0"
