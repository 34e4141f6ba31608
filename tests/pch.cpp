// SPDX-License-Identifier: MIT
// CMake makes a precompiled header only for a target that has a source which uses it.
